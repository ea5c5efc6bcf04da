// Placeholder agents become real here, in OpenCode's config hook: the only place
// where a token is written, so that none exists without a live plugin.

import { isDeepStrictEqual } from "node:util";

import { flatten } from "./rules.mjs";
import { breakUp, tokenFor } from "./token.mjs";

/** What an agent is told that is never meant to be asked. */
export const REFUSAL = "This persona could not be loaded. Do nothing, and say that larva's plugin is not running.";

/** The provider of placeholder agents: it does not exist. */
const GUARD = "larva-guard/";

/**
 * Puts every planned agent in, whole: what a project's agent of the same name
 * says beside it is gone. All entries are made before the first is put in.
 * @param {Record<string, any>} config OpenCode's merged configuration, changed in place
 * @param {import("./plan.mjs").Plan} plan
 * @param {string} nonce
 */
export function makeReal(config, plan, nonce) {
  const made = Object.entries(plan.agents).map(([id, agent]) => /** @type {const} */ ([id, realEntry(id, agent, nonce)]));
  config.agent ??= {};
  freeNames(config.agent, new Set(Object.keys(plan.agents)));
  for (const [id, entry] of made) {
    config.agent[id] = entry;
    if (!isDeepStrictEqual(config.agent[id], entry)) throw new Error(`agent ${id} cannot be set`);
  }
}

/** @param {string} id @param {import("./plan.mjs").PlannedAgent} agent @param {string} nonce */
function realEntry(id, agent, nonce) {
  const entry = structuredClone(agent.entry);
  entry.prompt = tokenFor(id, nonce);
  // Descriptions stand in other agents' task tool, which no transform sees.
  if (typeof entry.description === "string") entry.description = breakUp(entry.description);
  return entry;
}

/**
 * Agents of other names may not call themselves by a persona's.
 * @param {Record<string, any>} agents @param {Set<string>} ids
 */
function freeNames(agents, ids) {
  for (const [key, entry] of Object.entries(agents)) {
    if (!ids.has(key) && ids.has(entry?.name)) delete entry.name;
  }
}

/**
 * After a failed start: every agent that is ours can do nothing, and has a
 * token, so that the first request of one is refused with the reason.
 * @param {Record<string, any>} config
 * @param {Iterable<string>} ids as far as they are known
 * @param {string} nonce
 */
export function makeInert(config, ids, nonce) {
  config.agent ??= {};
  const ours = new Set(ids);
  for (const [id, entry] of Object.entries(config.agent)) {
    if (typeof entry?.model === "string" && entry.model.startsWith(GUARD)) ours.add(id);
  }
  for (const id of ours) {
    config.agent[id] = { description: REFUSAL, mode: "all", prompt: tokenFor(id, nonce), permission: { "*": "deny" }, options: {} };
  }
}

/**
 * Compares what OpenCode made of the entries with the plan. What comes after
 * ours (another plugin's config hook, a managed configuration) could widen an
 * agent; rules count as equal when ours are the last word.
 * @param {unknown} effective what OpenCode's list of agents says
 * @param {import("./plan.mjs").Plan} plan
 * @param {string} nonce
 */
export function checkEffective(effective, plan, nonce) {
  if (!Array.isArray(effective)) throw new Error("OpenCode does not list its agents");
  const wrong = [];
  for (const [id, agent] of Object.entries(plan.agents)) {
    const found = effective.filter((a) => a?.name === id);
    const why = found.length === 1 ? difference(found[0], realEntry(id, agent, nonce)) : `${found.length} agents have that name`;
    if (why) wrong.push(`${id}: ${why}`);
  }
  if (wrong.length) throw new Error(`OpenCode's agents are not as planned: ${wrong.slice(0, 3).join("; ")}${wrong.length > 3 ? "; …" : ""}`);
}

/** @param {any} found @param {Record<string, any>} entry @returns {string | undefined} */
function difference(found, entry) {
  if (found.prompt !== entry.prompt) return "its prompt was replaced";
  if (found.mode !== entry.mode) return `its mode is ${found.mode}`;
  if (`${found.model?.providerID}/${found.model?.modelID}` !== entry.model) return "its model was replaced";
  if (!isDeepStrictEqual(found.options ?? {}, entry.options ?? {})) return "it has options that nobody wrote";
  return rulesAfter(found.permission, flatten(entry.permission));
}

/**
 * @param {unknown} effective @param {import("./rules.mjs").Flat[]} ours
 * @returns {string | undefined}
 */
function rulesAfter(effective, ours) {
  if (!Array.isArray(effective)) return "it has no rules";
  const rules = effective.map(({ permission, pattern, action }) => ({ permission, pattern, action }));
  /** @param {import("./rules.mjs").Flat[]} all */
  const endsInOurs = (all) => ours.length <= all.length && isDeepStrictEqual(all.slice(all.length - ours.length), ours);
  // OpenCode adds one rule of its own: an agent may read what its tools cut off.
  const last = rules.at(-1);
  const own = last?.permission === "external_directory" && last.action === "allow" && /[/\\]tool-output[/\\]\*$/.test(last.pattern);
  return endsInOurs(rules) || (own && endsInOurs(rules.slice(0, -1))) ? undefined : "its rules were changed";
}
