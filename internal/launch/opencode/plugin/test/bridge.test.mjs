import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { openBridge, Refused } from "../bridge.mjs";
import { helper, privateDir } from "./fake.mjs";

/** @param {import("node:test").TestContext} t @param {string} body @param {number} [deadlineMs] */
function open(t, body, deadlineMs = 10_000) {
  const dir = privateDir(t);
  const bridge = openBridge({ command: helper(dir, body), env: { PATH: "/usr/bin:/bin", DIR: dir, ONLY: "this" }, deadlineMs });
  // The bridge keeps nobody alive, so the tests have to.
  const alive = setInterval(() => {}, 1000);
  t.after(() => {
    clearInterval(alive);
    bridge.close();
  });
  return { bridge, dir };
}

test("answers find their questions, out of order and cut anywhere", async (t) => {
  const { bridge } = open(
    t,
    `if (q.op === "slow") state.slow = q.id;
     else { const line = JSON.stringify({ id: q.id, data: "ü" + q.x }) + "\\n"; const b = Buffer.from(line); process.stdout.write(b.subarray(0, 20)); process.stdout.write(b.subarray(20)); if (state.slow) say({ data: "late" }, state.slow); }`,
  );
  const slow = bridge.call("slow");
  assert.equal(await bridge.call("x", { x: 1 }), "ü1");
  assert.equal(await slow, "late");
  const many = await Promise.all(Array.from({ length: 50 }, (_, x) => bridge.call("x", { x })));
  assert.deepEqual(many, Array.from({ length: 50 }, (_, x) => `ü${x}`));
});

test("the helper gets __bridge and the plan's environment, nothing more", async (t) => {
  const { bridge } = open(t, `say({ data: { argv: process.argv.slice(2), names: Object.keys(process.env).filter((n) => !n.startsWith("__")).sort() } })`);
  assert.deepEqual(await bridge.call("env"), { argv: ["__bridge"], names: ["DIR", "ONLY", "PATH"] });
});

test("an error is an answer: with its code, and not asked again", async (t) => {
  const { bridge } = open(t, `state.n = (state.n ?? 0) + 1; if (q.op === "count") say({ data: state.n }); else say({ error: { code: "PERSONA_NOT_FOUND", message: "no" } })`);
  await assert.rejects(bridge.call("x"), (err) => err instanceof Refused && err.code === "PERSONA_NOT_FOUND" && err.message === "no");
  assert.equal(await bridge.call("count"), 2);
});

test("a helper that dies is started once more, and the question asked again", async (t) => {
  const { bridge, dir } = open(t, `if (!fs.existsSync(process.env.DIR + "/died")) { fs.writeFileSync(process.env.DIR + "/died", ""); process.exit(3); } say({ data: "back" })`);
  assert.equal(await bridge.call("x"), "back");
  assert.ok(existsSync(join(dir, "died")));
});

test("a helper that always dies is given up on, and tried anew by the next call", async (t) => {
  const { bridge, dir } = open(t, `fs.appendFileSync(process.env.DIR + "/starts", "x"); if (fs.existsSync(process.env.DIR + "/mended")) say({ data: "mended" }); else process.exit(1)`);
  await assert.rejects(bridge.call("x"), /helper ended \(1\)/);
  assert.equal(readFileSync(join(dir, "starts"), "utf8"), "xx");
  writeFileSync(join(dir, "mended"), "");
  assert.equal(await bridge.call("x"), "mended");
});

test("a helper that hangs: the call ends at the deadline, the next one gets a new helper", async (t) => {
  const { bridge } = open(t, `if (q.op === "hang") for (;;); else say({ data: process.pid })`, 600);
  // On a machine under load a start may take longer than the deadline.
  const pid = async () => {
    for (;;) {
      const got = await bridge.call("pid").catch(() => undefined);
      if (got !== undefined) return got;
    }
  };
  const first = await pid();
  await assert.rejects(bridge.call("hang"), /within 600 ms/);
  assert.notEqual(await pid(), first);
});

test("no JSON and no program", async (t) => {
  const { bridge } = open(t, `process.stdout.write("larva: hello\\n")`);
  await assert.rejects(bridge.call("x"), /no JSON/);
  const none = openBridge({ command: "/nonexistent/larva", env: {}, deadlineMs: 5000 });
  await assert.rejects(none.call("x"), /did not start|ENOENT/);
});

test("closing ends the helper and every call", async (t) => {
  const { bridge, dir } = open(t, `fs.writeFileSync(process.env.DIR + "/pid", String(process.pid)); if (q.op === "pid") say({ data: process.pid })`);
  const pid = await bridge.call("pid");
  const hanging = assert.rejects(bridge.call("hang"), /helper ended|does not listen|closed/);
  bridge.close();
  await hanging;
  await assert.rejects(bridge.call("pid"), /closed/);
  assert.equal(readFileSync(join(dir, "pid"), "utf8"), String(pid));
  assert.throws(() => process.kill(pid, 0), /ESRCH/);
});
