// What was set for OpenCode's own npm is not for the agent's commands.

/** @typedef {Record<string, string | null>} Before names that we set, with what was there before */

/**
 * @param {Before} npm
 * @param {Record<string, string | undefined>} env what OpenCode lays over its own environment, changed in place
 * @param {boolean} terminal a terminal takes no undefined; npm takes an empty value for none
 */
export function restoreShell(npm, env, terminal) {
  for (const [name, before] of Object.entries(npm)) {
    if (Object.hasOwn(env, name)) continue; // another plugin's word
    env[name] = before ?? (terminal ? "" : undefined);
  }
}

/**
 * The same for local MCP servers, which inherit OpenCode's environment.
 * @param {Before} npm @param {Record<string, any>} config OpenCode's configuration, changed in place
 */
export function restoreServers(npm, config) {
  for (const server of Object.values(config.mcp ?? {})) {
    if (server?.type !== "local") continue;
    const before = Object.fromEntries(Object.entries(npm).map(([name, value]) => [name, value ?? ""]));
    server.environment = { ...before, ...server.environment };
  }
}
