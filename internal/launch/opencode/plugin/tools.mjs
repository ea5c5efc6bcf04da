// Before a tool runs in a persona's session: may it, by the persona and by every
// persona above it? A throw is the refusal, and its text the model's answer.

import { mentioned } from "./mentions.mjs";
import { policyRefusal } from "./policy.mjs";

/**
 * @param {object} parts
 * @param {{call: (op: string, fields: Record<string, unknown>) => Promise<any>}} parts.bridge
 * @param {{chain: (id: string) => Promise<string[]>, parent: (id: string) => Promise<string | null>}} parts.sessions
 * @param {(agent: string) => boolean} parts.isPersona
 * @param {string[]} parts.policies tool policy files
 * @param {string} parts.cwd where a tool's relative paths start
 * @param {string} parts.root where those of a mention start
 * @returns {(input: {tool: string, sessionID: string}, output: {args: any}) => Promise<void>}
 */
export function toolGate({ bridge, sessions, isPersona, policies, cwd, root }) {
  return async ({ tool, sessionID }, { args }) => {
    const chain = await sessions.chain(sessionID).catch((err) => {
      throw refusal(`whose session this is cannot be found out: ${err.message}`);
    });
    const personas = chain.filter(isPersona);
    if (!personas.length) return; // none of ours at work here
    const policy = policyRefusal(policies, personas, tool);
    if (policy) throw refusal(policy);
    if (tool === "task") await checkTask(chain, sessionID, args);
    await judge(chain, tool, args);
  };

  /** @param {string[]} chain @param {string} sessionID @param {any} args */
  async function checkTask(chain, sessionID, args) {
    // A task can be told to go on in a session, and OpenCode takes any session's
    // id: only in a child of its own does a session's ceiling hold.
    if (args?.task_id !== undefined && args.task_id !== "") {
      const parent = await sessions.parent(args.task_id).catch(() => null);
      if (parent !== sessionID) throw refusal(`${args.task_id} is no task of this session`);
    }
    for (const filePath of mentioned(args?.prompt, root)) {
      await judge([String(args.subagent_type), ...chain], "read", { filePath }, false);
    }
  }

  /**
   * @param {string[]} chain @param {string} tool @param {any} args
   * @param {boolean} [canAsk] OpenCode asks by its rules before the tool runs
   */
  async function judge(chain, tool, args, canAsk = true) {
    let verdict;
    try {
      verdict = await bridge.call("judge", { chain, personas: chain.filter(isPersona), host: "opencode", tool, args, cwd });
    } catch (err) {
      throw refusal(`it cannot be judged: ${/** @type {Error} */ (err).message}`);
    }
    if (verdict?.behavior === "allow") return;
    // OpenCode is sure to put this very call to a person.
    if (canAsk && verdict?.behavior === "ask" && verdict.dialog === true) return;
    throw refusal(verdict?.reason || "the persona's capabilities do not cover it");
  }
}

/** @param {string} why */
function refusal(why) {
  return new Error(`larva: refused: ${why}`);
}
