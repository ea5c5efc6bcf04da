// Two variants of one persona beside each other.

import * as api from './api.js';
import { h, replace, uid } from './dom.js';
import { IMPLEMENTATION, LABELS } from './edits.js';
import { equal } from './lexical.js';
import { diffView, fieldText } from './diffview.js';
import { go, personaHref, compareHref } from './route.js';
import { errorView, loadingView } from './states.js';
import { backLink } from './variants.js';

/** @param {HTMLElement} main */
export function makeCompare(main) {
  let turn = 0;
  let now = null;

  async function open(id, a, b, { focus = false, quiet = false } = {}) {
    const mine = ++turn;
    now = { id, a, b };
    if (!quiet) replace(main, loadingView());
    try {
      const meta = await api.variantList(id);
      const left = a ?? meta.active;
      const right = b ?? meta.variants.find((v) => v !== left) ?? left;
      const [x, y] = await Promise.all([api.variantSpec(id, left), api.variantSpec(id, right)]);
      if (mine !== turn) return;
      render(id, meta, left, right, x, y);
      if (focus) main.querySelector('h1')?.focus();
    } catch (err) {
      if (mine === turn) replace(main, backLink(), errorView(err, { again: () => open(id, a, b), id }));
    }
  }

  function render(id, meta, left, right, x, y) {
    document.title = `${id}: ${left} and ${right} · larva`;
    const pick = (label, value, to) => {
      const field = h('select', { id: uid('variant'), on: { change: () => go(to(field.value), { back: true }) } },
        ...meta.variants.map((v) => h('option', { value: v, selected: v === value, text: v })));
      return h('label', { htmlFor: field.id }, h('span', { class: 'muted', text: label }), field);
    };
    const called = (v) => (v === meta.active ? `${v} (active)` : v);
    const fields = IMPLEMENTATION.filter((f) => x.has(f) || y.has(f));
    const alike = (f) => x.has(f) === y.has(f) && equal(x.get(f), y.get(f));
    replace(main, backLink(), h('article', { class: 'compare' },
      h('header', { class: 'detail-head' },
        h('div', { class: 'title' }, h('h1', { tabIndex: -1 }, 'Variants of ', h('a', { href: personaHref(id), text: id }))),
        h('div', { class: 'picks' },
          pick('Left', left, (v) => compareHref(id, v, right)),
          h('button', { type: 'button', class: 'icon swap', 'aria-label': 'Swap the sides', text: '\u21c4', on: { click: () => go(compareHref(id, right, left), { back: true }) } }),
          pick('Right', right, (v) => compareHref(id, left, v)))),
      ...fields.map((f) => h('section', { class: 'side-field', 'aria-label': LABELS[f], data: { field: f } },
        h('h2', {}, LABELS[f], alike(f) && h('span', { class: 'badge', text: 'the same' })),
        alike(f) && f !== 'prompt'
          ? h('pre', { class: 'prompt short', text: fieldText(x, f) })
          : diffView(fieldText(x, f), fieldText(y, f), { left: called(left), right: called(right), label: `${LABELS[f]}: ${left} and ${right}` }))),
      h('p', { class: 'muted', text: 'Description, capabilities and whom it may call are shared by all variants.' })));
  }

  return { open, refresh: () => now && open(now.id, now.a, now.b, { quiet: true }), close() { turn++; now = null; } };
}
