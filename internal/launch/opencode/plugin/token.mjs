// The mark in an agent's prompt that stands for a persona, and its replacement.
// A mark counts only with this run's nonce behind it: the same letters in a
// prompt, in AGENTS.md or in a skill's description are text.

import { randomBytes } from "node:crypto";

/** What a placeholder looks like to whoever searches a request for one. */
const PLACEHOLDER = /\[larva:[^\]]*\]/;

/** @returns {string} a secret of one plugin instance, never sent anywhere */
export function newNonce() {
  return randomBytes(12).toString("hex");
}

/**
 * The true token: what OpenCode keeps as the agent's prompt until a request is made.
 * @param {string} id @param {string} nonce
 */
export function tokenFor(id, nonce) {
  return `[larva:${id}](${nonce})`;
}

/**
 * Takes the form of a placeholder from text that only looks like one.
 * @param {string} text
 */
export function breakUp(text) {
  return text.replaceAll("[larva:", "[ larva:");
}

/**
 * The persona that a request's system entries ask for: the true token that
 * begins an entry. undefined: none, as in title and compaction requests.
 * @param {unknown[]} system @param {string} nonce
 * @returns {string | undefined}
 */
export function selected(system, nonce) {
  for (const entry of system) {
    const found = typeof entry === "string" ? trueTokens(nonce, "^").exec(entry) : null;
    if (found) return found[1];
  }
  return undefined;
}

/**
 * Replaces, in place, every true token of `id` by `text`, and breaks up whatever
 * else looks like a token, in `text` too. Entries are edited and never added:
 * some services refuse a second system message. Throws when something that
 * looks like a token, or the nonce, is left.
 * @param {unknown[]} system @param {string} nonce
 * @param {string | undefined} id @param {string} text
 */
export function replaceTokens(system, nonce, id, text) {
  for (let i = 0; i < system.length; i++) {
    const entry = system[i];
    if (typeof entry !== "string") throw new Error("a system entry is not text");
    // Functions, because `$&` and the like in a persona's prompt are text.
    system[i] = breakUp(entry.replace(trueTokens(nonce, ""), (_, found) => (found === id ? text : `[larva:${found}]`)));
  }
  scan(system, nonce);
}

/**
 * Throws when a placeholder or the nonce is still there.
 * @param {unknown[]} system @param {string} nonce
 */
export function scan(system, nonce) {
  for (const entry of system) {
    if (PLACEHOLDER.test(String(entry)) || String(entry).includes(nonce)) throw new Error("a persona's placeholder is left in the request");
  }
}

/** @param {string} nonce @param {"" | "^"} anchor */
function trueTokens(nonce, anchor) {
  return new RegExp(`${anchor}\\[larva:([a-z0-9-]+)\\]\\(${nonce}\\)`, anchor ? "" : "g");
}

/**
 * A persona's prompt with the note that says which bytes it is.
 * @param {{id: string, digest: string, prompt: string, stale: boolean}} persona
 */
export function watermarked({ id, digest, prompt, stale }) {
  const short = digest.slice("sha256:".length, "sha256:".length + 6);
  return [
    prompt,
    "",
    `<!-- larva-spec: ${id}@${short}${stale ? " stale" : ""} -->`,
    `<larva-persona id="${id}" />`,
    `If you are asked which persona or agent you are, answer ${id}.`,
  ].join("\n");
}
