// Elements from values. Text is only ever set as text; there is no way here to
// pass markup.

const SVG = 'http://www.w3.org/2000/svg';

/**
 * Make an element. Props: `class`, `text`, `on` (event name to handler),
 * `data` (dataset); a property of the element by name where one exists and is
 * no string attribute (`value`, `checked`, `disabled`, `hidden`, …), else an
 * attribute. null, undefined and false leave a prop out.
 * @param {string} tag
 * @param {Object<string, any>} [props]
 * @param {...(Node|string|null|false|undefined)} children
 * @returns {any} the element
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for SVG. @returns {any} */
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

const asProperty = new Set(['value', 'checked', 'disabled', 'hidden', 'open', 'readOnly', 'selected', 'htmlFor', 'tabIndex']);

function fill(el, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'class') el.setAttribute('class', value);
    else if (key === 'text') el.textContent = value;
    else if (key === 'on') for (const [name, fn] of Object.entries(value)) el.addEventListener(name, fn);
    else if (key === 'data') Object.assign(el.dataset, value);
    else if (asProperty.has(key)) el[key] = value;
    else el.setAttribute(key, value === true ? '' : String(value));
  }
  for (const child of children) if (child !== null && child !== undefined && child !== false) el.append(child);
  return el;
}

/** Put new children in place of all that an element holds. */
export function replace(el, ...children) {
  el.replaceChildren(...children.filter((c) => c !== null && c !== undefined && c !== false));
}

/** The element of an id that the page is known to hold. @returns {any} */
export function byId(id) {
  const el = document.getElementById(id);
  if (!el) throw new Error(`the page has no #${id}`);
  return el;
}

let serial = 0;

/** An id that no other element of the page has. */
export const uid = (prefix) => `${prefix}-${++serial}`;

/** A labelled icon of one path, 16 by 16, drawn in the text's colour. */
export function icon(d) {
  return s('svg', { class: 'glyph', viewBox: '0 0 16 16', 'aria-hidden': 'true', focusable: 'false' }, s('path', { d }));
}

/** Copy text, and say so through `done`; where the clipboard is shut, select a field of it instead. */
export async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    done('Copied');
  } catch {
    const field = h('textarea', { class: 'away', readOnly: true, 'aria-hidden': 'true' });
    field.value = text;
    document.body.append(field);
    field.select();
    const ok = document.execCommand('copy');
    field.remove();
    done(ok ? 'Copied' : 'The browser does not allow copying');
  }
}
