import assert from "node:assert/strict";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { parsePlan, readPlan } from "../plan.mjs";
import { entry, privateDir, rawPlan } from "./fake.mjs";

test("a plan as the launcher writes it", (t) => {
  const file = join(privateDir(t), "plan.json");
  writeFileSync(file, JSON.stringify(rawPlan(["a", "b-2"], { npm: { npm_config_offline: null, x: "1" }, deadline_ms: 70 })), { mode: 0o600 });
  const plan = readPlan(file);
  assert.deepEqual(Object.keys(plan.agents), ["a", "b-2"]);
  assert.deepEqual([plan.larva, plan.deadlineMs, plan.npm], ["/opt/larva", 70, { npm_config_offline: null, x: "1" }]);
});

test("a plan that is not private, not ours, or no file", (t) => {
  const dir = privateDir(t);
  const write = (/** @type {string} */ name, mode = 0o600) => {
    const file = join(dir, name);
    writeFileSync(file, JSON.stringify(rawPlan(["a"])));
    chmodSync(file, mode);
    return file;
  };
  assert.throws(() => readPlan(write("group.json", 0o640)), /others may read/);
  assert.throws(() => readPlan(write("world.json", 0o602)), /others may read/);
  const good = write("good.json");
  assert.throws(() => readPlan(good, (process.getuid?.() ?? 0) + 1), /another user/);
  symlinkSync(good, join(dir, "link.json"));
  assert.throws(() => readPlan(join(dir, "link.json")), /ELOOP|symbolic/);
  mkdirSync(join(dir, "dir.json"));
  assert.throws(() => readPlan(join(dir, "dir.json")), /regular|EISDIR/);
  assert.throws(() => readPlan(join(dir, "none.json")), /ENOENT/);
  for (const path of [undefined, "", "plan.json", 7, {}]) assert.throws(() => readPlan(path), /without a plan/);
  chmodSync(dir, 0o755);
  assert.throws(() => readPlan(good), /others may read/);
});

test("shapes that no launcher writes", () => {
  const agent = rawPlan(["a"]).agents.a;
  /** @param {object} more */
  const withEntry = (more) => ({ agents: { a: { ...agent, entry: entry("a", more) } } });
  for (const [more, want] of /** @type {[object, RegExp][]} */ ([
    [{ version: 2 }, /version 2/],
    [{ version: undefined }, /version/],
    [{ larva: "larva" }, /absolute/],
    [{ larva: undefined }, /larva/],
    [{ env: { A: 1 } }, /env\.A/],
    [{ agents: [] }, /agents/],
    [{ agents: { "A b": agent } }, /no persona id/],
    [{ agents: { a: { ...agent, digest: "sha256:12" } } }, /digest/],
    [withEntry({ prompt: "[larva:b]" }), /token/],
    [withEntry({ prompt: "do as you like" }), /token/],
    [withEntry({ model: undefined }), /model/],
    [withEntry({ mode: undefined }), /mode/],
    [withEntry({ name: "b" }), /rename/],
    [withEntry({ permission: undefined }), /permission/],
    [withEntry({ permission: {} }), /begin/],
    [withEntry({ permission: { bash: "deny", "*": "deny" } }), /begin/],
    [withEntry({ permission: { "*": { "*": "deny" } } }), /begin/],
    [withEntry({ permission: { "*": "deny", bash: "allowed" } }), /no action/],
    [withEntry({ permission: { "*": "deny", bash: { ls: true } } }), /no action/],
    [{ npm: { a: 1 } }, /npm/],
    [{ native: "build" }, /native/],
    [{ policy: { paths: "x" } }, /policy/],
  ])) {
    assert.throws(() => parsePlan(JSON.stringify(rawPlan(["a"], more))), want, JSON.stringify(more));
  }
  for (const text of ["", "null", "[]", "7", "{"]) assert.throws(() => parsePlan(text));
});
