// What stands in place of a view: nothing chosen, nothing there, loading, and
// what cannot be shown with the command that helps.

import { h, icon, copy } from './dom.js';
import { toast } from './toast.js';
import { personaHref } from './route.js';

const command = (text) => h('div', { class: 'command' }, h('code', { text }),
  h('button', { type: 'button', class: 'icon', 'aria-label': `Copy ${text}`, on: { click: () => copy(text, toast) } }, icon('M5.5 5.5h7v7h-7zM3.5 10.5v-7h7')));

const key = (k, what) => h('div', {}, h('dt', {}, ...k.map((x) => h('kbd', { text: x }))), h('dd', { text: what }));

/** Nothing is chosen. */
export function homeView(count) {
  return h('div', { class: 'state' },
    h('h1', { tabIndex: -1, text: 'Personas as code' }),
    h('p', { text: count === 1 ? 'One persona is registered. Choose it to see what it may do.' : 'Choose a persona to see what it may do.' }),
    h('dl', { class: 'keys', 'aria-label': 'Keys' },
      key(['/'], 'search'), key(['\u2191', '\u2193'], 'move'), key(['Enter'], 'open'), key(['Esc'], 'back to the list'), key(['Ctrl', 'S'], 'save')));
}

/** The registry holds nothing. */
export function emptyView(openImport) {
  return h('div', { class: 'state' },
    h('h1', { tabIndex: -1, text: 'No personas yet' }),
    h('p', { text: 'Import one from a file or the clipboard, or register one from a shell:' }),
    command('larva register persona.json'),
    h('p', {}, h('button', { type: 'button', class: 'button primary', text: 'Import a persona', on: { click: openImport } })));
}

export const loadingView = () => h('div', { class: 'state loading', role: 'status', 'aria-label': 'Loading' }, h('div', { class: 'bone wide' }), h('div', { class: 'bone' }), h('div', { class: 'bone' }));

const NAMES = {
  REGISTRY_CORRUPT: 'The registry cannot be read', REGISTRY_SPEC_READ_FAILED: 'The registry cannot be read',
  PERSONA_NOT_FOUND: 'There is no such persona', VARIANT_NOT_FOUND: 'There is no such variant',
  INVALID_PERSONA_ID: 'That is no persona id', INVALID_VARIANT_NAME: 'That is no variant name',
  PERSONA_INVALID: 'A stored persona is not valid', NETWORK: 'The server does not answer',
};

/**
 * A failure that leaves nothing to show.
 * @param {import('./api.js').ApiError} err
 * @param {{again?: () => void, id?: string, variant?: string}} options
 */
export function errorView(err, { again, id, variant } = {}) {
  const broken = err.code?.startsWith('REGISTRY_') || err.code === 'PERSONA_INVALID';
  const path = err.details?.path;
  return h('div', { class: 'state error', role: 'alert' },
    h('h1', { tabIndex: -1, text: NAMES[err.code] ?? 'This cannot be shown' }),
    h('p', { text: err.message }),
    h('dl', { class: 'facts' },
      err.details?.persona_id && fact('persona', err.details.persona_id),
      path && fact('file', path),
      fact('code', err.code)),
    err.hint && h('p', { class: 'muted', text: err.hint }),
    ...(broken ? [h('p', { text: 'This says what is wrong, persona by persona:' }), command('larva doctor')] : []),
    h('p', { class: 'buttons' },
      err.code === 'VARIANT_NOT_FOUND' && variant && h('a', { class: 'button', href: personaHref(id), text: 'Show the active variant' }),
      again && h('button', { type: 'button', class: 'button', text: 'Try again', on: { click: again } })));
}

const fact = (name, value) => h('div', {}, h('dt', { text: name }), h('dd', { class: 'mono', text: String(value) }));
