// The list at the side: search, and a window of rows over all that match. Rows
// are links, so that Enter, a middle click and "copy link" work as they do
// everywhere; only the rows in sight exist, whatever the registry's size.

import { h, replace, byId } from './dom.js';
import { searcher } from './search.js';
import { personaHref } from './route.js';
import { strongest, POSTURE_LABELS } from './posture.js';

const ROW = 60; // px, the height that frame.css gives a row
const SPARE = 6; // rows kept above and below the ones in sight

/** @returns the list: set(items), mark(id), state(message) */
export function makeList() {
  const box = byId('list');
  const field = byId('search');
  const count = byId('count');
  const rows = h('ul', { class: 'rows' });
  const room = h('div', { class: 'rows-room' }, rows);
  let find = searcher([]);
  let all = [];
  let shown = [];
  let open; // the id whose detail is shown
  let at = 0; // the row that Tab comes to
  let drawn = new Map(); // id to its row element

  function row(p, i) {
    const posture = strongest(p.capabilities);
    return h('li', {},
      h('a', { href: personaHref(p.id), data: { id: p.id } },
        h('span', { class: 'row-top' },
          h('span', { class: 'row-id', text: p.id }),
          h('span', { class: `mark ${posture}`, title: `Strongest posture: ${POSTURE_LABELS[posture]}` },
            h('span', { class: 'away', text: `may at most: ${POSTURE_LABELS[posture]}` }))),
        h('span', { class: 'row-text', text: p.description }),
        h('span', { class: 'row-model', title: p.model, text: p.model.split('/').pop() })));
  }

  function draw() {
    const top = Math.max(0, Math.floor(box.scrollTop / ROW) - SPARE);
    const bottom = Math.min(shown.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + SPARE);
    const want = new Set();
    for (let i = top; i < bottom; i++) want.add(i);
    if (rows.contains(document.activeElement) && at < shown.length) want.add(at); // the focus outlives scrolling
    const next = new Map();
    for (const i of [...want].sort((a, b) => a - b)) {
      const p = shown[i];
      const old = drawn.get(p.id);
      const el = old && old.persona === p ? old.el : row(p, i);
      el.style.transform = `translateY(${i * ROW}px)`;
      el.setAttribute('aria-posinset', i + 1);
      el.setAttribute('aria-setsize', shown.length);
      const link = el.firstElementChild;
      link.tabIndex = i === at ? 0 : -1;
      if (p.id === open) link.setAttribute('aria-current', 'page');
      else link.removeAttribute('aria-current');
      next.set(p.id, { el, persona: p });
    }
    for (const [id, { el }] of drawn) if (next.get(id)?.el !== el) el.remove();
    let before = null;
    for (const { el } of next.values()) { // keep the elements that are there, so that the focus stays
      if (el.parentNode !== rows || el.previousElementSibling !== before) rows.insertBefore(el, before ? before.nextSibling : rows.firstChild);
      before = el;
    }
    drawn = next;
  }

  /** Put one thing into the box; what is there already stays, with its focus and how far it is scrolled. */
  function hold(el) {
    if (el.parentNode !== box || box.children.length !== 1) replace(box, el);
  }

  function search({ keep = false } = {}) {
    shown = find(field.value);
    const index = shown.findIndex((p) => p.id === open);
    at = keep ? Math.min(at, Math.max(0, shown.length - 1)) : Math.max(0, index);
    room.style.height = `${shown.length * ROW}px`;
    if (!keep) box.scrollTop = 0;
    if (all.length) hold(shown.length ? room : h('p', { class: 'blank', text: 'Nothing matches.' }));
    count.textContent = field.value.trim()
      ? `${shown.length.toLocaleString('en')} of ${all.length.toLocaleString('en')}`
      : `${all.length.toLocaleString('en')} persona${all.length === 1 ? '' : 's'}`;
    draw();
  }

  /** Bring a row into sight and give it the focus. */
  function focusRow(i) {
    if (!shown.length) return;
    at = Math.max(0, Math.min(shown.length - 1, i));
    reveal(at);
    draw();
    drawn.get(shown[at].id)?.el.firstElementChild.focus({ preventScroll: true });
  }

  function reveal(i) {
    const top = i * ROW;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight) box.scrollTop = top + ROW - box.clientHeight;
  }

  const page = () => Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
  const moves = {
    ArrowDown: () => at + 1, ArrowUp: () => at - 1, Home: () => 0, End: () => shown.length - 1,
    PageDown: () => at + page(), PageUp: () => at - page(),
  };

  box.addEventListener('scroll', draw, { passive: true });
  new ResizeObserver(draw).observe(box);
  box.addEventListener('keydown', (e) => {
    if (!moves[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    if (e.key === 'ArrowUp' && at === 0) field.focus();
    else focusRow(moves[e.key]());
  });
  box.addEventListener('focusin', (e) => {
    const id = e.target.dataset?.id;
    const i = shown.findIndex((p) => p.id === id);
    if (i >= 0 && i !== at) { at = i; draw(); }
  });
  field.addEventListener('input', () => search());
  field.addEventListener('keydown', (e) => {
    if (e.key === 'ArrowDown') { e.preventDefault(); focusRow(at); }
    if (e.key === 'Enter' && shown.length) location.hash = personaHref(shown[at].id).slice(1);
    if (e.key === 'Escape' && field.value) { e.preventDefault(); field.value = ''; search(); }
  });

  return {
    /** Show a new list; what is unchanged keeps its row. */
    set(items) {
      const old = new Map(all.map((p) => [p.id, p]));
      all = items.map((p) => (old.get(p.id)?.spec_digest === p.spec_digest ? old.get(p.id) : p));
      find = searcher(all);
      if (!all.length) replace(box, h('p', { class: 'blank', text: 'No personas yet.' }));
      search({ keep: true });
    },
    /** The personas by id, as the list holds them. */
    get items() { return all; },
    /** Mark the persona whose detail is open. */
    mark(id) {
      open = id;
      const i = shown.findIndex((p) => p.id === id);
      if (i >= 0) { at = i; reveal(i); }
      draw();
    },
    /** Say why there is no list. */
    state(text) {
      all = [];
      shown = [];
      drawn = new Map();
      replace(rows);
      replace(box, text ? h('p', { class: 'blank', text }) : skeleton());
      count.textContent = '';
    },
    focus: () => focusRow(at),
  };
}

function skeleton() {
  return h('div', { class: 'skeleton', role: 'status', 'aria-label': 'Loading the personas' },
    ...Array.from({ length: 8 }, () => h('div', { class: 'bone' })));
}
