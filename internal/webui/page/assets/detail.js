// The detail of one persona: everything is editable in place, changes are
// staged, and a bar at the foot saves or discards them.

import { h, replace, copy } from './dom.js';
import { clone as copyOf, stringify } from './lexical.js';
import { changes, rebase, shortDigest, EDITABLE } from './edits.js';
import { capabilities } from './field_capabilities.js';
import { spawn } from './field_spawn.js';
import { params } from './field_params.js';
import { line, prompt } from './field_text.js';
import { load, save, bare, sameHeld } from './saving.js';
import { resolveConflict } from './conflict.js';
import { variantBar, clone, removePersona, backLink } from './variants.js';
import { saveBar } from './savebar.js';
import { errorView, loadingView } from './states.js';
import { toast, failed } from './toast.js';
import { graphHref } from './route.js';
import { put } from './api.js';

// ms after a persona was registered anew: what another process deletes before the
// registry was looked at again is told by nobody.
const LATER = 1000;

/**
 * @typedef {{id: string, variant: string, meta: {active: string, variants: string[]}, base: Map<string, any>, activeDigest: string}} Held
 * base is the spec as it was read; its spec_digest goes with each write.
 */

/**
 * @param {HTMLElement} main
 * @param {{known: () => string[], gone: () => void}} outside known: the ids of the registry; gone: the persona was deleted here
 */
