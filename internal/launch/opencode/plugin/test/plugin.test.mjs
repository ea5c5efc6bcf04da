import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import * as plugin from "../index.mjs";
import { entry, fakeHost, helper, privateDir, rawPlan } from "./fake.mjs";

/** Answers as larva would for the personas in personas.json. */
const ANSWERS = `
  const all = JSON.parse(fs.readFileSync(process.env.DIR + "/personas.json", "utf8"));
  if (all.down) process.exit(1);
  if (q.op === "entries") say({ data: { agents: all.entries } });
  else if (q.op === "list") say({ data: Object.keys(all.personas).map((id) => ({ id })) });
  else if (q.op === "resolve") say(all.personas[q.persona] ? { data: all.personas[q.persona] } : { error: { code: "PERSONA_NOT_FOUND", message: "no persona " + q.persona } });
  else if (q.op === "judge") say({ data: q.args.command === "no" || q.chain.at(-1) === "b" && q.chain.length > 1 ? { behavior: "deny", reason: q.chain.join("<") } : { behavior: "allow" } });
`;

/**
 * The plugin in a made-up OpenCode.
 * @param {import("node:test").TestContext} t
 * @param {{ids?: string[], plan?: object, config?: any, down?: boolean}} [given]
 */
async function started(t, { ids = ["a", "b"], plan = {}, config = {}, down = false } = {}) {
  const dir = privateDir(t);
  const program = helper(dir, ANSWERS);
  const host = fakeHost(dir);
  const world = {
    down,
    entries: Object.fromEntries(ids.map((id) => [id, entry(id)])),
    personas: /** @type {Record<string, any>} */ (Object.fromEntries(ids.map((id) => [id, { id, prompt: `PROMPT ${id} $& [larva:b]`, digest: "sha256:" + "a1".repeat(32), params: { temperature: 0.5 } }]))),
  };
  const save = () => writeFileSync(join(dir, "personas.json"), JSON.stringify(world));
  save();
  const file = join(dir, "plan.json");
  writeFileSync(file, JSON.stringify(rawPlan(ids, { larva: program, env: { PATH: "/usr/bin:/bin", DIR: dir }, npm: { npm_config_offline: null }, ...plan })), { mode: 0o600 });
  const hooks = /** @type {any} */ (await plugin.default(host, { plan: file }));
  const alive = setInterval(() => {}, 1000);
  t.after(async () => {
    clearInterval(alive);
    await hooks.dispose?.();
  });
  host.config = config;
  await hooks.config(host.config);

  return {
    dir,
    host,
    hooks,
    world,
    save,
    /** One request of an agent, as OpenCode makes it; gives what would be sent. @param {string} sessionID @param {string} agent @param {string[]} [more] */
    async request(sessionID, agent, more = []) {
      const prompt = host.config.agent?.[agent]?.prompt ?? `native ${agent}`;
      const output = { system: [[prompt, "<env>", ...more].join("\n")] };
      await hooks["experimental.chat.system.transform"]({ sessionID, model: {} }, output);
      const params = /** @type {any} */ ({ options: {} });
      await hooks["chat.params"]?.({ sessionID, agent, model: {}, provider: {}, message: {} }, params);
      return { system: output.system, params };
    },
    /** @param {string} sessionID @param {string} agent @param {string} [parentID] */
    async session(sessionID, agent, parentID) {
      host.sessions[sessionID] = { id: sessionID, agent, parentID };
      await hooks.event?.({ event: { type: "session.created", properties: { info: { id: sessionID, parentID } } } });
      await hooks["chat.message"]?.({ sessionID, agent }, { message: { agent }, parts: [] });
    },
  };
}

test("the module exports the plugin alone: OpenCode starts every function it finds", () => {
  assert.deepEqual(Object.keys(plugin), ["default"]);
});

test("a persona's request carries it; title and compaction carry nothing of it", async (t) => {
  const w = await started(t);
  await w.session("m", "a");
  const main = await w.request("m", "a", ["AGENTS [larva:a]"]);
  assert.equal(main.system.length, 1);
  assert.match(main.system[0], /^PROMPT a \$& \[ larva:b\]\n\n<!-- larva-spec: a@a1a1a1 -->[^]*<env>\nAGENTS \[ larva:a\]$/);
  assert.equal(main.params.temperature, 0.5);
  for (const agent of ["title", "compaction", "summary"]) {
    assert.deepEqual(await w.request("m", agent), { system: [`native ${agent}\n<env>`], params: { options: {} } });
  }
  assert.deepEqual((await w.request("", "build", ["[larva:a]"])).system, ["native build\n<env>\n[ larva:a]"]);
});

