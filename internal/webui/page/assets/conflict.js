// Two sides of one persona: what the registry holds now, and what is staged
// here. The person decides; nothing is written before.

import { h } from './dom.js';
import { dialog } from './dialog.js';
import { rebase, EDITABLE, LABELS } from './edits.js';
import { diffView, fieldText } from './diffview.js';

/**
 * @param {Map<string, any>} base what both sides began with
 * @param {Map<string, any>} draft mine
 * @param {Map<string, any>} now theirs
 * @returns {Promise<'mine'|'theirs'|undefined>}
 */
export function resolveConflict(base, draft, now) {
  const r = rebase(base, draft, now);
  const fields = EDITABLE.filter((f) => r.mine.includes(f) || r.theirs.includes(f));
  return dialog({ title: 'Changed in the meantime', wide: true, kind: 'conflict' }, (close) => [
    h('p', { text: 'Somebody else wrote this persona after you opened it. Nothing of theirs is overwritten before you choose.' }),
    h('div', { class: 'sides' }, ...fields.map((f) => h('section', { class: 'side-field', 'aria-label': LABELS[f], data: { field: f } },
      h('h3', {}, LABELS[f], ' ', h('span', { class: r.both.includes(f) ? 'badge warn' : 'badge', text: who(r, f) })),
      diffView(fieldText(now, f), fieldText(r.draft, f), { left: 'In the registry now', right: 'With yours on top', label: `${LABELS[f]}: theirs and yours` })))),
    h('footer', {},
      h('button', { type: 'button', class: 'button quiet', text: 'Decide later', on: { click: () => close() } }),
      h('button', { type: 'button', class: 'button', text: 'Take theirs', on: { click: () => close('theirs') } }),
      h('button', { type: 'button', class: 'button primary', 'data-first': true, text: 'Keep mine on top', on: { click: () => close('mine') } })),
  ]);
}

function who(r, field) {
  if (r.both.includes(field)) return 'changed by both';
  if (r.mine.includes(field) && r.theirs.includes(field)) return 'changed alike by both';
  return r.mine.includes(field) ? 'changed by you' : 'changed by them';
}