export function makeDetail(main, outside) {
  /** @type {Held|null} */
  let held = null;
  let wanted = null; // {id, variant} of the last open
  let draft = new Map();
  let asJSON = false;
  let busy = false;
  let loading = false;
  let missed = false; // a change came while a save or a load was under way
  let turn = 0; // an answer of an older turn is dropped
  let sections = {};
  let bar, banner, digestBox;

  const dirty = () => held !== null && changes(held.base, draft).length > 0;

  async function open(id, variant, { focus = false } = {}) {
    const mine = ++turn;
    wanted = { id, variant };
    loading = true;
    if (held?.id !== id) { held = null; asJSON = false; replace(main, loadingView()); }
    try {
      const next = await load(id, variant);
      if (mine !== turn) return;
      show(next);
      if (focus) main.querySelector('h1')?.focus();
    } catch (err) {
      if (mine !== turn) return;
      held = null;
      replace(main, backLink(), errorView(err, { again: () => open(id, variant), id, variant }));
    } finally {
      if (mine === turn) {
        loading = false;
        if (missed) { missed = false; refresh(); }
      }
    }
  }

  function show(next) {
    const scroll = held?.id === next.id && held?.variant === next.variant ? main.scrollTop : 0;
    held = next;
    draft = copyOf(held.base);
    render();
    main.scrollTop = scroll;
  }

  function changed() {
    const names = changes(held.base, draft);
    for (const [f, sec] of Object.entries(sections)) { sec.mark(names.includes(f)); if (names.includes(f)) sec.complain(''); }
    bar.update(names, held);
    digestBox.classList.toggle('stale', names.length > 0);
  }

  function render() {
    const { id, base, meta, variant } = held;
    document.title = `${id} · larva`;
    const digest = base.get('spec_digest');
    const jsonButton = h('button', { type: 'button', class: 'button quiet small', id: 'json', 'aria-pressed': String(asJSON), text: 'JSON', on: { click: () => { asJSON = !asJSON; render(); main.querySelector('#json').focus(); } } });
    digestBox = h('button', { type: 'button', class: 'digest', title: `${digest} (copy)`, 'aria-label': `Copy the digest ${digest}`, text: shortDigest(digest), on: { click: () => copy(digest, toast) } });
    banner = h('div', { class: 'banner', role: 'alert', hidden: true });
    bar = saveBar({ save: store, discard: () => show(held) });
    replace(main, backLink(), h('article', { class: 'detail', data: { id, variant } },
      h('header', { class: 'detail-head' },
        h('div', { class: 'title' }, h('h1', { tabIndex: -1, text: id }), digestBox),
        h('div', { class: 'head-actions' }, jsonButton,
          h('a', { class: 'button quiet small', href: graphHref(id), text: 'Calls' }),
          h('button', { type: 'button', class: 'button quiet small', id: 'clone', text: 'Clone', on: { click: () => clone(held, outside.known) } }),
          h('button', { type: 'button', class: 'button quiet small danger-text', id: 'delete', text: 'Delete', on: { click: async () => { if (await removePersona(held)) { held = null; outside.gone(); } } } })),
        variantBar(held, { spec: () => draft, reload: () => open(id, variant) })),
      banner,
      asJSON ? jsonView() : fields(),
      h('footer', { class: 'detail-foot' },
        h('span', {}, 'spec ', h('span', { class: 'digits', text: base.get('spec_version') })),
        h('span', { class: 'digits full-digest', text: digest }))), bar.el);
    if (!asJSON) changed();
    else bar.update(changes(held.base, draft), held);
  }

  function fields() {
    sections = {
      description: line('description', draft, changed, { rows: true, hint: 'Shared by all variants' }),
      model: line('model', draft, changed, { mono: true }),
      model_params: params(draft, changed),
      capabilities: capabilities(held.base, draft, changed),
      can_spawn: spawn(draft, changed, outside.known),
      prompt: prompt('prompt', draft, changed),
      compaction_prompt: prompt('compaction_prompt', draft, changed, { optional: true }),
    };
    return h('div', { class: 'sections' }, ...Object.values(sections).map((s) => s.el));
  }

  function jsonView() {
    sections = {};
    const spec = dirty() ? bare(draft) : held.base;
    const text = stringify(spec, 2);
    return h('section', { class: 'json', 'aria-label': 'JSON' },
      h('div', { class: 'tools' }, h('span', { class: 'muted', text: dirty() ? 'With what is staged; the digest is reckoned when it is saved.' : 'As it is stored.' }), h('span', { class: 'grow' }),
        h('button', { type: 'button', class: 'button small', text: 'Copy', 'aria-label': 'Copy the JSON', on: { click: () => copy(text, toast) } })),
      h('pre', { class: 'prompt', tabIndex: 0, role: 'group', 'aria-label': 'The persona as JSON', text }));
  }

  /** Save what is staged. @returns {Promise<boolean>} whether all is written */
  async function store() {
    if (busy || !dirty()) return !dirty();
    busy = true;
    const mine = turn;
    bar.busy(true);
    try {
      const result = await save(held, draft);
      if (mine !== turn) return true; // the person went elsewhere meanwhile, by choice
      if (result.invalid) { complain(result.invalid); return false; }
      if (result.gone) { tellGone(); return false; }
      if (result.conflict) return await settle(result.conflict, { thenSave: true });
      show(held);
      toast('Saved');
      return true;
    } catch (err) {
      if (mine !== turn) return false;
      changed();
      failed('Not saved', err);
      return false;
    } finally {
      busy = false;
      bar.busy(false);
      if (missed) { missed = false; refresh(); }
    }
  }

  function complain(issues) {
    const stray = [];
    let first = null;
    for (const issue of issues) {
      const field = EDITABLE.find((f) => issue.details?.field === f || String(issue.details?.field).startsWith(`${f}.`));
      const sec = sections[field];
      if (!sec) { stray.push(issue.message); continue; }
      sec.complain(issue.message);
      first ??= sec.el;
    }
    first?.scrollIntoView({ block: 'center' });
    first?.querySelector('input, textarea, button')?.focus({ preventScroll: true });
    toast(stray[0] ?? 'Not saved: see what is marked', { kind: 'error', detail: stray.slice(1).join(' · ') });
  }

  /** Let the person choose between two sides. @returns {Promise<boolean>} whether nothing is left to save */
  async function settle(now, { thenSave }) {
    const choice = await resolveConflict(held.base, draft, now.base);
    if (choice === 'theirs') { show(now); return true; }
    if (choice !== 'mine') { offerSides(now); return false; }
    const merged = rebase(held.base, draft, now.base).draft;
    held = now;
    draft = merged;
    render();
    if (!thenSave) return false;
    busy = false;
    return store();
  }

  function offerSides(now) {
    replace(banner, h('p', { text: 'The registry holds a newer version of this persona.' }),
      h('button', { type: 'button', class: 'button small', text: 'Show both', on: { click: () => settle(now, { thenSave: false }) } }));
    banner.hidden = false;
  }

  function tellGone() {
    replace(banner, h('p', { text: 'It was deleted by somebody else. What you see here exists nowhere else now.' }),
      h('button', { type: 'button', class: 'button small', text: 'Copy as JSON', on: { click: () => copy(stringify(bare(draft), 2), toast) } }),
      h('button', { type: 'button', class: 'button small', text: 'Register it anew', on: { click: async () => {
        try {
          await put(held.id, held.variant, bare(draft), '');
          await open(held.id, held.variant);
          toast('Registered anew');
          setTimeout(refresh, LATER);
        } catch (err) { failed('Not registered', err); }
      } } }));
    banner.hidden = false;
  }

  /** The registry may have changed: look, and show or tell of it. */
  async function refresh() {
    if (busy || loading) { missed = true; return; }
    if (!held) { if (wanted) await open(wanted.id, wanted.variant); return; }
    const mine = turn;
    const before = held;
    let now;
    try {
      now = await load(held.id, wanted.variant ?? held.variant);
    } catch (err) {
      if (mine !== turn || held !== before) return;
      const gone = err.code === 'PERSONA_NOT_FOUND' || err.code === 'VARIANT_NOT_FOUND';
      if (dirty() && gone) tellGone();
      else if (!dirty()) { held = null; replace(main, backLink(), errorView(err, { again: () => open(wanted.id, wanted.variant), ...wanted })); }
      return;
    }
    if (mine !== turn || held !== before || busy || sameHeld(held, now)) return;
    if (!dirty()) { show(now); return; }
    if (changes(held.base, now.base).length) { offerSides(now); return; }
    held = now; // variants came or went: the staged text stays
    render();
  }

  return {
    open, refresh, store,
    get dirty() { return dirty(); },
    /** The list of ids has changed: which of those it may call are missing. */
    listed() { sections.can_spawn?.redraw(); },
    discard() { if (held) draft = copyOf(held.base); },
    close() {
      turn++;
      held = null;
      wanted = null;
      loading = false;
      missed = false;
      sections = {};
    },
  };
}
