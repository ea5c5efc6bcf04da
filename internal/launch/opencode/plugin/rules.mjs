// OpenCode's permission rules: one ordered list, of which the last match decides.

import { homedir } from "node:os";

/** @typedef {{permission: string, pattern: string, action: string}} Flat */

/**
 * An entry's permission as the list that OpenCode makes of it.
 * @param {Record<string, import("./plan.mjs").Rule>} permission
 * @param {string} [home] what ~ and $HOME at the start of a pattern stand for
 * @returns {Flat[]}
 */
export function flatten(permission, home = homedir()) {
  return Object.entries(permission).flatMap(([key, rule]) =>
    typeof rule === "string"
      ? [{ permission: key, pattern: "*", action: rule }]
      : Object.entries(rule).map(([pattern, action]) => ({ permission: key, pattern: expand(pattern, home), action })),
  );
}

/** @param {string} pattern @param {string} home */
function expand(pattern, home) {
  for (const sign of ["~", "$HOME"]) {
    if (pattern === sign) return home;
    if (pattern.startsWith(`${sign}/`)) return home + pattern.slice(sign.length);
  }
  return pattern;
}

/**
 * A pattern in which * stands for anything.
 * @param {string} pattern
 */
export function wildcard(pattern) {
  return new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`, "s");
}
