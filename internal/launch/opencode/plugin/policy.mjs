// The tool policy files: which tools a persona may not use in OpenCode, whatever
// its capabilities. Read anew for every call; a file that cannot be understood
// refuses every tool. {"agents": {ID: {"deny": ["web*"], "allow": ["webfetch"]}}}

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { wildcard } from "./rules.mjs";

/**
 * The files that count. Each can only deny: a project's cannot lift what the
 * user's denies.
 * @param {string[]} planned @param {string[]} projects directories of the project
 */
export function policyFiles(planned, projects) {
  return [...new Set([...planned, ...projects.map((dir) => join(dir, ".opencode", "tool-policy.json"))])];
}

/**
 * @param {string[]} files @param {string[]} personas @param {string} tool
 * @returns {string | undefined} why the tool is refused
 */
export function policyRefusal(files, personas, tool) {
  for (const file of files) {
    const text = read(file);
    if (text === undefined) continue;
    let agents;
    try {
      agents = parse(text);
    } catch (err) {
      return `${file}: ${/** @type {Error} */ (err).message}; no tool runs until it is mended`;
    }
    for (const id of personas) {
      const rule = Object.hasOwn(agents, id) ? agents[id] : undefined;
      if (!rule) continue;
      /** @param {string[]} [patterns] */
      const names = (patterns = []) => patterns.some((p) => wildcard(p).test(tool));
      if (names(rule.deny) && !names(rule.allow)) return `${file}: ${tool} is denied to ${id}`;
    }
  }
  return undefined;
}

/** @param {string} file @returns {string | undefined} undefined: there is none */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch (err) {
    const code = /** @type {NodeJS.ErrnoException} */ (err).code;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return ""; // there is one that cannot be read: no JSON, so it refuses
  }
}

/**
 * @param {string} text
 * @returns {Record<string, {deny?: string[], allow?: string[]}>}
 */
function parse(text) {
  const top = keys(JSON.parse(text), ["agents", "$schema"], "the file");
  const agents = object(top.agents ?? {}, "agents");
  for (const [id, rule] of Object.entries(agents)) {
    for (const [key, patterns] of Object.entries(keys(rule, ["deny", "allow"], `agents.${id}`))) {
      const fine = Array.isArray(patterns) && patterns.every((p) => typeof p === "string" && p !== "");
      if (!fine) throw new Error(`agents.${id}.${key} is not a list of tool names`);
    }
  }
  return agents;
}

/** @param {unknown} value @param {string[]} known @param {string} where */
function keys(value, known, where) {
  const all = object(value, where);
  for (const key of Object.keys(all)) if (!known.includes(key)) throw new Error(`${where} has an unknown key ${JSON.stringify(key)}`);
  return all;
}

/** @param {unknown} value @param {string} where @returns {Record<string, any>} */
function object(value, where) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error(`${where} is not an object`);
  return value;
}
