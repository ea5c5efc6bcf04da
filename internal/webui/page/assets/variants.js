// What can be done with variants and with a persona as a whole.

import * as api from './api.js';
import { h, icon } from './dom.js';
import { askName, typeToConfirm, nameComplaint } from './dialog.js';
import { toast, failed } from './toast.js';
import { go, personaHref, compareHref } from './route.js';
import { bare } from './saving.js';

const VARIANT_CAP = 64; // registry contract, section 4
const ID_CAP = 128;

/**
 * The bar of variants above a persona.
 * @param {import('./detail.js').Held} held
 * @param {{spec: () => Map<string, any>, reload: () => Promise<void>}} detail spec gives the draft, which a new variant begins with
 */
export function variantBar(held, detail) {
  const { id, variant, meta } = held;
  const others = meta.variants.filter((v) => v !== variant);
  const isActive = variant === meta.active;
  return h('div', { class: 'variants', role: 'group', 'aria-label': 'Variants' },
    h('ul', { class: 'chips' }, ...meta.variants.map((v) => h('li', {}, h('a', {
      class: 'chip', href: personaHref(id, v), 'aria-current': v === variant ? 'true' : null, data: { variant: v },
    }, v, v === meta.active && h('span', { class: 'chip-note', text: 'active' }))))),
    h('div', { class: 'variant-actions' },
      !isActive && h('button', { type: 'button', class: 'button small', id: 'activate', text: 'Make active', on: { click: () => activate(held, detail) } }),
      h('button', { type: 'button', class: 'button quiet small', id: 'new-variant', text: 'New variant', on: { click: () => create(held, detail) } }),
      others.length > 0 && h('a', { class: 'button quiet small', id: 'compare', href: compareHref(id, isActive ? others[0] : meta.active, variant), text: 'Compare' }),
      !isActive && h('button', { type: 'button', class: 'button quiet small danger-text', id: 'delete-variant', text: 'Delete variant', on: { click: () => remove(held) } })));
}

async function activate(held, detail) {
  try {
    await api.activate(held.id, held.variant, held.base.get('spec_digest'));
    toast(`${held.variant} is active now`);
  } catch (err) {
    failed('Not activated', err);
  }
  await detail.reload();
}

function create(held, detail) {
  const spec = detail.spec();
  return askName({
    title: 'New variant', label: 'Name', verb: 'Create',
    text: `It begins with what ${held.variant} shows now and shares the contract. The active variant stays ${held.meta.active}.`,
    check: (name) => nameComplaint(name, VARIANT_CAP) || (held.meta.variants.includes(name) ? 'There is one of that name.' : ''),
    submit: async (name) => {
      const body = bare(spec);
      for (const f of ['description', 'capabilities', 'can_spawn']) { // a variant cannot change the contract
        if (held.base.has(f)) body.set(f, held.base.get(f));
        else body.delete(f);
      }
      try {
        await api.put(held.id, name, body, '');
      } catch (err) {
        return err.code === 'STALE_WRITE' ? 'There is one of that name.' : err.message;
      }
      toast(`Variant ${name} created`);
      return '';
    },
  }).then((name) => name && go(personaHref(held.id, name)));
}

async function remove(held) {
  const yes = await typeToConfirm({
    title: `Delete variant ${held.variant}`, verb: 'Delete variant', what: 'name', name: held.variant,
    text: `The variant's prompt, model and parameters go; the persona ${held.id} and its other variants stay.`,
  });
  if (!yes) return;
  try {
    await api.removeVariant(held.id, held.variant, held.base.get('spec_digest'));
    toast(`Variant ${held.variant} deleted`);
    go(personaHref(held.id), { back: true });
  } catch (err) {
    failed('Not deleted', err);
  }
}

/** Copy a persona to a new id. */
export function clone(held, known) {
  return askName({
    title: `Clone ${held.id}`, label: 'New id', verb: 'Clone',
    text: `The contract and the active variant ${held.meta.active} are copied.`,
    check: (name) => nameComplaint(name, ID_CAP) || (known().includes(name) ? 'There is a persona of that id.' : ''),
    submit: async (name) => {
      try {
        await api.clonePersona(held.id, name);
      } catch (err) {
        return err.message;
      }
      toast(`${name} cloned from ${held.id}`);
      return '';
    },
  }).then((name) => name && go(personaHref(name)));
}

/** Delete a persona with all of its variants. @returns {Promise<boolean>} whether it is gone */
export async function removePersona(held) {
  const n = held.meta.variants.length;
  const yes = await typeToConfirm({
    title: `Delete ${held.id}`, verb: 'Delete persona', what: 'id', name: held.id,
    text: `The persona goes with ${n === 1 ? 'its one variant' : `all of its ${n} variants`}. There is no way back.`,
  });
  if (!yes) return false;
  try {
    await api.removePersona(held.id, held.activeDigest);
    toast(`${held.id} deleted`);
    return true;
  } catch (err) {
    failed('Not deleted', err);
    return false;
  }
}

/** The arrow back to the list, which phones show. */
export const backLink = () => h('a', { class: 'back', href: '#/' }, icon('M10 3L5 8l5 5'), 'Personas');
