import assert from "node:assert/strict";
import test from "node:test";

import { checkEffective, makeInert, makeReal } from "../agents.mjs";
import { parsePlan } from "../plan.mjs";
import { entry, fakeHost, rawPlan } from "./fake.mjs";

const nonce = "0123456789";
const plan = parsePlan(JSON.stringify(rawPlan(["a", "b"])));

test("an entry is replaced whole, whatever a project says beside it", () => {
  /** @type {any} */
  const config = {
    agent: {
      a: { model: "evil/x", tools: { bash: true }, permission: { bash: "allow" }, prompt: "p", options: { foo: 1 }, name: "b", temperature: 2, steps: 99, disable: true },
      other: { prompt: "mine", name: "a" },
      build: { temperature: 0.1 },
    },
  };
  makeReal(config, plan, nonce);
  assert.deepEqual(config.agent.a, entry("a", { prompt: `[larva:a](${nonce})` }));
  assert.deepEqual(config.agent.b, entry("b", { prompt: `[larva:b](${nonce})` }));
  assert.deepEqual(config.agent.other, { prompt: "mine" }, "a name that is a persona's is taken away");
  assert.deepEqual(config.agent.build, { temperature: 0.1 });
  assert.deepEqual(Object.keys(config.agent.a.permission), ["*", "read", "bash"], "the order of rules is kept");
});

test("a description cannot carry a token into another agent's task tool", () => {
  const p = parsePlan(JSON.stringify(rawPlan(["a"])));
  p.agents.a.entry.description = "like [larva:b]";
  const config = /** @type {any} */ ({});
  makeReal(config, p, nonce);
  assert.equal(config.agent.a.description, "like [ larva:b]");
});

test("an entry that cannot be set is an error", () => {
  const agent = Object.defineProperty({}, "a", { get: () => ({ permission: { "*": "allow" } }), set() {} });
  assert.throws(() => makeReal({ agent }, plan, nonce), /cannot be set/);
  assert.throws(() => makeReal({ agent: Object.freeze({}) }, plan, nonce));
});

test("after a failure what is ours can do nothing", () => {
  const config = /** @type {any} */ ({ agent: { a: { permission: { bash: "allow" } }, g: { model: "larva-guard/blocked", tools: { bash: true } }, mine: { model: "mock/x" } } });
  makeInert(config, ["a", "b"], nonce);
  for (const id of ["a", "b", "g"]) {
    assert.deepEqual(config.agent[id].permission, { "*": "deny" });
    assert.equal(config.agent[id].prompt, `[larva:${id}](${nonce})`);
    assert.equal(config.agent[id].tools, undefined);
  }
  assert.deepEqual(config.agent.mine, { model: "mock/x" });
});

/** What OpenCode lists after the config hook and `then`. @param {(config: any) => void} then */
function effective(then) {
  const host = fakeHost("/d");
  host.config = { permission: { bash: "allow", "*": "allow" }, agent: { build: {} } };
  makeReal(host.config, plan, nonce);
  then(host.config);
  return host.agents();
}

test("agents as planned pass, the user's global rules before them included", () => {
  checkEffective(effective(() => {}), plan, nonce);
});

test("rules that end in OpenCode's own shape are not mistaken for it", () => {
  const p = parsePlan(JSON.stringify(rawPlan(["a"])));
  p.agents.a.entry.permission = { "*": "deny", external_directory: { "/d/tool-output/*": "allow" } };
  const host = fakeHost("/d");
  makeReal(host.config, p, nonce);
  checkEffective(host.agents(), p, nonce);
  const agents = host.agents();
  agents[0].permission.pop(); // an OpenCode that adds none
  checkEffective(agents, p, nonce);
});

test("home in a pattern is what OpenCode makes of it", () => {
  const p = parsePlan(JSON.stringify(rawPlan(["a"])));
  p.agents.a.entry.permission = { "*": "deny", external_directory: { "~/x/*": "allow" } };
  const host = fakeHost("/d");
  makeReal(host.config, p, nonce);
  const agents = host.agents();
  const rule = agents[0].permission.find((r) => r.pattern === "~/x/*");
  if (rule) rule.pattern = `${process.env.HOME}/x/*`;
  checkEffective(agents, p, nonce);
});

test("whatever was widened after us is found", () => {
  for (const [what, then] of /** @type {[string, (agent: any) => void][]} */ ([
    ["one more rule", (a) => (a.permission.webfetch = "allow")],
    ["another action", (a) => (a.permission.read = "ask")],
    ["another order", (a) => (a.permission = { read: "allow", ...a.permission })],
    ["a pattern", (a) => (a.permission.bash["rm *"] = "allow")],
    ["a rule about other directories", (a) => (a.permission.external_directory = "allow")],
    ["no rules", (a) => delete a.permission],
    ["another prompt", (a) => (a.prompt = "[larva:a]")],
    ["the other persona's prompt", (a) => (a.prompt = `[larva:b](${nonce})`)],
    ["another model", (a) => (a.model = "mock/mock-2")],
    ["no model", (a) => delete a.model],
    ["another mode", (a) => (a.mode = "primary")],
    ["an option", (a) => (a.options = { x: 1 })],
    ["another name", (a) => (a.name = "c")],
    ["a second of that name", (a) => (a.name = "b")],
  ])) {
    assert.throws(() => checkEffective(effective((c) => then(c.agent.a)), plan, nonce), /not as planned/, what);
  }
  assert.throws(() => checkEffective(effective((c) => delete c.agent.b), plan, nonce), /b: 0 agents/);
  assert.throws(() => checkEffective(undefined, plan, nonce), /does not list/);
});
