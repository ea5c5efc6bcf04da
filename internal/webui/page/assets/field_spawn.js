// Spawn policy: nobody, anybody, or the personas of a list.

import { h, icon, replace, uid } from './dom.js';
import { section } from './section.js';
import { personaHref } from './route.js';
import { nameComplaint } from './dialog.js';

/**
 * @param {Map<string, any>} draft changed in place
 * @param {() => void} changed
 * @param {() => string[]} known the ids of the registry, for completion and to mark dangling ones
 */
export function spawn(draft, changed, known) {
  const sec = section('can_spawn', { hint: 'Personas it may start' });
  const name = uid('spawn');
  const tags = h('ul', { class: 'tags', 'aria-label': 'Personas it may call' });
  const list = h('datalist', { id: uid('ids') });
  const complaint = h('p', { class: 'complaint', role: 'alert' });
  const field = h('input', { type: 'text', class: 'mono small', 'aria-label': 'Add a persona id', placeholder: 'add an id', list: list.id, autocomplete: 'off', spellcheck: 'false',
    on: { input: complete } });
  const editor = h('div', { class: 'spawn-list' }, tags,
    h('form', { class: 'adder', on: { submit: (e) => { e.preventDefault(); add(); } } }, field, list, h('button', { type: 'submit', class: 'button small', text: 'Add' })), complaint);
  const value = () => draft.get('can_spawn');
  const mode = () => (Array.isArray(value()) ? 'list' : value() === true ? 'any' : 'none');
  let drawn;
  let kept = Array.isArray(value()) ? value() : []; // survives a look at the other choices
  const first = draft.has('can_spawn') ? value() : undefined;

  function choose(m) {
    if (Array.isArray(value())) kept = value();
    if (m === 'list') draft.set('can_spawn', [...kept]);
    else if (m === 'any') draft.set('can_spawn', true);
    else if (first === undefined) draft.delete('can_spawn'); // absent and false are different digests: none as it was
    else draft.set('can_spawn', false);
    draw();
    changed();
  }

  function complete() {
    const q = field.value.trim();
    complaint.textContent = '';
    const ids = q ? known().filter((id) => id.includes(q) && !value().includes(id)).slice(0, 20) : [];
    replace(list, ...ids.map((id) => h('option', { value: id })));
  }

  function add() {
    const ids = field.value.split(/[\s,]+/).filter(Boolean);
    for (const id of ids) {
      complaint.textContent = nameComplaint(id, 128);
      if (complaint.textContent) return field.focus();
      if (!value().includes(id)) value().push(id);
    }
    field.value = '';
    draw();
    changed();
    field.focus();
  }

  function draw() {
    editor.hidden = mode() !== 'list';
    if (editor.hidden) return;
    const ids = new Set(known());
    const marks = value().map((id) => `${id} ${ids.has(id)}`).join();
    if (marks === drawn) return; // the focus stays where it is
    drawn = marks;
    replace(tags, ...value().map((id) => {
      const there = ids.has(id) || ids.size === 0;
      return h('li', { class: there ? 'tag' : 'tag dangling', title: there ? null : 'No persona of this id is registered' },
        there ? h('a', { href: personaHref(id), text: id }) : h('span', {}, id, h('span', { class: 'tag-note', text: ' missing' })),
        h('button', { type: 'button', class: 'icon', 'aria-label': `Remove ${id}`, on: { click: () => { draft.set('can_spawn', value().filter((x) => x !== id)); draw(); changed(); field.focus(); } } },
          icon('M5 5l6 6M11 5l-6 6')));
    }));
  }

  const radio = (m, text) => {
    const id = uid('spawn');
    return h('span', { class: 'segment' },
      h('input', { type: 'radio', id, name, value: m, checked: mode() === m, on: { change: () => choose(m) } }), h('label', { htmlFor: id, text }));
  };
  sec.body.append(h('fieldset', { class: 'plain' }, h('legend', { class: 'away', text: 'Spawn policy' }),
    h('div', { class: 'segments' }, radio('none', 'None'), radio('any', 'Any'), radio('list', 'Specific'))), editor);
  draw();
  return { ...sec, redraw: draw };
}
