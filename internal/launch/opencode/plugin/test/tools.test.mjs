import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { policyFiles, policyRefusal } from "../policy.mjs";
import { toolGate } from "../tools.mjs";
import { fakeBridge, privateDir } from "./fake.mjs";

/**
 * @param {object} [given]
 * @param {string[]} [given.chain] @param {any} [given.verdict] @param {string[]} [given.policies] @param {Record<string, string>} [given.parents] @param {string} [given.root]
 */
function gate(given = {}) {
  const { chain, verdict, policies, parents, root } = { chain: ["a"], root: "/p", verdict: { behavior: "allow" }, policies: [], parents: /** @type {Record<string, string>} */ ({}), ...given };
  const bridge = fakeBridge({
    judge: (q) => {
      if (verdict instanceof Error) throw verdict;
      return typeof verdict === "function" ? verdict(q) : verdict;
    },
  });
  const sessions = {
    chain: async () => chain,
    parent: async (/** @type {string} */ id) => {
      if (!parents[id]) throw new Error("none");
      return parents[id];
    },
  };
  const run = toolGate({ bridge, sessions, isPersona: (id) => id !== "build" && id !== "general", policies, cwd: "/p", root });
  return { bridge, run: (/** @type {string} */ tool, args = {}) => run({ tool, sessionID: "m" }, { args }) };
}

test("a verdict decides, and anything but allow refuses", async () => {
  await gate().run("bash", { command: "ls" });
  await gate({ verdict: { behavior: "ask", dialog: true } }).run("bash");
  for (const [verdict, want] of /** @type {[any, RegExp][]} */ ([
    [{ behavior: "deny", reason: "too much" }, /larva: refused: too much/],
    [{ behavior: "ask", reason: "undeclared" }, /undeclared/],
    [{ behavior: "ask", dialog: "yes", reason: "r" }, /refused: r/],
    [{ behavior: "allowed" }, /capabilities/],
    [{}, /capabilities/],
    [undefined, /capabilities/],
    [null, /capabilities/],
    [new Error("the helper ended"), /cannot be judged: the helper ended/],
  ])) {
    await assert.rejects(gate({ verdict }).run("bash"), want, JSON.stringify(verdict));
  }
});

test("the judge gets the whole chain, the tool as it is and the directory", async () => {
  const g = gate({ chain: ["general", "a"] });
  await g.run("srv_tool", { x: [1] });
  assert.deepEqual(g.bridge.asked, [{ op: "judge", chain: ["general", "a"], personas: ["a"], host: "opencode", tool: "srv_tool", args: { x: [1] }, cwd: "/p" }]);
});

test("a session without a persona is OpenCode's own business", async () => {
  const g = gate({ chain: ["build"], verdict: { behavior: "deny" } });
  await g.run("bash");
  assert.deepEqual(g.bridge.asked, []);
});

test("a task goes on in a child of its own session only", async () => {
  const g = gate({ parents: { mine: "m", other: "elsewhere" } });
  for (const args of [{ subagent_type: "b" }, { subagent_type: "b", task_id: "" }, { subagent_type: "b", task_id: "mine" }]) await g.run("task", args);
  for (const id of ["other", "unknown", 7]) await assert.rejects(g.run("task", { subagent_type: "b", task_id: id }), /no task of this session/);
});

test("files that a task's prompt attaches are judged as reads, of the child and all above it", async (t) => {
  const dir = privateDir(t);
  for (const name of ["secret", "a.b", "x"]) writeFileSync(join(dir, name), "");
  writeFileSync(join(dir, ".env"), "");
  for (const [prompt, read] of /** @type {[any, string[]][]} */ ([
    ["see @secret.", ["secret"]],
    ["@./a.b, (@none) me@x `@x`", ["a.b", "x"]],
    ["@.env @sub/../secret", [".env", "secret"]],
    [`@${dir}/secret`, ["secret"]],
    ["@a.b.c.", ["a.b"]],
    ["nothing @ all", []],
    [undefined, []],
  ])) {
    const g = gate({ chain: ["general", "a"], root: dir, verdict: (/** @type {any} */ q) => (q.tool === "read" ? { behavior: "ask", dialog: true, reason: "not yours" } : { behavior: "allow" }) });
    const run = g.run("task", { subagent_type: "b", prompt });
    if (!read.length) await run;
    else await assert.rejects(run, /not yours/, prompt);
    const fine = gate({ chain: ["general", "a"], root: dir });
    await fine.run("task", { subagent_type: "b", prompt });
    const reads = fine.bridge.asked.filter((q) => q.tool === "read");
    assert.deepEqual(reads.map((q) => q.args.filePath).sort(), read.map((name) => join(dir, name)).sort(), prompt);
    for (const q of reads) assert.deepEqual(q.chain, ["b", "general", "a"]);
  }
});

test("policy files: deny, allow inside an entry, patterns, both files", (t) => {
  const dir = privateDir(t);
  const user = join(dir, "user.json");
  mkdirSync(join(dir, ".opencode"));
  const project = join(dir, ".opencode", "tool-policy.json");
  writeFileSync(user, JSON.stringify({ agents: { a: { deny: ["web*", "b.sh"], allow: ["webfetch"] }, b: { deny: ["*"] } } }));
  writeFileSync(project, JSON.stringify({ $schema: "x", agents: { a: { deny: ["task"], allow: ["*search"] } } }));
  const files = policyFiles([user], [dir, dir]);
  assert.deepEqual(files, [user, project]);
  for (const [personas, tool, refused] of /** @type {[string[], string, boolean][]} */ ([
    [["a"], "read", false],
    [["a"], "websearch", true], // the project's allow does not lift the user's deny
    [["a"], "webfetch", false],
    [["a"], "task", true],
    [["a"], "bxsh", false],
    [["a"], "b.sh", true],
    [["c"], "websearch", false],
    [["c", "b"], "read", true], // a parent's policy holds in its children
    [["constructor", "__proto__"], "read", false],
  ])) {
    assert.equal(policyRefusal(files, personas, tool) !== undefined, refused, `${personas} ${tool}`);
  }
});

test("a policy file that cannot be understood refuses every tool", async (t) => {
  const dir = privateDir(t);
  const file = join(dir, "policy.json");
  for (const text of ["", "{", "[]", "null", '{"agents":[]}', '{"agents":{"a":{"denny":["x"]}}}', '{"agents":{"z":{"deny":"x"}}}', '{"agents":{"z":{"deny":[""]}}}', '{"agent":{}}', '{"agents":{"z":null}}']) {
    writeFileSync(file, text);
    await assert.rejects(gate({ policies: [file] }).run("read"), /policy\.json.*mended/, text);
    await gate({ chain: ["build"], policies: [file] }).run("read");
  }
  writeFileSync(file, '{"agents":{}}');
  await gate({ policies: [file] }).run("read");
  await assert.rejects(gate({ policies: [dir] }).run("read"), /mended/, "a directory is a file that cannot be read");
  await gate({ policies: [join(dir, "none.json"), join(file, "below")] }).run("read");
});
