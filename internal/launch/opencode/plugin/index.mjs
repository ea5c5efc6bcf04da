// larva's plugin for OpenCode: wires its parts to OpenCode's hooks, decides nothing.
//
// One rule holds everywhere: whatever goes wrong, a request of a persona is not
// sent and a tool of a persona does not run. A throw in a hook does that, with
// one exception: a throw in the config hook is ignored by OpenCode, so a failure
// there is kept and thrown by the first request.

import { checkEffective, makeInert, makeReal } from "./agents.mjs";
import { openBridge } from "./bridge.mjs";
import { restoreServers, restoreShell } from "./env.mjs";
import { grepFilter } from "./grep.mjs";
import { setParams } from "./params.mjs";
import { checkEntry, readPlan, record } from "./plan.mjs";
import { policyFiles } from "./policy.mjs";
import { newResolver } from "./resolve.mjs";
import { newSessions } from "./sessions.mjs";
import { newNonce, replaceTokens, selected, watermarked } from "./token.mjs";
import { newAnnouncer } from "./toast.mjs";
import { toolGate } from "./tools.mjs";

/**
 * @param {{client: any, directory: string, worktree: string}} host
 * @param {{plan?: unknown}} [options]
 */
export default async function larva(host, options) {
  const nonce = newNonce();
  let plan;
  try {
    plan = readPlan(options?.plan);
  } catch (err) {
    return refusing(nonce, /** @type {Error} */ (err));
  }
  return working(host, plan, nonce);
}

/**
 * The hooks of a plugin that could not start.
 * @param {string} nonce @param {Error} err
 */
function refusing(nonce, err) {
  return {
    /** @param {any} config */
    config: async (config) => makeInert(config, [], nonce),
    /** @param {{}} _ @param {{system: unknown[]}} output */
    "experimental.chat.system.transform": async (_, { system }) => {
      if (selected(system, nonce)) throw explained(err);
      replaceTokens(system, nonce, undefined, "");
    },
  };
}

/**
 * @param {{client: any, directory: string, worktree: string}} host
 * @param {import("./plan.mjs").Plan} plan @param {string} nonce
 */
function working({ client, directory, worktree }, plan, nonce) {
  /** Why nothing may be sent. @type {Error | undefined} */
  let broken;
  /** The plan beside this instance's configuration. */
  let fitted = plan;
  let verified = false;
  /** Personas put into a request whose parameters are not asked for yet. @type {Map<string, import("./resolve.mjs").Persona>} */
  const pending = new Map();

  const isPersona = (/** @type {string} */ agent) => Object.hasOwn(plan.agents, agent);
  const bridge = openBridge({ command: plan.larva, env: plan.env, deadlineMs: plan.deadlineMs });
  process.once("exit", bridge.close);
  const resolve = newResolver(bridge);
  const sessions = newSessions((id) => data(client.session.get({ path: { id } })));
  const announce = newAnnouncer([...Object.keys(plan.agents), ...plan.native], (message) =>
    client.tui.showToast({ body: { title: "larva", message, variant: "info", duration: 10_000 } }),
  );
  const gate = toolGate({ bridge, sessions, isPersona, policies: policyFiles(plan.policies, [worktree, directory]), cwd: directory, root: worktree });

  async function verify() {
    if (broken) throw explained(broken);
    if (verified) return;
    const agents = await data(client.app.agents());
    try {
      checkEffective(agents, fitted, nonce);
    } catch (err) {
      broken = /** @type {Error} */ (err);
      throw explained(broken);
    }
    verified = true;
  }

  /**
   * The planned entries as they are beside a configuration: its own stricter
   * rules kept, its MCP servers known.
   * @param {any} config
   */
  async function fit(config) {
    const answer = await bridge.call("entries", { permission: config.permission ?? null, mcp: Object.keys(config.mcp ?? {}), auto: plan.auto });
    const entries = record(answer?.agents, "entries");
    const agents = Object.entries(plan.agents).map(([id, agent]) => [id, { ...agent, entry: checkEntry(id, entries[id], `entries.${id}`) }]);
    return { ...plan, agents: Object.fromEntries(agents) };
  }

  return {
    /** @param {any} config */
    config: async (config) => {
      try {
        fitted = await fit(config);
        makeReal(config, fitted, nonce);
        restoreServers(plan.npm, config);
      } catch (err) {
        broken = /** @type {Error} */ (err);
        makeInert(config, Object.keys(plan.agents), nonce);
      }
    },

    /** @param {{event: {type: string, properties: any}}} input */
    event: async ({ event }) => {
      if (event.type === "session.created") sessions.created(event.properties.info);
      if (event.type === "session.deleted") sessions.deleted(event.properties.info?.id ?? event.properties.sessionID);
    },

    /** @param {{sessionID: string, agent?: string}} input @param {{message?: {agent?: string}}} output */
    "chat.message": async ({ sessionID, agent }, output) => {
      sessions.message(sessionID, output.message?.agent ?? agent);
      // Not waited for: it also wakes the helper before the request needs it.
      bridge.call("list").then((list) => announce(idsOf(list))).catch(() => {});
    },

    /** @param {{sessionID?: string}} input @param {{system: unknown[]}} output */
    "experimental.chat.system.transform": async ({ sessionID = "" }, { system }) => {
      const id = selected(system, nonce);
      if (id === undefined) return replaceTokens(system, nonce, undefined, "");
      await verify();
      if (!isPersona(id)) throw explained(new Error(`${id} is no persona of this run`));
      const persona = await resolve(id).catch((err) => {
        throw explained(err);
      });
      replaceTokens(system, nonce, id, watermarked(persona));
      pending.set(sessionID, persona);
    },

    /** @param {{sessionID: string, agent: string}} input @param {Record<string, any>} output */
    "chat.params": async ({ sessionID, agent }, output) => {
      if (isPersona(agent)) {
        const persona = pending.get(sessionID);
        pending.delete(sessionID);
        if (persona?.id !== agent) throw explained(new Error(`the request of ${agent} does not carry its prompt`));
        setParams(persona.params, plan.agents[agent].params, output);
      }
      sessions.request(sessionID, agent);
    },

    "tool.execute.before": gate,

    "tool.execute.after": grepFilter({ bridge, sessions, isPersona, cwd: directory }),

    /** @param {{sessionID?: string}} input @param {{env: Record<string, string | undefined>}} output */
    "shell.env": async ({ sessionID }, { env }) => restoreShell(plan.npm, env, sessionID === undefined),

    dispose: async () => {
      process.off("exit", bridge.close);
      bridge.close();
    },
  };
}

/** @param {any} list @returns {string[]} */
function idsOf(list) {
  return (Array.isArray(list) ? list : list.personas).map((/** @type {{id: string}} */ p) => p.id);
}

/** What OpenCode's client answers, or a throw. @param {Promise<{data?: any, error?: any}>} answer */
async function data(answer) {
  const { data, error } = await answer;
  if (data === undefined) throw new Error(`OpenCode does not answer: ${JSON.stringify(error ?? null)?.slice(0, 200)}`);
  return data;
}

/** @param {Error} err */
function explained(err) {
  return new Error(`larva: nothing was sent: ${err.message}. See larva doctor opencode.`);
}
