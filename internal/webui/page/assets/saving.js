// Writing what is staged. The contract goes first, then the implementation,
// each with the digest that the page saw; whatever another process wrote in
// between is found and shown, never overwritten.

import * as api from './api.js';
import { equal } from './lexical.js';
import { plan, changes, rebase, IMPLEMENTATION } from './edits.js';

const AGAIN = 3; // silent tries where only the digest moved and no field did

/** What the registry holds now. @returns {Promise<import('./detail.js').Held>} */
export async function load(id, variant) {
  const meta = await api.variantList(id);
  const name = variant ?? meta.active;
  const base = await api.variantSpec(id, name);
  const activeDigest = name === meta.active ? base.get('spec_digest') : (await api.active(id)).get('spec_digest');
  return { id, variant: name, meta, base, activeDigest };
}

/**
 * Save a draft. Held changes as writes succeed, so that a failure half-way
 * leaves only what is not yet written as changed.
 * @returns {Promise<{saved?: true, invalid?: any[], conflict?: any, gone?: true}>}
 */
export async function save(held, draft) {
  const report = await api.validate(bare(draft));
  if (!report.valid) return { invalid: report.errors };
  for (let tries = 0; ; tries++) {
    try {
      const conflict = await write(held, draft);
      return conflict ? { conflict } : { saved: true };
    } catch (err) {
      if (err.code === 'PERSONA_NOT_FOUND' || err.code === 'VARIANT_NOT_FOUND') return { gone: true };
      if (err.code !== 'STALE_WRITE') throw err;
      const now = await load(held.id, held.variant).catch(goneOr);
      if (!now) return { gone: true };
      if (rebase(held.base, draft, now.base).theirs.length || tries >= AGAIN) return { conflict: now };
      Object.assign(held, now); // only which variant is active has moved
    }
  }
}

function goneOr(err) {
  if (err.code === 'PERSONA_NOT_FOUND' || err.code === 'VARIANT_NOT_FOUND') return null;
  throw err;
}

async function write(held, draft) {
  const p = plan(held.base, draft);
  const isActive = held.variant === held.meta.active;
  if (p.contract) {
    const fresh = await api.patch(held.id, p.contract, held.activeDigest);
    held.activeDigest = fresh.get('spec_digest');
    const now = isActive ? fresh : await api.variantSpec(held.id, held.variant);
    const differs = changes(held.base, now, IMPLEMENTATION).length > 0;
    if (differs) return { ...(await load(held.id, held.variant)) };
    held.base = now;
  }
  if (!p.implementation) return null;
  const digest = held.base.get('spec_digest');
  if (isActive && !p.whole) {
    held.base = await api.patch(held.id, p.implementation, digest);
  } else {
    await api.put(held.id, held.variant, bare(draft), digest);
    held.base = await api.variantSpec(held.id, held.variant);
  }
  if (isActive) held.activeDigest = held.base.get('spec_digest');
  return null;
}

/** A spec without its digest, which only the registry reckons. */
export function bare(spec) {
  const out = new Map(spec);
  out.delete('spec_digest');
  return out;
}

/** Whether two holdings show the same. */
export const sameHeld = (a, b) => a.meta.active === b.meta.active && a.meta.variants.join() === b.meta.variants.join() && equal(a.base, b.base);
