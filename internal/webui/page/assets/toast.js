// Short messages at the edge. They are read out (aria-live), go by themselves
// unless they tell of a failure, and never take the focus.

import { h, byId, icon } from './dom.js';

const LIFE = 5000; // ms: long enough to read one line twice
const MOST = 4; // older ones make room

/**
 * @param {string} text
 * @param {{kind?: 'info'|'error', action?: {label: string, run: () => void}, detail?: string}} [options]
 */
export function toast(text, { kind = 'info', action, detail } = {}) {
  const box = byId('toasts');
  const el = h('div', { class: `toast ${kind}`, role: kind === 'error' ? 'alert' : null }, // the region reads out the rest
    h('div', { class: 'toast-text' }, h('p', { text }), detail && h('p', { class: 'muted', text: detail })),
    action && h('button', { type: 'button', class: 'link', text: action.label, on: { click: () => { action.run(); el.remove(); } } }),
    h('button', { type: 'button', class: 'icon', 'aria-label': 'Dismiss the message', on: { click: () => el.remove() } }, icon('M4 4l8 8M12 4l-8 8')));
  box.append(el);
  while (box.children.length > MOST) box.firstElementChild.remove();
  if (kind === 'error') return;
  let timer = setTimeout(() => el.remove(), LIFE);
  el.addEventListener('pointerenter', () => clearTimeout(timer));
  el.addEventListener('pointerleave', () => { timer = setTimeout(() => el.remove(), LIFE); });
}

/** Tell of a failed operation. @param {import('./api.js').ApiError} err */
export function failed(what, err) {
  if (err.status === 401 || err.status === 403) { // another token: the server was started again
    toast('The server has been started anew.', {
      kind: 'error', detail: 'This page may only look until it is loaded again.', action: { label: 'Reload', run: () => location.reload() },
    });
    return;
  }
  const issues = err.details?.report?.errors?.slice(1).map((e) => e.message) ?? [];
  toast(`${what}: ${err.message}`, { kind: 'error', detail: [...issues, err.hint].filter(Boolean).join(' · ') || err.code });
}
