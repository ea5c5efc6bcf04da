// The bar that appears when something is staged. It says which write each
// change belongs to.

import { h, replace } from './dom.js';
import { CONTRACT, IMPLEMENTATION, LABELS } from './edits.js';

export function saveBar({ save, discard }) {
  const what = h('div', { class: 'staged', role: 'status' });
  const saveButton = h('button', { type: 'button', class: 'button primary', id: 'save', 'aria-keyshortcuts': 'Control+S Meta+S', text: 'Save', on: { click: save } });
  const discardButton = h('button', { type: 'button', class: 'button', id: 'discard', text: 'Discard', on: { click: discard } });
  const el = h('div', { class: 'save-bar', role: 'region', 'aria-label': 'Staged changes', hidden: true }, what, discardButton, saveButton);
  const part = (title, names) => names.length > 0 && h('p', {}, h('span', { class: 'muted', text: `${title} ` }), names.map((n) => LABELS[n]).join(', '));
  return {
    el,
    update(names, held) {
      el.hidden = names.length === 0;
      replace(what,
        part('Contract', names.filter((n) => CONTRACT.includes(n))),
        part(`Variant ${held.variant}`, names.filter((n) => IMPLEMENTATION.includes(n))));
    },
    busy(on) {
      saveButton.disabled = on;
      discardButton.disabled = on;
      saveButton.textContent = on ? 'Saving' : 'Save';
    },
  };
}
