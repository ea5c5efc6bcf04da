import assert from "node:assert/strict";
import test from "node:test";

import { newSessions } from "../sessions.mjs";

/** @param {Record<string, {parentID?: string, agent?: string}>} [stored] */
function sessions(stored = {}) {
  /** @type {string[]} */
  const looked = [];
  const s = newSessions(async (id) => {
    looked.push(id);
    if (!stored[id]) throw new Error(`no session ${id}`);
    return stored[id];
  });
  return { s, looked };
}

// OpenCode issue 17637: a transform is not told the agent. The agent comes from
// the request's parameters, and from the message as the second source.
test("the agent of a session is that of its newest request, and of its newest message (report 28)", async () => {
  const { s } = sessions();
  s.created({ id: "m" });
  s.message("m", "a");
  assert.deepEqual(await s.chain("m"), ["a"]);
  s.request("m", "a");
  s.request("m", "title");
  s.request("m", "compaction");
  s.request("m", "summary");
  assert.deepEqual(await s.chain("m"), ["a"]);
  s.message("m", "build");
  assert.deepEqual(await s.chain("m"), ["a", "build"], "calls of the request before the change are still a's");
  s.request("m", "build");
  assert.deepEqual(await s.chain("m"), ["build"]);
});

test("a child stands under its parents, and under who they were when it was made", async () => {
  const { s, looked } = sessions();
  s.created({ id: "m" });
  s.message("m", "a");
  s.created({ id: "c", parentID: "m" });
  s.message("c", "general");
  s.created({ id: "g", parentID: "c" });
  s.message("g", "b");
  assert.deepEqual(await s.chain("g"), ["b", "general", "a"]);
  s.message("m", "build");
  s.request("m", "build");
  assert.deepEqual(await s.chain("c"), ["general", "a", "build"]);
  assert.deepEqual(looked, [], "nothing had to be looked up");
  assert.deepEqual([await s.parent("g"), await s.parent("m")], ["c", null]);
});

test("sessions of an earlier process are looked up once", async () => {
  const { s, looked } = sessions({ m: { agent: "a" }, c: { agent: "b", parentID: "m" } });
  s.message("c", "c-agent");
  assert.deepEqual(await s.chain("c"), ["c-agent", "a"]);
  assert.deepEqual(await s.chain("c"), ["c-agent", "a"]);
  assert.deepEqual(looked, ["c", "m"]);
});

test("a child whose making was not heard of yet", async () => {
  const { s } = sessions({ c: { agent: "general", parentID: "m" }, m: { agent: "a" } });
  s.message("m", "a");
  s.message("c", "general");
  assert.deepEqual(await s.chain("c"), ["general", "a"]);
  s.created({ id: "c", parentID: "m" });
  assert.deepEqual(await s.chain("c"), ["general", "a"]);
});

test("what cannot be found out is no answer", async () => {
  const { s } = sessions({ c: { parentID: "gone", agent: "b" }, x: { agent: "a", parentID: "y" }, y: { agent: "b", parentID: "x" }, nobody: {} });
  await assert.rejects(s.chain("unknown"), /no session unknown/);
  await assert.rejects(s.chain("c"), /no session gone/);
  await assert.rejects(s.chain("x"), /circle/);
  await assert.rejects(s.chain("nobody"), /not known/);
  s.created({ id: "m" });
  s.message("m", "a");
  s.deleted("m");
  await assert.rejects(s.chain("m"), /no session m/);
});
