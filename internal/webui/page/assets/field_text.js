// The text fields: a description, a model's label, and prompts, which are shown
// as inert text until somebody asks to edit them.

import { h, copy, replace } from './dom.js';
import { section, growing } from './section.js';
import { toast } from './toast.js';

/** A short text that is always editable. */
export function line(field, draft, changed, { rows = false, mono = false, hint } = {}) {
  const sec = section(field, { hint });
  const on = { input: () => { draft.set(field, input.value); changed(); } };
  const input = rows
    ? growing({ 'aria-labelledby': sec.labelId, value: draft.get(field) ?? '', on })
    : h('input', { type: 'text', class: mono ? 'mono' : null, 'aria-labelledby': sec.labelId, value: draft.get(field) ?? '', spellcheck: 'false', autocomplete: 'off', on });
  sec.body.append(input);
  return sec;
}

/**
 * A prompt: view, edit, copy. The optional one is folded, and can be added and
 * taken away.
 * @param {'prompt'|'compaction_prompt'} field
 */
export function prompt(field, draft, changed, { optional = false } = {}) {
  const sec = section(field, { hint: optional ? 'Used when a long talk is summed up' : undefined });
  let editing = false;
  let unfolded = false;

  function view() {
    const text = draft.get(field);
    const tools = h('div', { class: 'tools' },
      h('span', { class: 'muted count', text: size(text) }), h('span', { class: 'grow' }),
      h('button', { type: 'button', class: 'button quiet small', text: 'Copy', 'aria-label': `Copy the ${sec.el.dataset.field.replace('_', ' ')}`, on: { click: () => copy(text, toast) } }),
      h('button', { type: 'button', class: 'button small edit', text: 'Edit', 'aria-label': `Edit the ${sec.el.dataset.field.replace('_', ' ')}`, on: { click: () => show(true) } }),
      optional && h('button', { type: 'button', class: 'button quiet small', text: 'Remove', 'aria-label': 'Remove the compaction prompt', on: { click: () => { draft.delete(field); changed(); show(false); } } }));
    return [tools, h('pre', { class: 'prompt', tabIndex: 0, role: 'group', 'aria-labelledby': sec.labelId, text })];
  }

  function edit() {
    const input = growing({ class: 'mono prompt-edit', 'aria-labelledby': sec.labelId, value: draft.get(field), spellcheck: 'false',
      on: { input: () => { draft.set(field, input.value); count.textContent = size(input.value); changed(); } } });
    const count = h('span', { class: 'muted count', text: size(input.value) });
    return [h('div', { class: 'tools' }, count, h('span', { class: 'grow' }),
      h('button', { type: 'button', class: 'button small', text: 'Done', on: { click: () => { show(false); sec.body.querySelector('.edit')?.focus(); } } })), input];
  }

  function show(now) {
    editing = now;
    if (!draft.has(field)) {
      return replace(sec.body, h('button', { type: 'button', class: 'button small', text: 'Add a compaction prompt', on: { click: () => { draft.set(field, ''); unfolded = true; changed(); show(true); } } }));
    }
    const inner = editing ? edit() : view();
    if (!optional) { replace(sec.body, ...inner); return begin(); }
    const fold = h('details', { class: 'fold', open: unfolded || editing, on: { toggle: () => { unfolded = fold.open; } } },
      h('summary', { text: draft.get(field) ? firstLine(draft.get(field)) : 'empty' }), ...inner);
    replace(sec.body, fold);
    begin();
  }

  const begin = () => sec.body.querySelector('.prompt-edit')?.focus({ preventScroll: true });
  show(false);
  return sec;
}

const firstLine = (text) => text.trim().split('\n', 1)[0].slice(0, 80);

function size(text) {
  const lines = text.split('\n').length - (text === '' || text.endsWith('\n') ? 1 : 0);
  const chars = [...text].length;
  return `${lines.toLocaleString('en')} line${lines === 1 ? '' : 's'}, ${chars.toLocaleString('en')} characters`;
}
