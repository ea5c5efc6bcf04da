// What a persona is now. Every request asks the helper; what is kept saves only
// the sending of an unchanged prompt, and stands in, marked stale, while the
// helper cannot answer. A persona that was deleted is not stood in for.

import { Refused } from "./bridge.mjs";

/**
 * @typedef {object} Persona
 * @property {string} id
 * @property {string} digest
 * @property {string} prompt
 * @property {Record<string, any>} params model_params
 * @property {boolean} stale the last that was known, because there was no answer
 */

/** The refusals after which a persona's last known form must not be used. */
const GONE = new Set(["PERSONA_NOT_FOUND"]);

/**
 * @param {{call: (op: string, fields: Record<string, unknown>) => Promise<any>}} bridge
 * @returns {(id: string) => Promise<Persona>} rejects when the persona cannot be had
 */
export function newResolver(bridge) {
  /** @type {Map<string, Persona>} */
  const known = new Map();
  /** @type {Map<string, Promise<Persona>>} */
  const inFlight = new Map();

  /** @param {string} id @returns {Promise<Persona>} */
  async function resolve(id) {
    const last = known.get(id);
    try {
      const data = await bridge.call("resolve", { persona: id, digest: last?.digest });
      const now = last && data?.unchanged === true && data.digest === last.digest ? last : persona(id, data);
      known.set(id, now);
      return now;
    } catch (err) {
      if (err instanceof Refused && GONE.has(err.code)) known.delete(id);
      else if (last) return { ...last, stale: true };
      throw new Error(`persona ${id} cannot be resolved: ${/** @type {Error} */ (err).message}`);
    }
  }

  return (id) => {
    let running = inFlight.get(id);
    if (!running) {
      running = resolve(id).finally(() => inFlight.delete(id));
      inFlight.set(id, running);
    }
    return running;
  };
}

/** @param {string} id @param {any} data @returns {Persona} */
function persona(id, data) {
  if (data?.id !== id) throw new Error("the answer is about another persona");
  if (typeof data.prompt !== "string" || data.prompt === "") throw new Error("the answer has no prompt");
  if (!/^sha256:[0-9a-f]{64}$/.test(data.digest)) throw new Error("the answer has no digest");
  return { id, digest: data.digest, prompt: data.prompt, params: data.params ?? {}, stale: false };
}
