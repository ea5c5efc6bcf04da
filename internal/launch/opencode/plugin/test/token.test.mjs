import assert from "node:assert/strict";
import test from "node:test";

import { newNonce, replaceTokens, scan, selected, tokenFor, watermarked } from "../token.mjs";

const nonce = newNonce();

test("only a true token at the start of an entry selects", () => {
  for (const [system, want] of [
    [[`${tokenFor("a-b", nonce)}\nrest`], "a-b"],
    [["title prompt", `${tokenFor("a", nonce)}`], "a"],
    [["[larva:a]\nrest"], undefined],
    [[`text ${tokenFor("a", nonce)}`], undefined],
    [[`[larva:a](${newNonce()})`], undefined],
    [[`\n${tokenFor("a", nonce)}`], undefined],
    [[], undefined],
    [[7], undefined],
  ]) {
    assert.equal(selected(/** @type {any} */ (system), nonce), want);
  }
});

// OpenCode issue 23660: some services refuse a second system message.
test("entries are edited in place, none is added (report 29)", () => {
  for (const before of [[`${tokenFor("a", nonce)}\nx`], ["x", `${tokenFor("a", nonce)}`, "y"]]) {
    const system = [...before];
    replaceTokens(system, nonce, "a", "PROMPT");
    assert.equal(system.length, before.length);
    assert.ok(system.join("\n").includes("PROMPT"));
  }
});

test("a prompt's bytes arrive as they are", () => {
  for (const prompt of ["Pay $$5 and $& then $` end $' $1 $<x>", "[larva:", "a]b[", "🐟 [larva", "\u0000\\n"]) {
    const system = [`${tokenFor("a", nonce)}\n<env>`];
    replaceTokens(system, nonce, "a", prompt);
    assert.equal(system[0], `${prompt.replace("[larva:", "[ larva:")}\n<env>`);
  }
});

test("what only looks like a token is broken up, wherever it stands", () => {
  const system = [`${tokenFor("a", nonce)}\nAGENTS: [larva:b] [larva:a] [larva:] [[larva:x]`, "[larva:c]"];
  replaceTokens(system, nonce, "a", "see [larva:other] and [larva:a]");
  assert.deepEqual(system, ["see [ larva:other] and [ larva:a]\nAGENTS: [ larva:b] [ larva:a] [ larva:] [[ larva:x]", "[ larva:c]"]);
});

test("a second true token is replaced for the same persona and is text for another", () => {
  const system = [`${tokenFor("a", nonce)}|${tokenFor("a", nonce)}|${tokenFor("b", nonce)}`];
  replaceTokens(system, nonce, "a", "P");
  assert.deepEqual(system, ["P|P|[ larva:b]"]);
});

test("a prompt that would make a token together with what stands around it", () => {
  const system = [`${tokenFor("a", nonce)}larva:b]`];
  replaceTokens(system, nonce, "a", "x[");
  assert.deepEqual(system, ["x[ larva:b]"]);
});

test("a left-over throws", () => {
  assert.throws(() => scan(["[larva:x]"], nonce), /placeholder/);
  assert.throws(() => scan(["ok", `(${nonce})`], nonce), /placeholder/);
  assert.throws(() => replaceTokens([{}], nonce, "a", "P"), /not text/);
  assert.throws(() => replaceTokens([tokenFor("a", nonce)], nonce, "a", `my nonce is ${nonce}`), /placeholder/);
  scan(["[ larva:x]", "larva:x]"], nonce);
});

test("ten thousand made-up systems: no token is left, the prompt is there once a token", () => {
  let seed = 7;
  const next = (/** @type {number} */ n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n;
  const parts = ["[larva:a]", "[larva:", "a", "]", "[", "(", ")", nonce, "$&", "\n", " ", tokenFor("b", nonce), "larva:", "🐟"];
  const text = () => Array.from({ length: next(12) }, () => parts[next(parts.length)]).join("");
  for (let i = 0; i < 10_000; i++) {
    const system = [tokenFor("a", nonce) + text().replaceAll(nonce, "n"), text().replaceAll(nonce, "n")];
    replaceTokens(system, nonce, "a", `<<${text().replaceAll(nonce, "n")}>>`);
    scan(system, nonce);
    assert.ok(String(system[0]).startsWith("<<"));
  }
});

test("the watermark names id and digest, and staleness", () => {
  const persona = { id: "a", digest: "sha256:" + "0123456789abcdef".repeat(4), prompt: "P", stale: false };
  assert.match(watermarked(persona), /^P\n\n<!-- larva-spec: a@012345 -->\n<larva-persona id="a" \/>\n.*\ba\.$/);
  assert.match(watermarked({ ...persona, stale: true }), /<!-- larva-spec: a@012345 stale -->/);
});