test("an edit is in the next request; a deleted persona gets none; a dead helper gives the last, stale", async (t) => {
  const w = await started(t);
  await w.session("m", "a");
  await w.request("m", "a");
  w.world.personas.a.prompt = "EDITED";
  w.world.personas.a.params = {};
  w.save();
  const edited = await w.request("m", "a");
  assert.match(edited.system[0], /^EDITED\n/);
  assert.equal(edited.params.temperature, undefined);
  w.world.down = true;
  w.save();
  assert.match((await w.request("m", "a")).system[0], /^EDITED\n\n<!-- larva-spec: a@a1a1a1 stale -->/);
  await assert.rejects(w.request("m", "b"), /nothing was sent: persona b cannot be resolved/);
  w.world.down = false;
  delete w.world.personas.a;
  w.save();
  await assert.rejects(w.request("m", "a"), /nothing was sent: .*no persona a/);
});

test("a request without its token is not sent, and one token serves one request", async (t) => {
  const w = await started(t);
  await w.session("m", "a");
  await w.request("m", "a");
  const params = () => w.hooks["chat.params"]({ sessionID: "m", agent: "a" }, {});
  await assert.rejects(params(), /does not carry its prompt/);
  const output = { system: [w.host.config.agent.b.prompt] };
  await w.hooks["experimental.chat.system.transform"]({ sessionID: "m" }, output);
  await assert.rejects(params(), /does not carry its prompt/, "another persona's prompt");
});

test("agents that were widened after the config hook send nothing, from then on", async (t) => {
  const w = await started(t);
  w.host.config.agent.b.permission.bash = "allow";
  await w.session("m", "a");
  await assert.rejects(w.request("m", "a"), /nothing was sent: OpenCode's agents are not as planned: b: its rules were changed/);
  w.host.config.agent.b = { ...w.host.config.agent.a };
  await assert.rejects(w.request("m", "a"), /not as planned/);
  await w.request("m", "title");
});

test("a start that fails leaves agents that can do nothing and say why", async (t) => {
  const cases = /** @type {[string, any, RegExp][]} */ ([
    ["no helper", { down: true }, /helper ended/],
    ["a plan of another version", { plan: { version: 9 }, config: { agent: { a: { model: "larva-guard/blocked", tools: { bash: true } } } } }, /version 9/],
    ["a configuration that cannot be changed", { config: { agent: Object.defineProperty({}, "b", { get: () => ({}), set() {}, configurable: true }) } }, /cannot be set/],
  ]);
  for (const [what, given, want] of cases) {
    const w = await started(t, given);
    assert.deepEqual(w.host.config.agent.a.permission, { "*": "deny" }, what);
    assert.equal(w.host.config.agent.a.tools, undefined, what);
    await w.session("m", "a");
    await assert.rejects(w.request("m", "a"), want, what);
    assert.deepEqual((await w.request("m", "title")).system, ["native title\n<env>"]);
  }
});

test("a child's tools are judged with its parents'", async (t) => {
  const w = await started(t);
  const tool = (/** @type {string} */ sessionID, /** @type {string} */ command) => w.hooks["tool.execute.before"]({ tool: "bash", sessionID, callID: "c" }, { args: { command } });
  await w.session("m", "b");
  await tool("m", "ls");
  await assert.rejects(tool("m", "no"), /larva: refused: b/);
  await w.session("c", "general", "m");
  await assert.rejects(tool("c", "ls"), /general<b/);
  await w.session("n", "build");
  await tool("n", "no");
  w.host.sessions.old = { id: "old", agent: "a", parentID: "m" };
  await assert.rejects(tool("old", "ls"), /a<b/);
  await assert.rejects(tool("nowhere", "ls"), /cannot be found out/);
});

test("added and deleted ids are said", async (t) => {
  const w = await started(t);
  w.world.personas.c = w.world.personas.b;
  delete w.world.personas.b;
  w.save();
  const told = new Promise((resolve) => {
    w.host.client.tui.showToast = async (/** @type {any} */ { body }) => void resolve(body.message);
  });
  await w.session("m", "a");
  assert.equal(await told, "New: c. Deleted: b. Restart larva opencode to see the change.");
});

test("the shell gets its npm back", async (t) => {
  const w = await started(t);
  const output = /** @type {any} */ ({ env: {} });
  await w.hooks["shell.env"]({ cwd: w.dir, sessionID: "m", callID: "c" }, output);
  assert.deepEqual(output.env, { npm_config_offline: undefined });
});
