import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

import { grepFilter } from "../grep.mjs";
import { fakeBridge, privateDir } from "./fake.mjs";

/** @param {string} output @param {{chain?: string[], metadata?: any, judge?: (q: any) => any}} [given] */
async function filtered(output, { chain = ["a"], metadata = {}, judge = (q) => ({ behavior: q.args.filePath.includes(".env") ? "deny" : "allow" }) } = {}) {
  const bridge = fakeBridge({ judge });
  const hook = grepFilter({ bridge, sessions: { chain: async () => chain }, isPersona: (id) => id !== "build", cwd: "/p" });
  const result = { title: "x", output, metadata };
  await hook({ tool: "grep", sessionID: "m" }, result);
  return { output: result.output, asked: bridge.asked };
}

const FOUND = "Found 4 matches (more matches available)\n/p/a.txt:\n  Line 1: KEY=1\n  Line 2: [x]:\n\n/p/.env:\n  Line 7: KEY=secret\n\nb.txt:\n  Line 9: KEY\n\n(Results truncated. Consider using a more specific path or pattern.)";

test("what stands in files that may not be read is taken out", async () => {
  const { output, asked } = await filtered(FOUND);
  assert.equal(output, "Found 3 matches (more matches available)\n\n/p/a.txt:\n  Line 1: KEY=1\n  Line 2: [x]:\n\nb.txt:\n  Line 9: KEY\n\n(Results truncated. Consider using a more specific path or pattern.)");
  assert.deepEqual(asked.map((q) => q.args.filePath), ["/p/a.txt", "/p/.env", "/p/b.txt"]);
  assert.deepEqual([asked[0].chain, asked[0].tool], [["a"], "read"]);
});

test("an answer with nothing to hide stays byte for byte", async () => {
  for (const output of [FOUND.replace(".env", "env"), "No files found", ""]) assert.equal((await filtered(output)).output, output);
  assert.equal((await filtered(FOUND, { chain: ["build"] })).output, FOUND);
});

test("only hidden ones: nothing was found", async () => {
  assert.equal((await filtered("Found 1 matches\n/p/.env:\n  Line 7: KEY=secret")).output, "No files found");
});

test("a question is no yes, and no answer fails the call", async () => {
  assert.equal((await filtered("Found 1 matches\n/p/a:\n  Line 7: K", { judge: () => ({ behavior: "ask", dialog: true }) })).output, "No files found");
  await assert.rejects(
    filtered(FOUND, {
      judge: () => {
        throw new Error("gone");
      },
    }),
    /gone/,
  );
});

test("the long form in a file goes too", async (t) => {
  const file = join(privateDir(t), "tool_1");
  writeFileSync(file, FOUND);
  await filtered(FOUND, { metadata: { outputPath: file } });
  assert.ok(!existsSync(file));
});
