import assert from "node:assert/strict";
import test from "node:test";

import { restoreServers, restoreShell } from "../env.mjs";
import { setParams } from "../params.mjs";
import { newAnnouncer } from "../toast.mjs";

test("parameters are the persona's now", () => {
  for (const [now, then, before, want] of /** @type {[any, any, any, any][]} */ ([
    [{}, {}, { temperature: 0.7, topP: 1, options: {} }, { temperature: 0.7, topP: 1, options: {} }],
    [{ temperature: 0.3, top_p: 0.9, top_k: 5 }, {}, {}, { temperature: 0.3, topP: 0.9, topK: 5 }],
    [{ temperature: 0 }, { temperature: 1 }, { temperature: 1 }, { temperature: 0 }],
    [{}, { temperature: 1 }, { temperature: 1 }, { temperature: undefined }],
    [{ max_tokens: 100 }, {}, { maxOutputTokens: 8192 }, { maxOutputTokens: 100 }],
    [{ max_tokens: 9000 }, {}, { maxOutputTokens: 8192 }, { maxOutputTokens: 8192 }],
    [{ max_output_tokens: 7 }, {}, {}, { maxOutputTokens: 7 }],
    [{ temperature: "hot", seed: 3 }, {}, {}, {}],
  ])) {
    setParams(now, then, before);
    assert.deepEqual(before, want);
  }
});

test("the agent's shell has what was there before", () => {
  const npm = { npm_config_offline: null, npm_config_registry: "http://r" };
  const shell = /** @type {any} */ ({ A: "1" });
  restoreShell(npm, shell, false);
  assert.deepEqual(shell, { A: "1", npm_config_offline: undefined, npm_config_registry: "http://r" });
  const terminal = /** @type {any} */ ({ npm_config_registry: "mine" });
  restoreShell(npm, terminal, true);
  assert.deepEqual(terminal, { npm_config_offline: "", npm_config_registry: "mine" });
});

test("local MCP servers too, but what they are told themselves counts", () => {
  const config = { mcp: { a: { type: "local", command: ["npx"], environment: { npm_config_registry: "own" } }, b: { type: "local" }, c: { type: "remote", url: "u" }, d: { enabled: false } } };
  restoreServers({ npm_config_offline: null, npm_config_registry: "http://r" }, config);
  assert.deepEqual(config.mcp, {
    a: { type: "local", command: ["npx"], environment: { npm_config_offline: "", npm_config_registry: "own" } },
    b: { type: "local", environment: { npm_config_offline: "", npm_config_registry: "http://r" } },
    c: { type: "remote", url: "u" },
    d: { enabled: false },
  });
  restoreServers({ x: null }, {});
});

test("added and deleted ids are said once", () => {
  /** @type {string[]} */
  const said = [];
  const announce = newAnnouncer(["a", "b"], (m) => said.push(m));
  announce(["b", "a"]);
  assert.deepEqual(said, []);
  announce(["a", "c"]);
  announce(["c", "a"]);
  assert.deepEqual(said, ["New: c. Deleted: b. Restart larva opencode to see the change."]);
  announce(["a", "b"]);
  assert.equal(said.length, 1, "back as it was");
  announce(["a", "b", ..."cdefghij"]);
  assert.match(said[1], /^New: c, d, e, f, g and 3 more\. Restart/);
});
