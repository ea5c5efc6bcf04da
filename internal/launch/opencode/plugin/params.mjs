// model_params on their way to the model, as they are now.

/** OpenCode's name for each of ours; the first that is written counts. */
const NAMES = /** @type {const} */ ([
  ["temperature", "temperature"],
  ["top_p", "topP"],
  ["top_k", "topK"],
  ["max_tokens", "maxOutputTokens"],
  ["max_completion_tokens", "maxOutputTokens"],
  ["max_output_tokens", "maxOutputTokens"],
]);

/**
 * Sets what the persona says, and takes back what it said when the run began and
 * does not say any more.
 * @param {Record<string, any>} now model_params @param {Record<string, any>} then
 * @param {Record<string, any>} output of OpenCode's chat.params hook, changed in place
 */
export function setParams(now, then, output) {
  const set = new Set();
  for (const [ours, theirs] of NAMES) {
    if (typeof now[ours] !== "number" || set.has(theirs)) continue;
    set.add(theirs);
    output[theirs] = theirs === "maxOutputTokens" ? atMost(now[ours], output[theirs]) : now[ours];
  }
  for (const [ours, theirs] of NAMES) {
    if (typeof then[ours] === "number" && !set.has(theirs) && theirs !== "maxOutputTokens") output[theirs] = undefined;
  }
}

/** The model's own limit stays. @param {number} wanted @param {unknown} limit */
function atMost(wanted, limit) {
  return typeof limit === "number" && limit > 0 ? Math.min(wanted, limit) : wanted;
}
