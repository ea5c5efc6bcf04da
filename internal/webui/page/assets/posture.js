// Capabilities: the families and postures that the registry knows.

export const POSTURES = ['none', 'read_only', 'read_write', 'destructive'];

export const POSTURE_LABELS = { none: 'none', read_only: 'read only', read_write: 'read write', destructive: 'destructive' };

export const POSTURE_WORDS = {
  none: 'may not touch it', read_only: 'may look', read_write: 'may look and change', destructive: 'may also destroy',
};

export const FAMILIES = ['shell', 'filesystem', 'git', 'email', 'http', 'network', 'database', 'browser', 'python', 'mcp'];

/** The strongest posture of a persona. @param {Object<string, string>} [capabilities] */
export function strongest(capabilities) {
  let top = 0;
  for (const p of Object.values(capabilities ?? {})) top = Math.max(top, POSTURES.indexOf(p));
  return POSTURES[top];
}
