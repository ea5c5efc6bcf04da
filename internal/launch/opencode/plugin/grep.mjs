// OpenCode's grep looks into every file below a directory, also into those that a
// persona may not read: what it found there is taken out of its answer.

import { rmSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";

/**
 * @param {object} parts
 * @param {{call: (op: string, fields: Record<string, unknown>) => Promise<any>}} parts.bridge
 * @param {{chain: (id: string) => Promise<string[]>}} parts.sessions
 * @param {(agent: string) => boolean} parts.isPersona
 * @param {string} parts.cwd where relative paths start
 * @returns {(input: {tool: string, sessionID: string}, output: {output: string, metadata?: any}) => Promise<void>}
 *   OpenCode's hook behind a tool; a throw makes the call fail
 */
export function grepFilter({ bridge, sessions, isPersona, cwd }) {
  return async ({ tool, sessionID }, result) => {
    if (tool !== "grep") return;
    const chain = await sessions.chain(sessionID);
    if (!chain.some(isPersona)) return;
    const blocks = parse(result.output);
    const verdicts = await Promise.all(blocks.map(({ path }) => (path === undefined ? true : mayRead(chain, path))));
    if (verdicts.every(Boolean)) return;
    const kept = blocks.filter((_, i) => verdicts[i]);
    const found = kept.reduce((n, b) => n + b.matches, 0);
    result.output = kept.map((b) => b.text).join("\n\n").replace(/^Found \d+ matches/, found ? `Found ${found} matches` : "No files found");
    forget(result);
  };

  /** @param {string[]} chain @param {string} path */
  async function mayRead(chain, path) {
    const filePath = isAbsolute(path) ? path : resolve(cwd, path);
    const verdict = await bridge.call("judge", { chain, personas: chain.filter(isPersona), host: "opencode", tool: "read", args: { filePath }, cwd });
    return verdict?.behavior === "allow";
  }
}

/**
 * The answer's parts: a head, then one a file: its path, a colon, and lines that
 * begin with "  Line N: ", with an empty line between them.
 * @param {string} output
 * @returns {{text: string, path?: string, matches: number}[]}
 */
function parse(output) {
  /** @type {{text: string, path?: string, matches: number}[]} */
  const blocks = [];
  for (const line of output.split("\n")) {
    const last = blocks.at(-1);
    if (/^ {2}Line \d+: /.test(line) && last?.path !== undefined) {
      last.text += "\n" + line;
      last.matches++;
    } else if (line.endsWith(":") && !line.startsWith(" ")) {
      blocks.push({ text: line, path: line.slice(0, -1), matches: 0 });
    } else if (line !== "") {
      // A head or a tail; behind a match it could be more of its text.
      if (last?.path !== undefined && !line.startsWith("(")) last.text += "\n" + line;
      else blocks.push({ text: line, matches: 0 });
    }
  }
  return blocks;
}

/** The whole answer, where a long one was put into a file. @param {{metadata?: any}} result */
function forget(result) {
  const path = result.metadata?.outputPath;
  if (typeof path === "string") rmSync(path, { force: true });
}
