// What the tests stand in for: OpenCode's side of a plugin, and larva's helper.

import { createHash } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** @param {string} text */
export const digest = (text) => "sha256:" + createHash("sha256").update(text).digest("hex");

/** An agent entry as the launcher plans it. @param {string} id @param {object} [more] */
export const entry = (id, more = {}) => ({
  description: `About ${id}.`,
  mode: "all",
  prompt: `[larva:${id}]`,
  model: "mock/mock-1",
  permission: { "*": "deny", read: "allow", bash: { "*": "deny", "git status*": "allow" } },
  ...more,
});

/** A plan file's content. @param {string[]} ids @param {object} [more] */
export const rawPlan = (ids, more = {}) => ({
  version: 1,
  larva: "/opt/larva",
  env: { PATH: "/usr/bin:/bin" },
  agents: Object.fromEntries(ids.map((id) => [id, { digest: digest(id), description: `About ${id}.`, entry: entry(id), params: {}, canSpawn: true }])),
  native: [],
  npm: {},
  policy: { paths: [] },
  debug: false,
  ...more,
});

/** A private directory that is gone after the test. @param {import("node:test").TestContext} t */
export function privateDir(t) {
  const dir = mkdtempSync(join(tmpdir(), "larva-plugin-"));
  chmodSync(dir, 0o700);
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * A program that answers like `larva __bridge`. The body sees `q`, one question,
 * `say(answer)`, `fs` and `state`, an object for its own use.
 * @param {string} dir @param {string} body
 */
export function helper(dir, body) {
  const file = join(dir, "helper.mjs");
  writeFileSync(
    file,
    `#!${process.execPath}
import fs from "node:fs";
import readline from "node:readline";
const state = {};
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const q = JSON.parse(line);
  const say = (answer, id = q.id) => process.stdout.write(JSON.stringify({ id, ...answer }) + "\\n");
  ${body}
});
`,
    { mode: 0o700 },
  );
  return file;
}

/**
 * A bridge within this process: one function an operation.
 * @param {Record<string, (fields: any) => any>} ops
 */
export function fakeBridge(ops) {
  /** @type {any[]} */
  const asked = [];
  return {
    asked,
    async call(/** @type {string} */ op, /** @type {any} */ fields) {
      asked.push({ op, ...fields });
      return ops[op](fields);
    },
    close() {},
  };
}

/**
 * OpenCode as far as the plugin sees it: sessions, and agents made from its
 * configuration as 1.18.33 makes them.
 * @param {string} dir
 */
export function fakeHost(dir) {
  const defaults = [
    { permission: "*", pattern: "*", action: "allow" },
    { permission: "external_directory", pattern: "*", action: "ask" },
  ];
  const own = { permission: "external_directory", pattern: `${dir}/tool-output/*`, action: "allow" };
  const host = {
    directory: dir,
    worktree: dir,
    /** @type {any} */ config: {},
    /** @type {Record<string, any>} */ sessions: {},
    /** @type {string[]} */ toasts: [],
    agents: () =>
      Object.entries(host.config.agent ?? {}).map(([key, a]) => ({
        name: a.name ?? key,
        mode: a.mode ?? "all",
        prompt: a.prompt,
        options: a.options ?? {},
        model: a.model && { providerID: a.model.split("/")[0], modelID: a.model.split("/").slice(1).join("/") },
        permission: [...defaults, ...flat(host.config.permission ?? {}), ...flat(a.permission ?? {}), own],
      })),
    client: {
      app: { agents: async () => ({ data: host.agents() }) },
      session: { get: async (/** @type {any} */ { path }) => (host.sessions[path.id] ? { data: host.sessions[path.id] } : { error: "none" }) },
      tui: { showToast: async (/** @type {any} */ { body }) => void host.toasts.push(body.message) },
    },
  };
  return host;
}

/** @param {Record<string, any>} permission */
const flat = (permission) =>
  Object.entries(permission).flatMap(([key, rule]) =>
    (typeof rule === "string" ? [["*", rule]] : Object.entries(rule)).map(([pattern, action]) => ({ permission: key, pattern, action })),
  );
