// A row of the detail: a label at the left, content at the right, a mark when
// the field is changed, and a place for what is wrong with it.

import { h, uid } from './dom.js';
import { LABELS } from './edits.js';

/**
 * @param {string} field the field's name in the spec
 * @param {{hint?: string, aside?: Node, group?: boolean}} options
 * @returns {{el: HTMLElement, body: HTMLElement, labelId: string, mark: (changed: boolean) => void, complain: (text: string) => void}}
 */
export function section(field, { hint, aside } = {}) {
  const labelId = uid('label');
  const dot = h('span', { class: 'changed', hidden: true }, h('span', { class: 'away', text: ' (changed)' }));
  const complaint = h('p', { class: 'complaint', role: 'alert' });
  const body = h('div', { class: 'section-body' });
  const el = h('section', { class: 'section', 'aria-labelledby': labelId, data: { field } },
    h('div', { class: 'section-label' },
      h('h2', {}, h('span', { id: labelId, text: LABELS[field] }), dot),
      hint && h('p', { class: 'hint', text: hint }),
      aside),
    h('div', { class: 'section-content' }, body, complaint));
  return {
    el, body, labelId,
    mark(changed) { dot.hidden = !changed; el.classList.toggle('is-changed', changed); },
    complain(text) { complaint.textContent = text; },
  };
}

/** A textarea that is as high as its text, within reason. */
export function growing(props) {
  const el = h('textarea', { rows: 1, ...props });
  const fit = () => {
    el.style.height = 'auto';
    el.style.height = `${el.scrollHeight + 2}px`;
  };
  el.addEventListener('input', fit);
  requestAnimationFrame(fit);
  new ResizeObserver(([entry]) => {
    if (entry.contentRect.width !== el.lastWidth) { el.lastWidth = entry.contentRect.width; fit(); }
  }).observe(el);
  return el;
}
