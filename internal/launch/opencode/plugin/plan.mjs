// The private plan of one run: which personas there are, what OpenCode's entry
// for each may say, and where the helper is. Written by the launcher.

import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";

/** @typedef {"allow" | "ask" | "deny"} Action */
/** @typedef {Action | Record<string, Action>} Rule one permission: an action, or actions by pattern, the last match wins */

/**
 * OpenCode's whole agent entry; prompt is exactly `[larva:ID]`.
 * @typedef {Record<string, any> & {prompt: string, model: string, mode: string, permission: Record<string, Rule>}} Entry
 */

/**
 * One persona as OpenCode gets it.
 * @typedef {object} PlannedAgent
 * @property {string} digest sha256:… of the persona when the run began
 * @property {Entry} entry
 * @property {Record<string, any>} params model_params when the run began
 */

/**
 * @typedef {object} Plan
 * @property {1} version
 * @property {string} larva absolute path of the helper's program
 * @property {Record<string, string>} env the helper's whole environment
 * @property {Record<string, PlannedAgent>} agents by persona id
 * @property {string[]} native ids that were left out because OpenCode has agents of that name
 * @property {Record<string, string | null>} npm environment variables set for OpenCode's own npm, with what was there before
 * @property {string[]} policies tool policy files, the project's and the user's
 * @property {number} deadlineMs how long the helper may take for one answer
 * @property {boolean} auto OpenCode answers every question with yes
 * @property {boolean} debug
 */

/** Larger plans are refused: 10,000 personas stay far below. */
const MAX_BYTES = 64 << 20;
const ID = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
const ACTIONS = new Set(["allow", "ask", "deny"]);

/**
 * Reads and checks the plan. Throws on anything that is not as the launcher
 * writes it: another owner, readable by others, a link, an unknown version, a
 * missing or mistyped field.
 * @param {unknown} path
 * @param {number | undefined} [uid] who must own it; undefined where the system has no owners
 * @returns {Plan}
 */
export function readPlan(path, uid = process.getuid?.()) {
  if (typeof path !== "string" || !isAbsolute(path)) throw new Error("the plugin was started without a plan");
  checkDirectory(dirname(path), uid);
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const info = fstatSync(fd);
    if (!info.isFile()) throw new Error(`${path}: not a regular file`);
    checkPrivate(path, info, uid, 0o077);
    if (info.size > MAX_BYTES) throw new Error(`${path}: ${info.size} bytes are no plan of ours`);
    return parsePlan(readFileSync(fd, "utf8"));
  } finally {
    closeSync(fd);
  }
}

/** @param {string} dir @param {number | undefined} uid */
function checkDirectory(dir, uid) {
  const info = lstatSync(dir);
  if (!info.isDirectory()) throw new Error(`${dir}: not a directory`);
  checkPrivate(dir, info, uid, 0o077);
}

/** @param {string} what @param {import("node:fs").Stats} info @param {number | undefined} uid @param {number} forbidden */
function checkPrivate(what, info, uid, forbidden) {
  if (uid === undefined) return; // Windows: the directory lies in the user's profile
  if (info.uid !== uid) throw new Error(`${what}: belongs to another user`);
  if (info.mode & forbidden) throw new Error(`${what}: others may read or write it`);
}

/**
 * @param {string} text
 * @returns {Plan}
 */
export function parsePlan(text) {
  const raw = record(JSON.parse(text), "plan");
  if (raw.version !== 1) throw new Error(`plan: version ${JSON.stringify(raw.version)} is not known`);
  const larva = string(raw.larva, "plan.larva");
  if (!isAbsolute(larva)) throw new Error("plan.larva: not an absolute path");
  /** @type {Record<string, PlannedAgent>} */
  const agents = {};
  for (const [id, agent] of Object.entries(record(raw.agents, "plan.agents"))) {
    if (!ID.test(id) || id.length > 128) throw new Error(`plan.agents: ${JSON.stringify(id)} is no persona id`);
    agents[id] = plannedAgent(id, agent);
  }
  return {
    version: 1,
    larva,
    env: strings(raw.env ?? {}, "plan.env"),
    agents,
    native: list(raw.native ?? [], "plan.native"),
    npm: strings(raw.npm ?? {}, "plan.npm", true),
    policies: list(record(raw.policy ?? {}, "plan.policy").paths ?? [], "plan.policy.paths"),
    deadlineMs: Number.isInteger(raw.deadline_ms) && raw.deadline_ms > 0 ? raw.deadline_ms : 15_000,
    auto: raw.auto === true,
    debug: raw.debug === true,
  };
}

/** @param {string} id @param {unknown} value @returns {PlannedAgent} */
function plannedAgent(id, value) {
  const where = `plan.agents.${id}`;
  const raw = record(value, where);
  if (!DIGEST.test(string(raw.digest, `${where}.digest`))) throw new Error(`${where}.digest: not a digest`);
  return {
    digest: raw.digest,
    entry: checkEntry(id, raw.entry, `${where}.entry`),
    params: record(raw.params ?? {}, `${where}.params`),
  };
}

/**
 * An agent entry as OpenCode takes it, or a throw.
 * @param {string} id @param {unknown} value @param {string} where
 * @returns {Entry}
 */
export function checkEntry(id, value, where) {
  const entry = record(value, where);
  if (entry.prompt !== `[larva:${id}]`) throw new Error(`${where}.prompt: not this persona's token`);
  string(entry.model, `${where}.model`);
  string(entry.mode, `${where}.mode`);
  if (entry.name !== undefined) throw new Error(`${where}.name: an entry may not rename itself`);
  permission(entry.permission, `${where}.permission`);
  return /** @type {Entry} */ (entry);
}

/**
 * OpenCode puts its defaults and the user's global rules before an agent's and
 * the last match wins: only "*" in front makes the entry say all there is.
 * @param {unknown} value @param {string} where
 */
function permission(value, where) {
  const rules = Object.entries(record(value, where));
  if (rules[0]?.[0] !== "*" || typeof rules[0][1] !== "string") throw new Error(`${where}: does not begin with "*"`);
  for (const [key, rule] of rules) {
    const actions = typeof rule === "string" ? [rule] : Object.values(record(rule, `${where}.${key}`));
    for (const action of actions) if (!ACTIONS.has(action)) throw new Error(`${where}.${key}: ${JSON.stringify(action)} is no action`);
  }
}

/** @param {unknown} value @param {string} where @returns {Record<string, any>} */
export function record(value, where) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${where}: not an object`);
  return value;
}

/** @param {unknown} value @param {string} where @returns {string} */
function string(value, where) {
  if (typeof value !== "string" || value === "") throw new Error(`${where}: not a string`);
  return value;
}

/** @param {unknown} value @param {string} where @returns {string[]} */
function list(value, where) {
  if (!Array.isArray(value) || value.some((v) => typeof v !== "string")) throw new Error(`${where}: not a list of strings`);
  return value;
}

/** @param {unknown} value @param {string} where @param {boolean} [nullable] @returns {Record<string, any>} */
function strings(value, where, nullable = false) {
  const all = record(value, where);
  for (const [key, v] of Object.entries(all)) {
    if (typeof v !== "string" && !(nullable && v === null)) throw new Error(`${where}.${key}: not a string`);
  }
  return all;
}
