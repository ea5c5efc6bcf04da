// The REST face of the server, one function a route. Every failure is an
// ApiError; specs keep their numbers as they were written (lexical.js).

import { parse, stringify, Num } from './lexical.js';

const token = document.querySelector('meta[name=larva-token]')?.getAttribute('content') ?? '';

/** A failure as the server tells it, or of the way to it (code NETWORK). */
export class ApiError extends Error {
  constructor(status, code, message, details = {}, hint = '') {
    super(message);
    this.status = status;
    this.code = code;
    this.details = details;
    this.hint = hint;
  }
}

async function send(method, path, { body, match, lexical = true, signal } = {}) {
  const headers = {};
  if (method !== 'GET') {
    headers['X-Larva-Token'] = token;
    headers['Content-Type'] = 'application/json';
  }
  if (match === '') headers['If-None-Match'] = '*';
  else if (match) headers['If-Match'] = `"${match}"`;
  let response, text;
  try {
    response = await fetch(path, { method, headers, signal, body: method === 'GET' ? undefined : stringify(body ?? new Map()) });
    text = await response.text();
  } catch (err) {
    if (err.name === 'AbortError') throw err;
    throw new ApiError(0, 'NETWORK', 'The server does not answer', {}, 'is larva serve still running?');
  }
  return read(response, text, lexical);
}

function read(response, text, lexical) {
  let answer;
  try {
    answer = lexical && response.ok ? parse(text) : JSON.parse(text);
  } catch {
    throw new ApiError(response.status, 'INTERNAL', `The server answered ${response.status} without JSON`);
  }
  if (response.ok) return lexical ? answer.get('data') : answer.data;
  const e = answer.error ?? {};
  throw new ApiError(response.status, e.code ?? 'INTERNAL', e.message ?? answer.detail ?? `The server answered ${response.status}`, e.details ?? {}, e.hint ?? '');
}

const persona = (id) => `/api/personas/${encodeURIComponent(id)}`;
const variants = (id) => `/api/registry/personas/${encodeURIComponent(id)}/variants`;
const variant = (id, v) => `${variants(id)}/${encodeURIComponent(v)}`;

/** Plain objects from Maps, numbers from Nums: for values that are only looked at. */
export function plain(v) {
  if (v instanceof Num) return Number(v.raw);
  if (Array.isArray(v)) return v.map(plain);
  if (v instanceof Map) return Object.fromEntries([...v].map(([k, x]) => [k, plain(x)]));
  return v;
}

/** @returns {Promise<{id: string, description: string, model: string, spec_digest: string, capabilities?: Object}[]>} */
export const list = () => send('GET', '/api/personas', { lexical: false });

/** @returns {Promise<Map<string, any>>} the active spec */
export const active = (id) => send('GET', persona(id));

/** @returns {Promise<{id: string, active: string, variants: string[]}>} */
export const variantList = (id) => send('GET', variants(id), { lexical: false });

/** @returns {Promise<Map<string, any>>} one variant's spec */
export const variantSpec = async (id, v) => (await send('GET', variant(id, v))).get('spec');

/** @returns {Promise<Map<string, any>>} the active spec as it is now */
export const patch = (id, patches, match) => send('PATCH', persona(id), { body: patches, match });

/** match "" says that the variant must be new. */
export const put = (id, v, spec, match) => send('PUT', variant(id, v), { body: spec, match });

export const activate = (id, v, match) => send('POST', `${variant(id, v)}/activate`, { match });
export const removeVariant = (id, v, match) => send('DELETE', variant(id, v), { match });
export const removePersona = (id, match) => send('DELETE', persona(id), { match });
export const clonePersona = (id, newId) => send('POST', `${persona(id)}/clone`, { body: { new_id: newId } });

/** @returns {Promise<{valid: boolean, errors: any[], warnings: string[]}>} */
export const validate = async (spec) => plain(await send('POST', '/api/personas/validate', { body: spec }));

/**
 * What a text holds, and what is wrong with it, with places.
 * @param {{text: string, format: string, name?: string}} request
 * @returns {Promise<{valid: boolean, personas: any[]}>}
 */
export const importCheck = (request, signal) => send('POST', '/api/import/check', { body: given(request), lexical: false, signal });

/** @returns {Promise<{personas: {id: string, change?: string, error?: any, diffs?: any[]}[], failed: number}>} */
export const importRegister = (request) => send('POST', '/api/import', { body: given(request), lexical: false });

const given = (o) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined));

/** @returns {Promise<{nodes: any[], edges: any[]}>} */
export const graph = () => send('GET', '/api/graph', { lexical: false });
