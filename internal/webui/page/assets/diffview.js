// Two texts beside each other, line by line. Long stretches that are the same
// are folded; at phone width the sides stand one below the other.

import { h } from './dom.js';
import { lineDiff, innerDiff } from './diff.js';
import { stringify } from './lexical.js';

const AROUND = 3; // lines kept around a change

/** A field's value as text to compare. */
export function fieldText(spec, field) {
  if (!spec.has(field)) return '';
  const v = spec.get(field);
  return typeof v === 'string' ? v : stringify(v, 2);
}

/**
 * @param {string} a
 * @param {string} b
 * @param {{left: string, right: string, label: string}} names
 */
export function diffView(a, b, { left, right, label }) {
  const rows = lineDiff(a, b);
  const body = h('tbody');
  let l = 0;
  let r = 0;
  const near = nearChanges(rows);
  let folded = null;
  rows.forEach((row, i) => {
    if (row.left !== null) l++;
    if (row.right !== null) r++;
    const el = rowView(row, l, r);
    if (near[i]) { folded = null; body.append(el); return; }
    if (!folded) { folded = fold(); body.append(folded.el); }
    folded.add(el);
  });
  if (!rows.length) body.append(h('tr', {}, h('td', { colspan: 4, class: 'muted', text: 'Both are empty.' })));
  return h('table', { class: 'diff', 'aria-label': label },
    h('colgroup', {}, h('col', { class: 'no' }), h('col'), h('col', { class: 'no' }), h('col')),
    h('thead', {}, h('tr', {}, h('th', { scope: 'col', colspan: 2, text: left }), h('th', { scope: 'col', colspan: 2, text: right }))), body);
}

function nearChanges(rows) {
  const near = new Array(rows.length).fill(false);
  rows.forEach((row, i) => {
    if (row.left === row.right) return;
    for (let j = Math.max(0, i - AROUND); j <= Math.min(rows.length - 1, i + AROUND); j++) near[j] = true;
  });
  if (!near.includes(true)) near.fill(true, 0, AROUND); // all the same: show how it begins
  return near;
}

function fold() {
  const held = [];
  const button = h('button', { type: 'button', class: 'link', on: { click: () => { el.replaceWith(...held); held[0]?.querySelector('td')?.focus?.(); } } });
  const el = h('tr', { class: 'folded' }, h('td', { colspan: 4 }, button));
  return {
    el,
    add(row) { held.push(row); button.textContent = `${held.length} line${held.length === 1 ? '' : 's'} the same`; },
  };
}

function rowView({ left, right }, l, r) {
  if (left === right) return h('tr', {}, ...side(left, l, ''), ...side(right, r, ''));
  if (left === null || right === null) return h('tr', { class: 'differs' }, ...side(left, l, 'del'), ...side(right, r, 'ins'));
  const d = innerDiff(left, right);
  const close = d.before.length + d.after.length > 0;
  return h('tr', { class: 'differs' },
    ...side(left, l, 'del', close && [d.before, h('del', { text: d.left }), d.after]),
    ...side(right, r, 'ins', close && [d.before, h('ins', { text: d.right }), d.after]));
}

function side(text, number, kind, parts) {
  if (text === null) return [h('td', { class: 'no' }), h('td', { class: 'gap' })];
  return [h('td', { class: `no ${kind}`, text: number }),
    h('td', { class: `code ${kind}` }, kind && h('span', { class: 'away', text: kind === 'del' ? 'only left: ' : 'only right: ' }), ...(parts || [text]))];
}
