// Personas that came or went since OpenCode started: its list of agents is made
// once, so the person is told to start it anew.

/**
 * @param {Iterable<string>} started every id when the run began, those left out too
 * @param {(message: string) => unknown} show
 * @returns {(ids: string[]) => void} to be called with every id there is now; says each change once
 */
export function newAnnouncer(started, show) {
  const then = new Set(started);
  let said = "";
  return (ids) => {
    const now = new Set(ids);
    const added = [...now].filter((id) => !then.has(id)).sort();
    const gone = [...then].filter((id) => !now.has(id)).sort();
    const message = [words("New", added), words("Deleted", gone)].filter(Boolean).join(" ");
    if (message === said) return;
    said = message;
    if (message) show(`${message} Restart larva opencode to see the change.`);
  };
}

/** @param {string} what @param {string[]} ids */
function words(what, ids) {
  if (!ids.length) return "";
  const more = ids.length > 5 ? ` and ${ids.length - 5} more` : "";
  return `${what}: ${ids.slice(0, 5).join(", ")}${more}.`;
}
