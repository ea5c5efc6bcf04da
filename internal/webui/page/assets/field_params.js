// Model parameters. What is typed is taken as JSON where it is JSON, so that a
// number is a number and keeps the way it is written; anything else is text.

import { h, icon, replace, uid } from './dom.js';
import { section } from './section.js';
import { parse, stringify, Num } from './lexical.js';

const KNOWN = {
  temperature: { rule: 'a number from 0 to 2', fits: (n) => n >= 0 && n <= 2 },
  top_p: { rule: 'a number from 0 to 1', fits: (n) => n >= 0 && n <= 1 },
  top_k: { rule: 'a whole number from 1', whole: true, fits: (n) => n >= 1 },
  max_tokens: { rule: 'a whole number from 1', whole: true, fits: (n) => n >= 1 },
};

/** The value that a text stands for. */
export function coerce(text) {
  try {
    return parse(text.trim());
  } catch {
    return text;
  }
}

/** The text that stands for a value: the reverse of coerce. */
export function display(value) {
  if (typeof value === 'string' && coerce(value) === value && value.trim() === value && value !== '') return value;
  return stringify(value);
}

/** What is wrong with a known parameter's value, or "". */
export function paramComplaint(key, value) {
  const known = Object.hasOwn(KNOWN, key) ? KNOWN[key] : null;
  if (!known) return '';
  const good = value instanceof Num && (!known.whole || /^-?\d+$/.test(value.raw)) && known.fits(Number(value.raw));
  return good ? '' : `wants ${known.rule}`;
}

const typeOf = (v) => (v instanceof Num ? 'number' : v === null ? 'null' : Array.isArray(v) ? 'list' : v instanceof Map ? 'object' : typeof v === 'boolean' ? 'boolean' : 'text');

/**
 * @param {Map<string, any>} draft changed in place
 * @param {() => void} changed
 */
export function params(draft, changed) {
  const sec = section('model_params');
  const rows = h('div', { class: 'params' });
  const had = draft.has('model_params');
  const value = () => (draft.get('model_params') instanceof Map ? draft.get('model_params') : new Map());

  function write(next) {
    if (next.size || had) draft.set('model_params', next);
    else draft.delete('model_params');
    changed();
  }

  function row(key) {
    const type = h('span', { class: 'type' });
    const complaint = h('span', { class: 'complaint', role: 'alert', id: uid('complaint') });
    const look = () => {
      const v = value().get(key);
      type.textContent = typeOf(v);
      complaint.textContent = paramComplaint(key, v);
      field.setAttribute('aria-invalid', complaint.textContent ? 'true' : 'false');
    };
    const field = h('input', { type: 'text', class: 'mono small', 'aria-label': `Value of ${key}`, value: display(value().get(key)), spellcheck: 'false', autocomplete: 'off',
      'aria-describedby': complaint.id, inputmode: Object.hasOwn(KNOWN, key) ? 'decimal' : null,
      on: { input: () => { const next = new Map(value()); next.set(key, coerce(field.value)); write(next); look(); } } });
    look();
    return h('div', { class: 'param', data: { key } }, h('span', { class: 'param-name mono', text: key }), field, type,
      h('button', { type: 'button', class: 'icon', 'aria-label': `Remove ${key}`, on: { click: () => { const next = new Map(value()); next.delete(key); write(next); draw(); } } }, icon('M4 4l8 8M12 4l-8 8')),
      complaint);
  }

  const list = h('datalist', { id: uid('params') });
  const name = h('input', { type: 'text', class: 'mono small', 'aria-label': 'Add a model parameter', placeholder: 'add a parameter', list: list.id, autocomplete: 'off', spellcheck: 'false' });
  const add = () => {
    const key = name.value.trim();
    if (!key) return name.focus();
    if (!value().has(key)) write(new Map(value()).set(key, key === 'temperature' || key === 'top_p' ? new Num('1.0') : Object.hasOwn(KNOWN, key) ? new Num(key === 'top_k' ? '40' : '4096') : ''));
    name.value = '';
    draw();
    const made = [...rows.children].find((el) => el.dataset.key === key)?.querySelector('input');
    made?.focus();
    made?.select();
  };

  function draw() {
    replace(rows, ...(value().size ? [...value().keys()].map(row) : [h('p', { class: 'muted', text: 'The model\u2019s own.' })]));
    replace(list, ...Object.keys(KNOWN).filter((k) => !value().has(k)).map((k) => h('option', { value: k })));
  }
  draw();
  sec.body.append(rows, h('form', { class: 'adder', on: { submit: (e) => { e.preventDefault(); add(); } } }, name, list,
    h('button', { type: 'submit', class: 'button small', text: 'Add' })));
  return sec;
}
