// The posture picker: one row a family, one choice of four. A family that is
// stored cannot be taken away again (a patch merges); its posture can be none.

import { h, icon, replace, uid } from './dom.js';
import { section } from './section.js';
import { POSTURES, POSTURE_LABELS, POSTURE_WORDS, FAMILIES } from './posture.js';

/**
 * @param {Map<string, any>} base
 * @param {Map<string, any>} draft changed in place
 * @param {() => void} changed called after each change
 */
export function capabilities(base, draft, changed) {
  const sec = section('capabilities', { hint: 'Shared by all variants' });
  const rows = h('div', { class: 'families' });
  const stored = base.get('capabilities') instanceof Map ? base.get('capabilities') : new Map();
  const value = () => draft.get('capabilities');
  if (!(value() instanceof Map)) draft.set('capabilities', new Map());

  function set(family, posture) {
    value().set(family, posture);
    changed();
  }

  function row(family) {
    const name = uid('posture');
    return h('fieldset', { class: 'family', data: { family } },
      h('legend', { text: family }),
      h('div', { class: 'segments' }, ...POSTURES.map((p) => {
        const id = uid('posture');
        return h('span', { class: `segment ${p}` },
          h('input', { type: 'radio', id, name, value: p, checked: value().get(family) === p, on: { change: () => set(family, p) } }),
          h('label', { htmlFor: id, title: POSTURE_WORDS[p], text: POSTURE_LABELS[p] }));
      })),
      stored.has(family)
        ? h('span', { class: 'icon-room' })
        : h('button', { type: 'button', class: 'icon', 'aria-label': `Remove ${family}`, on: { click: () => { value().delete(family); draw(); changed(); } } },
          icon('M4 4l8 8M12 4l-8 8')));
  }

  const list = h('datalist', { id: uid('families') });
  const field = h('input', { type: 'text', class: 'mono small', 'aria-label': 'Add a capability family', placeholder: 'add a family', list: list.id, autocomplete: 'off', spellcheck: 'false' });
  const add = () => {
    const family = field.value.trim();
    if (!family) return field.focus();
    if (!value().has(family)) value().set(family, 'none');
    field.value = '';
    draw();
    changed();
    const made = [...rows.children].find((el) => el.dataset.family === family);
    made?.querySelector('input:checked')?.focus();
  };

  function draw() {
    replace(rows, ...(value().size ? [...value().keys()].map(row) : [h('p', { class: 'muted', text: 'None declared: it may touch nothing.' })]));
    replace(list, ...FAMILIES.filter((f) => !value().has(f)).map((f) => h('option', { value: f })));
  }
  draw();
  sec.body.append(rows, h('form', { class: 'adder', on: { submit: (e) => { e.preventDefault(); add(); } } }, field, list,
    h('button', { type: 'submit', class: 'button small', text: 'Add' })));
  return sec;
}
