// Import: paste a text or drop a file, see at once whether it holds a persona
// and where it does not, then register it.

import * as api from './api.js';
import { h, replace, uid } from './dom.js';
import { dialog, nameComplaint } from './dialog.js';
import { toast } from './toast.js';
import { go, personaHref } from './route.js';

const PAUSE = 200; // ms without typing before the text is checked
const BIGGEST = 1 << 20; // bytes: no persona is longer, and the server takes no more
const FORMATS = [['', 'Recognise'], ['persona.json', 'JSON'], ['persona.cue', 'CUE'], ['persona.yaml', 'YAML'], ['persona.toml', 'TOML'], ['persona.md', 'Markdown']];

/** @param {{known: () => string[], file?: File}} options a file that was dropped on the page */
export function openImport({ known, file } = {}) {
  return dialog({ title: 'Import a persona', wide: true, kind: 'import' }, (close) => {
    let name = '';
    let timer, running;
    const gutter = h('div', { class: 'gutter', 'aria-hidden': 'true' });
    const field = h('textarea', { class: 'mono', id: uid('import'), wrap: 'off', spellcheck: 'false', 'data-first': true,
      placeholder: '{\n  "id": "reviewer",\n  "description": "Reads changes and says what may break.",\n  \u2026',
      on: { input: () => { name = format.value; soon(); }, scroll: () => { gutter.scrollTop = field.scrollTop; } } });
    const format = h('select', { id: uid('format'), on: { change: () => { name = format.value; check(); } } },
      ...FORMATS.map(([value, text]) => h('option', { value, text })));
    const variant = h('input', { type: 'text', id: uid('variant'), class: 'mono small', placeholder: 'default', autocomplete: 'off', spellcheck: 'false', on: { input: ready } });
    const picker = h('input', { type: 'file', class: 'away', 'aria-label': 'A persona file', tabIndex: -1, accept: '.json,.cue,.yaml,.yml,.toml,.md,.markdown', on: { change: () => take(picker.files[0]) } });
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

    async function check() {
      running?.abort();
      running = new AbortController();
      const text = field.value;
      if (!text.trim()) { replace(verdict); good = null; return ready(); }
      try {
        const report = await api.importCheck(name, text, running.signal);
        if (text !== field.value) return;
        show(report);
      } catch (err) {
        if (err.name === 'AbortError') return;
        show({ valid: false, errors: [{ message: err.message, line: err.details?.line, column: err.details?.column }], warnings: [] });
      }
    }

    function show(report) {
      good = report.valid ? report : null;
      const errors = report.errors ?? [];
      const warnings = (report.warnings ?? []).map((w) => (typeof w === 'string' ? { message: w } : w));
      lines(new Set(errors.map((e) => e.line).filter(Boolean)));
      const id = report.spec?.id;
      replace(verdict,
        h('p', { class: report.valid ? 'good' : 'bad' }, report.valid
          ? `Valid: ${id}${id && known().includes(id) ? ', which is registered already: this becomes one of its variants' : ''}`
          : `${errors.length} problem${errors.length === 1 ? '' : 's'}`),
        h('ul', { class: 'issues' }, ...errors.map((e) => issue(e, 'bad')), ...warnings.map((w) => issue(w, 'warn'))));
      ready();
    }

    function issue(e, kind) {
      const message = h('span', { text: e.message });
      const note = kind === 'warn' && h('span', { class: 'badge warn', text: 'warning' });
      if (!e.line) return h('li', { class: kind }, note, message);
      const place = `${e.line}:${e.column ?? 1}`;
      return h('li', { class: kind }, h('button', { type: 'button', class: 'link place digits', text: place, 'aria-label': `Go to line ${e.line}, column ${e.column ?? 1}: ${e.message}`, on: { click: () => jump(e.line, e.column ?? 1) } }), note, message);
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
      register.disabled = !good || (variant.value !== '' && nameComplaint(variant.value, 64) !== '');
    }

    async function store() {
      register.disabled = true;
      try {
        const { id } = await api.importRegister(name, field.value, variant.value);
        toast(`${id} registered`);
        close(id);
        go(personaHref(id, variant.value || (known().includes(id) ? 'default' : undefined)));
      } catch (err) {
        const why = err.details?.mismatched_fields ? `: ${[err.details.mismatched_fields].flat().join(', ')}` : '';
        show({ valid: false, errors: [{ message: err.code === 'BASE_CONTRACT_MISMATCH' ? `A persona of that id exists with another contract${why}. Change its contract there, or give this one another id.` : err.message }], warnings: [] });
      }
    }

    async function take(f) {
      if (!f) return;
      if (f.size > BIGGEST) return show({ valid: false, errors: [{ message: `${f.name} is longer than 1 MiB` }] });
      field.value = await f.text();
      name = f.name;
      const known = FORMATS.find(([n]) => n && n.split('.')[1] === f.name.split('.').pop().toLowerCase().replace(/^yml$/, 'yaml').replace(/^markdown$/, 'md'));
      format.value = known?.[0] ?? '';
      lines();
      check();
    }

    body.addEventListener('dragover', (e) => { e.preventDefault(); body.classList.add('over'); });
    body.addEventListener('dragleave', () => body.classList.remove('over'));
    body.addEventListener('drop', (e) => { e.preventDefault(); e.stopPropagation(); body.classList.remove('over'); take(e.dataTransfer.files[0]); });
    lines();
    if (file) take(file);
    return [body, h('footer', {}, h('label', { htmlFor: variant.id, class: 'muted', text: 'As variant' }), variant, h('span', { class: 'grow' }),
      h('button', { type: 'button', class: 'button', text: 'Cancel', on: { click: () => close() } }), register)];
  });
}
