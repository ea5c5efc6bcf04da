// Files that a task's prompt would attach: OpenCode reads what stands behind an @
// into the new session, and asks nobody. Each is judged as the read that it is.

import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/**
 * The paths that exist among what a prompt mentions, absolute. A name may end
 * before any of its dots, as at the end of a sentence: all that exist count.
 * @param {unknown} prompt @param {string} root where relative ones start
 * @returns {string[]}
 */
export function mentioned(prompt, root) {
  if (typeof prompt !== "string") return [];
  /** @type {Set<string>} */
  const found = new Set();
  for (const [, run] of prompt.matchAll(/@([^\s`,]+)/g)) {
    for (let end = run.length; end > 0; end = run.lastIndexOf(".", end - 1)) {
      const path = absolute(run.slice(0, end), root);
      if (exists(path)) found.add(path);
    }
  }
  return [...found];
}

/** @param {string} name @param {string} root */
function absolute(name, root) {
  if (name.startsWith("~/")) return join(homedir(), name.slice(2));
  return isAbsolute(name) ? name : resolve(root, name);
}

/** @param {string} path */
function exists(path) {
  try {
    statSync(path);
    return true;
  } catch (err) {
    // What cannot be looked at may be there.
    return !["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(/** @type {NodeJS.ErrnoException} */ (err).code ?? "");
  }
}
