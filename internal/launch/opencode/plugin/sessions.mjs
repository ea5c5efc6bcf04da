// Which agents stand over a session: its own, and those of the sessions that it
// was spawned from. OpenCode's hooks name neither with a tool call.

/** OpenCode's own requests inside a session: they say nothing about its agent. */
const SILENT = new Set(["title", "summary", "compaction"]);
/** Deeper than any chain of subagents; more is a circle. */
const MAX_DEPTH = 64;

/**
 * @typedef {object} Seen
 * @property {string} [asked] the agent of the newest message
 * @property {string} [running] the agent of the newest request: whose tool calls come next
 * @property {string | null} [parent] null: none
 * @property {string[]} above the agents over it when it was made
 */

/** @param {(id: string) => Promise<{parentID?: string, agent?: string}>} lookUp a session as OpenCode stores it */
export function newSessions(lookUp) {
  /** @type {Map<string, Seen>} */
  const seen = new Map();

  /** @param {string} id @returns {Seen} */
  function at(id) {
    let s = seen.get(id);
    if (!s) seen.set(id, (s = { above: [] }));
    return s;
  }

  /**
   * What OpenCode has stored fills what no hook has told, as in a session that
   * an earlier process began.
   * @param {string} id @returns {Promise<Seen>}
   */
  async function complete(id) {
    const s = at(id);
    const agentKnown = s.asked !== undefined || s.running !== undefined;
    if (s.parent === undefined || !agentKnown) {
      const stored = await lookUp(id);
      s.parent ??= stored.parentID ?? null;
      if (!agentKnown) s.asked ??= stored.agent;
    }
    return s;
  }

  /**
   * The agents that may be at work in a session, the one whose tool calls come
   * first: two while its agent is being changed.
   * @param {Seen} s
   */
  const own = (s) => /** @type {string[]} */ ([s.running, s.asked].filter((a) => a !== undefined));

  /** @param {string} id @returns {Promise<string[]>} */
  async function chain(id) {
    /** @type {Set<string>} */
    const agents = new Set();
    /** @type {string | null | undefined} */
    let next = id;
    for (let depth = 0; next; depth++) {
      if (depth > MAX_DEPTH) throw new Error("sessions are nested in a circle");
      const s = await complete(next);
      if (!own(s).length) throw new Error(`the agent of ${next} is not known`);
      for (const a of [...own(s), ...s.above]) agents.add(a);
      next = s.parent;
    }
    return [...agents];
  }

  return {
    /** A message was put to a session. @param {string} id @param {string | undefined} agent */
    message(id, agent) {
      if (agent) at(id).asked = agent;
    },
    /** A request is about to be made. @param {string} id @param {string} agent */
    request(id, agent) {
      if (!SILENT.has(agent)) at(id).running = agent;
    },
    /** A session was made. @param {{id: string, parentID?: string}} info */
    created({ id, parentID }) {
      const s = at(id);
      s.parent = parentID ?? null;
      const parent = parentID === undefined ? undefined : seen.get(parentID);
      if (parent) s.above = [...own(parent), ...parent.above];
    },
    /** @param {string} id */
    deleted(id) {
      seen.delete(id);
    },
    /** The session that a session was spawned from, null for none. @param {string} id */
    async parent(id) {
      return (await complete(id)).parent ?? null;
    },
    /**
     * The agents over a session's tool calls, first the one whose rules OpenCode
     * applies. Rejects when they cannot be found out.
     */
    chain,
  };
}
