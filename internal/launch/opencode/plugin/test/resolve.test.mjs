import assert from "node:assert/strict";
import test from "node:test";

import { Refused } from "../bridge.mjs";
import { newResolver } from "../resolve.mjs";
import { digest, fakeBridge } from "./fake.mjs";

/** @param {string} id @param {string} prompt */
const answer = (id, prompt) => ({ id, digest: digest(prompt), prompt, params: { temperature: 0.5 } });

test("every request asks, and an edit is seen by the next one", async () => {
  let prompt = "one";
  const bridge = fakeBridge({ resolve: ({ persona }) => answer(persona, prompt) });
  const resolve = newResolver(bridge);
  assert.equal((await resolve("a")).prompt, "one");
  prompt = "two";
  assert.deepEqual(await resolve("a"), { id: "a", digest: digest("two"), prompt: "two", params: { temperature: 0.5 }, stale: false });
  assert.deepEqual(bridge.asked.map((q) => q.digest), [undefined, digest("one")]);
});

test("an unchanged persona is taken from before", async () => {
  const bridge = fakeBridge({ resolve: ({ persona, digest: d }) => (d ? { id: persona, digest: d, unchanged: true } : answer(persona, "one")) });
  const resolve = newResolver(bridge);
  const first = await resolve("a");
  assert.deepEqual(await resolve("a"), first);
});

test("one question at a time for an id, several for several", async () => {
  const bridge = fakeBridge({ resolve: async ({ persona }) => answer(persona, "p") });
  const resolve = newResolver(bridge);
  await Promise.all([resolve("a"), resolve("a"), resolve("b"), resolve("a")]);
  assert.deepEqual(bridge.asked.map((q) => q.persona), ["a", "b"]);
  await resolve("a");
  assert.equal(bridge.asked.length, 3);
});

test("without an answer the last known stands in, marked stale, until there is one", async () => {
  let fails = false;
  const resolve = newResolver(
    fakeBridge({
      resolve: ({ persona }) => {
        if (fails) throw new Error("no answer");
        return answer(persona, "p");
      },
    }),
  );
  await resolve("a");
  fails = true;
  assert.deepEqual([(await resolve("a")).stale, (await resolve("a")).prompt], [true, "p"]);
  await assert.rejects(resolve("b"), /persona b cannot be resolved: no answer/);
  fails = false;
  assert.equal((await resolve("a")).stale, false);
});

test("a deleted persona is gone, now and later", async () => {
  let err = /** @type {Error | undefined} */ (undefined);
  const resolve = newResolver(
    fakeBridge({
      resolve: ({ persona }) => {
        if (err) throw err;
        return answer(persona, "p");
      },
    }),
  );
  await resolve("a");
  err = new Refused("PERSONA_NOT_FOUND", "not there");
  await assert.rejects(resolve("a"), /not there/);
  err = new Error("helper died");
  await assert.rejects(resolve("a"), /helper died/, "what was known before the deletion does not come back");
});

test("an answer that is none", async () => {
  for (const bad of [undefined, {}, answer("b", "x"), { ...answer("a", "x"), prompt: "" }, { ...answer("a", "x"), digest: "sha256:1" }, { id: "a", digest: digest("x"), unchanged: true }]) {
    await assert.rejects(newResolver(fakeBridge({ resolve: () => bad }))("a"), /cannot be resolved/, JSON.stringify(bad));
  }
});
