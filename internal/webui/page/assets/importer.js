// Import: paste a text or drop a file, see at once whether it holds a persona
// and where it does not, then register it.

import * as api from './api.js';
import { h, replace, uid } from './dom.js';
import { dialog, nameComplaint } from './dialog.js';
import { toast } from './toast.js';
import { go, personaHref } from './route.js';

const PAUSE = 200; // ms without typing before the text is checked
const BIGGEST = 8 << 20; // bytes; the server tells its own bound, this one keeps a film out of the page
const FORMATS = [['auto', 'Detect the format'], ['json', 'JSON'], ['cue', 'CUE'], ['yaml', 'YAML'], ['toml', 'TOML'], ['markdown', 'Markdown']];

/** @param {{known: () => string[], file?: File}} options a file that was dropped on the page */
export function openImport({ known, file } = {}) {
  return dialog({ title: 'Import a persona', wide: true, kind: 'import' }, (close) => {
    let name = '';
    let timer, running;
    const gutter = h('div', { class: 'gutter', 'aria-hidden': 'true' });
    const field = h('textarea', { class: 'mono', id: uid('import'), wrap: 'off', spellcheck: 'false', 'data-first': true,
      placeholder: '{\n  "id": "reviewer",\n  "description": "Reads changes and says what may break.",\n  \u2026',
      on: { input: soon, scroll: () => { gutter.scrollTop = field.scrollTop; } } });
    const format = h('select', { id: uid('format'), on: { change: check } },
      ...FORMATS.map(([value, text]) => h('option', { value, text })));
    const variant = h('input', { type: 'text', id: uid('variant'), class: 'mono small', placeholder: 'default', autocomplete: 'off', spellcheck: 'false', on: { input: ready } });
    const picker = h('input', { type: 'file', class: 'away', 'aria-label': 'A persona file', tabIndex: -1, accept: '.json,.cue,.yaml,.yml,.toml,.md,.markdown', on: { change: () => take(picker.files[0]) } });
    const variantBox = h('div', { class: 'as-variant' }, h('label', { htmlFor: variant.id, class: 'muted', text: 'As variant' }), variant);
    const update = h('input', { type: 'checkbox', id: uid('update') });
    const updateBox = h('div', { class: 'as-variant', hidden: true }, update, h('label', { htmlFor: update.id, text: 'Update what is registered' }));
    const verdict = h('div', { class: 'verdict', role: 'status' });
    const register = h('button', { type: 'button', class: 'button primary', text: 'Register', disabled: true, on: { click: store } });
    let good = null; // the report of the text as it stands, when valid

    const body = h('div', { class: 'import-body' },
      h('div', { class: 'import-tools' },
        h('button', { type: 'button', class: 'button small', text: 'Choose a file', on: { click: () => picker.click() } }), picker,
        h('span', { class: 'muted', text: 'or drop one here, or paste below' }), h('span', { class: 'grow' }),
        h('label', { htmlFor: format.id, class: 'muted', text: 'Format' }), format),
      h('label', { class: 'away', htmlFor: field.id, text: 'The persona as text' }),
      h('div', { class: 'editor' }, gutter, field), verdict);

    function lines(marked = new Set()) {
      const n = field.value.split('\n').length;
      replace(gutter, ...Array.from({ length: Math.min(n, 5000) }, (_, i) => h('span', { class: marked.has(i + 1) ? 'bad' : null, text: i + 1 })));
      gutter.scrollTop = field.scrollTop;
    }

    function soon() {
      good = null;
      ready();
      lines();
      clearTimeout(timer);
      timer = setTimeout(check, PAUSE);
    }

    const request = () => ({ text: field.value, format: format.value, name: name || undefined });

    async function check() {
      clearTimeout(timer);
      running?.abort();
      running = new AbortController();
      const text = field.value;
      if (!text.trim()) { replace(verdict); good = null; return ready(); }
      try {
        const report = await api.importCheck(request(), running.signal);
        if (text === field.value) show(report);
      } catch (err) {
        if (err.name !== 'AbortError') refuse(err.details?.problems ?? [{ message: err.message }]);
      }
    }

    function show(report) {
      good = report.valid ? report : null;
      const sources = report.personas.some((p) => p.kind === 'source');
      variantBox.hidden = sources;
      updateBox.hidden = !sources || !report.personas.some((p) => p.exists);
      const problems = report.personas.flatMap((p) => p.problems);
      mark(problems);
      replace(verdict,
        problems.length > 0 && h('p', { class: 'bad', text: count(problems.length, 'problem') }),
        problems.length === 0 && !report.valid && h('p', { class: 'bad', text: 'There is no persona in this text.' }),
        ...report.personas.map(persona));
      ready();
    }

    function persona(p) {
      const n = Object.keys(p.specs ?? {}).length;
      const what = !p.exists ? 'new' : p.kind === 'source' ? 'registered already' : 'registered already: this becomes one of its variants';
      return h('section', { class: 'found', 'aria-label': p.id || 'A persona' },
        p.valid && h('p', { class: 'good' }, 'Valid: ', h('strong', { text: p.id }), h('span', { class: 'muted', text: ` ${n > 1 ? `with ${count(n, 'variant')}, ` : ''}${what}` })),
        h('ul', { class: 'issues' }, ...p.problems.map((e) => issue(e, 'bad')), ...p.notices.map((e) => issue(e, 'warn')),
          ...(p.report?.warnings ?? []).map((message) => issue({ message }, 'warn'))));
    }

    /** Say why the text cannot be taken. */
    function refuse(problems) {
      good = null;
      mark(problems);
      replace(verdict, h('p', { class: 'bad', text: count(problems.length, 'problem') }), h('ul', { class: 'issues' }, ...problems.map((e) => issue(e, 'bad'))));
      ready();
    }

    const mark = (problems) => lines(new Set(problems.map((e) => e.line).filter(Boolean)));

    function issue(e, kind) {
      const message = h('span', {}, e.path && h('code', { text: e.path }), e.path && ' ', e.message, e.hint && h('span', { class: 'muted', text: ` (${e.hint})` }));
      const note = kind === 'warn' && h('span', { class: 'badge warn', text: 'warning' });
      if (!e.line) return h('li', { class: kind }, note, message);
      const column = e.col || 1;
      return h('li', { class: kind }, h('button', { type: 'button', class: 'link place digits', text: `${e.line}:${column}`, 'aria-label': `Go to line ${e.line}, column ${column}: ${e.path ?? ''} ${e.message}`, on: { click: () => jump(e.line, column) } }), note, message);
    }

    function jump(line, column) {
      const all = field.value.split('\n');
      const start = all.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
      const at = start + [...(all[line - 1] ?? '')].slice(0, column - 1).join('').length;
      field.focus();
      field.setSelectionRange(at, Math.min(at + 1, start + (all[line - 1] ?? '').length));
      const height = parseFloat(getComputedStyle(field).lineHeight);
      field.scrollTop = Math.max(0, (line - 1) * height - field.clientHeight / 2);
    }

    function ready() {
      register.disabled = !good || (!variantBox.hidden && variant.value !== '' && nameComplaint(variant.value, 64) !== '');
    }

    async function store() {
      register.disabled = true;
      try {
        const { personas } = await api.importRegister({ ...request(), variant: variantBox.hidden ? undefined : variant.value || undefined, update: update.checked || undefined });
        const failures = personas.filter((p) => p.error);
        const done = personas.filter((p) => !p.error);
        if (done.length) toast(done.length === 1 ? `${done[0].id} ${done[0].change}` : `${count(done.length, 'persona')} registered`);
        if (failures.length) return refuse(failures.map((p) => ({ message: `${p.id}: ${why(p)}` })));
        close(personas[0].id);
        go(personaHref(personas[0].id, variantBox.hidden ? undefined : variant.value || (good?.personas[0].exists ? 'default' : undefined)));
      } catch (err) {
        refuse(err.details?.problems?.length ? err.details.problems : [{ message: err.message, hint: err.hint }]);
      }
      return undefined;
    }

    async function take(f) {
      if (!f) return;
      if (f.size > BIGGEST) return refuse([{ message: `${f.name} is longer than 8 MiB` }]);
      field.value = await f.text();
      name = f.name;
      format.value = 'auto'; // by the file's name
      lines();
      check();
    }

    body.addEventListener('dragover', (e) => { e.preventDefault(); body.classList.add('over'); });
    body.addEventListener('dragleave', () => body.classList.remove('over'));
    body.addEventListener('drop', (e) => { e.preventDefault(); e.stopPropagation(); body.classList.remove('over'); take(e.dataTransfer.files[0]); });
    lines();
    if (file) take(file);
    return [body, h('footer', {}, variantBox, updateBox, h('span', { class: 'grow' }),
      h('button', { type: 'button', class: 'button', text: 'Cancel', on: { click: () => close() } }), register)];
  });
}

const count = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

/** Why one persona of a text was not stored. */
function why({ error, diffs }) {
  if (error.code === 'BASE_CONTRACT_MISMATCH') {
    const fields = [error.details?.mismatched_fields ?? []].flat().join(', ');
    return `one of that id is registered with another contract${fields && ` (${fields})`}. Change the contract there, or give this one another id.`;
  }
  return diffs?.length ? `${error.message} (${diffs.map((d) => d.field).join(', ')})` : error.message;
}
