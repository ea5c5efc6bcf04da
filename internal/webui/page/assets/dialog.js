// Dialogs. The browser's own <dialog> keeps the focus inside, makes the rest
// inert, closes on Escape and gives the focus back.

import { h, uid, icon } from './dom.js';

/**
 * Show a modal dialog. `build(close)` gives its body; closing settles the
 * promise with the value given to close, undefined when dismissed.
 * @param {{title: string, wide?: boolean, guard?: () => boolean}} options guard: false keeps the dialog open on Escape
 * @returns {Promise<any>}
 */
export function dialog({ title, wide = false, kind = '' }, build) {
  return new Promise((settle) => {
    let result;
    const heading = uid('dialog');
    const close = (value) => { result = value; el.close(); };
    const el = h('dialog', { class: `${wide ? 'wide' : ''} ${kind}`.trim() || null, 'aria-labelledby': heading },
      h('header', {},
        h('h2', { id: heading, text: title }),
        h('button', { type: 'button', class: 'icon', 'aria-label': 'Close', on: { click: () => close() } }, icon('M4 4l8 8M12 4l-8 8'))));
    el.append(...[build(close)].flat().filter(Boolean));
    el.addEventListener('close', () => { el.remove(); settle(result); });
    let downOutside = false; // a text selection that ends on the backdrop is no click on it
    el.addEventListener('pointerdown', (e) => { downOutside = e.target === el; });
    el.addEventListener('click', (e) => { if (e.target === el && downOutside) close(); });
    document.body.append(el);
    el.showModal();
    (el.querySelector('[data-first]') ?? el.querySelector('input, textarea, select, footer button'))?.focus();
  });
}

/** Ask one of several things. @returns {Promise<any>} the value of the button, undefined when dismissed */
export function choose({ title, text, choices }) {
  return dialog({ title }, (close) => [
    h('p', { text }),
    h('footer', {}, ...choices.map((c) => h('button', {
      type: 'button', class: `button ${c.kind ?? ''}`, text: c.label, 'data-first': c.first, on: { click: () => close(c.value) },
    }))),
  ]);
}

/** Ask for a name to be typed before something goes that cannot be had back. @returns {Promise<boolean>} */
export async function typeToConfirm({ title, text, name, verb, what }) {
  return (await dialog({ title, kind: 'danger' }, (close) => {
    const button = h('button', { type: 'submit', class: 'button danger', text: verb, disabled: true });
    const field = h('input', { type: 'text', id: uid('field'), autocomplete: 'off', spellcheck: 'false', class: 'mono', 'data-first': true,
      on: { input: () => { button.disabled = field.value !== name; } } });
    return h('form', { on: { submit: (e) => { e.preventDefault(); if (field.value === name) close(true); } } },
      h('p', { text }),
      h('label', { htmlFor: field.id }, `Type the ${what} `, h('code', { text: name }), ' to confirm'),
      field,
      h('footer', {}, h('button', { type: 'button', class: 'button', text: 'Cancel', on: { click: () => close(false) } }), button));
  })) === true;
}

/**
 * Ask for one name. `check` gives a complaint or "".
 * `submit` does the work and gives a complaint to show, or "" when done.
 * @returns {Promise<string|undefined>} the name when the work is done
 */
export function askName({ title, text, label, verb, value = '', check, submit, extra }) {
  return dialog({ title }, (close) => {
    const complaint = h('p', { class: 'complaint', id: uid('complaint'), role: 'alert' });
    const button = h('button', { type: 'submit', class: 'button primary', text: verb });
    const field = h('input', { type: 'text', id: uid('field'), value, autocomplete: 'off', spellcheck: 'false', class: 'mono', 'data-first': true,
      'aria-describedby': complaint.id, on: { input: () => { complaint.textContent = field.value ? check(field.value) : ''; } } });
    const run = async (e) => {
      e.preventDefault();
      complaint.textContent = check(field.value);
      if (complaint.textContent) return field.focus();
      button.disabled = true;
      complaint.textContent = await submit(field.value);
      button.disabled = false;
      if (!complaint.textContent) close(field.value);
    };
    return h('form', { on: { submit: run } },
      text && h('p', { text }),
      h('label', { htmlFor: field.id, text: label }), field, complaint, extra,
      h('footer', {}, h('button', { type: 'button', class: 'button', text: 'Cancel', on: { click: () => close() } }), button));
  });
}

/** Ids and variant names share one pattern. */
export function nameComplaint(name, longest) {
  if (!name) return 'It wants a name.';
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return 'Small letters, digits and single hyphens between them.';
  if (name.length > longest) return `At most ${longest} characters.`;
  return '';
}
