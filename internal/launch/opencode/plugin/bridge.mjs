// The helper: one long-lived `larva __bridge` that answers JSON lines. This file
// starts it, restarts it once when it dies, and ends it: whoever closes the
// bridge, or OpenCode's end, closes its standard input and kills it.

import { spawn as spawnProcess } from "node:child_process";
import { StringDecoder } from "node:string_decoder";

/** A longer answer is none of ours. */
const MAX_LINE = 64 << 20;
const FIRST_BACKOFF_MS = 50;
const LONGEST_BACKOFF_MS = 5000;

/** An answer that says no; any other error means that there was no answer. */
export class Refused extends Error {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

/** @typedef {{resolve: (data: any) => void, reject: (err: Error) => void}} Waiting */
/** @typedef {{call: (op: string, fields?: Record<string, unknown>) => Promise<any>, close: () => void}} Bridge */

/**
 * @param {object} options
 * @param {string} options.command
 * @param {string[]} [options.args]
 * @param {Record<string, string>} options.env the helper's whole environment
 * @param {number} options.deadlineMs for one call, a restart included
 * @param {typeof spawnProcess} [options.spawn]
 * @returns {Bridge}
 */
export function openBridge({ command, args = ["__bridge"], env, deadlineMs, spawn = spawnProcess }) {
  /** @type {{child: import("node:child_process").ChildProcess, waiting: Map<number, Waiting>} | undefined} */
  let live;
  let closed = false;
  let lastId = 0;
  let deaths = 0; // in a row, without an answer between them

  function started() {
    if (closed) throw new Error("the helper is closed");
    live ??= start();
    return live;
  }

  function start() {
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "ignore"], windowsHide: true });
    const self = { child, waiting: new Map() };
    /** @param {string} why */
    const gone = (why) => {
      if (live === self) live = undefined;
      if (self.waiting.size) deaths++;
      for (const w of self.waiting.values()) w.reject(new Error(why));
      self.waiting.clear();
      child.kill("SIGKILL");
    };
    child.on("error", (err) => gone(`the helper did not start: ${err.message}`));
    child.on("exit", (code, signal) => gone(`the helper ended (${signal ?? code})`));
    child.stdin?.on("error", () => gone("the helper does not listen"));
    child.stdout?.on("data", lines((line) => answer(self.waiting, line), gone));
    // Neither end keeps OpenCode alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout]) /** @type {any} */ (stream)?.unref?.();
    return self;
  }

  /** @param {Map<number, Waiting>} waiting @param {string} line */
  function answer(waiting, line) {
    const reply = JSON.parse(line);
    const w = waiting.get(reply.id);
    if (!w) return; // given up on
    waiting.delete(reply.id);
    deaths = 0;
    if (reply.error) w.reject(new Refused(String(reply.error.code), String(reply.error.message)));
    else w.resolve(reply.data);
  }

  /** @param {string} op @param {Record<string, unknown>} fields @param {AbortSignal} signal */
  async function ask(op, fields, signal) {
    const { child, waiting } = started();
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      signal.addEventListener("abort", () => {
        if (!waiting.delete(id)) return;
        reject(new Error(`the helper did not answer within ${deadlineMs} ms`));
        child.kill("SIGKILL"); // whatever holds it holds the next call too
      });
      child.stdin?.write(JSON.stringify({ ...fields, id, op }) + "\n");
    });
  }

  return {
    async call(op, fields = {}) {
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        return await ask(op, fields, signal);
      } catch (err) {
        if (err instanceof Refused || signal.aborted || closed) throw err;
        await pause(Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, deaths - 1), LONGEST_BACKOFF_MS), signal);
        if (signal.aborted) throw err;
      }
      return ask(op, fields, signal);
    },
    close() {
      closed = true;
      const child = live?.child;
      child?.stdin?.end();
      child?.kill("SIGKILL");
    },
  };
}

/**
 * Cuts a stream into lines.
 * @param {(line: string) => void} each @param {(why: string) => void} broken
 */
function lines(each, broken) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  return (/** @type {Buffer} */ chunk) => {
    const parts = (rest + decoder.write(chunk)).split("\n");
    rest = /** @type {string} */ (parts.pop());
    try {
      for (const line of parts) each(line);
    } catch {
      return broken("the helper's answer is no JSON");
    }
    if (rest.length > MAX_LINE) broken("the helper's answer does not end");
  };
}

/** @param {number} ms @param {AbortSignal} signal @returns {Promise<void>} */
function pause(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
