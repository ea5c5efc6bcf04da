// What a person has changed, parted as the registry wants it: the contract is
// shared by all variants, the implementation belongs to one.

import { clone, equal } from './lexical.js';

export const CONTRACT = ['description', 'capabilities', 'can_spawn'];
export const IMPLEMENTATION = ['prompt', 'model', 'model_params', 'compaction_prompt'];
export const EDITABLE = [...CONTRACT, ...IMPLEMENTATION];

/** How fields are called on the page. */
export const LABELS = {
  description: 'Description', capabilities: 'Capabilities', can_spawn: 'May call', model: 'Model',
  model_params: 'Model parameters', prompt: 'Prompt', compaction_prompt: 'Compaction prompt',
};

/**
 * The fields that differ.
 * @param {Map<string, any>} base
 * @param {Map<string, any>} draft
 * @returns {string[]} in the order of EDITABLE
 */
export function changes(base, draft, fields = EDITABLE) {
  return fields.filter((f) => base.has(f) !== draft.has(f) || !equal(base.get(f), draft.get(f)));
}

/** Whether something of old is gone from now, at any depth: a patch merges and cannot say that. */
function loses(old, now) {
  if (!(old instanceof Map)) return false;
  if (!(now instanceof Map)) return true;
  return [...old].some(([k, v]) => !now.has(k) || (v instanceof Map && now.get(k) instanceof Map && loses(v, now.get(k))));
}

/**
 * Part the changes into writes. `contract` and `implementation` are patches or
 * null; `whole` says that the implementation must be put as a whole, because a
 * field or a parameter was taken away.
 */
export function plan(base, draft) {
  const pick = (fields) => {
    const names = changes(base, draft, fields).filter((f) => draft.has(f));
    return names.length ? new Map(names.map((f) => [f, clone(draft.get(f))])) : null;
  };
  const gone = IMPLEMENTATION.some((f) => base.has(f) && !draft.has(f));
  const whole = gone || (base.has('model_params') && draft.has('model_params') && loses(base.get('model_params'), draft.get('model_params')));
  return { contract: pick(CONTRACT), implementation: pick(IMPLEMENTATION) ?? (gone ? new Map() : null), whole };
}

/**
 * Lay my changes on top of what the registry holds now. Where both sides
 * changed one field, objects merge key by key and mine wins the rest; such
 * fields are named in `both`.
 * @returns {{draft: Map<string, any>, mine: string[], theirs: string[], both: string[]}}
 */
export function rebase(base, draft, now) {
  const mine = changes(base, draft);
  const theirs = changes(base, now);
  const out = clone(now);
  for (const f of mine) {
    const value = draft.get(f);
    if (!draft.has(f)) out.delete(f);
    else if (theirs.includes(f) && value instanceof Map && now.get(f) instanceof Map) out.set(f, rebaseMap(base.get(f), value, now.get(f)));
    else out.set(f, clone(value));
  }
  const both = mine.filter((f) => theirs.includes(f) && !equal(draft.get(f), now.get(f)));
  return { draft: out, mine, theirs, both };
}

function rebaseMap(base, mine, now) {
  const was = base instanceof Map ? base : new Map();
  const out = clone(now);
  for (const key of new Set([...was.keys(), ...mine.keys()])) {
    if (was.has(key) === mine.has(key) && equal(was.get(key), mine.get(key))) continue;
    if (mine.has(key)) out.set(key, clone(mine.get(key)));
    else out.delete(key);
  }
  return out;
}

/** The digest without its scheme, short enough for a line. */
export const shortDigest = (digest) => String(digest ?? '').replace(/^sha256:/, '').slice(0, 12);
