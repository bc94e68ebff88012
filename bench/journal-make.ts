/**
 * Writes a journal of 100,000 facts below the given root: the facts of a real run, in their order and with all their
 * fields, as long as the real ones are (bench/tokens.ts makes one to compare with).
 */
import { createHash } from "node:crypto";
import { openDriverState } from "../src/compose.ts";
import type { NewFact } from "../src/events.ts";
import { existingPlace, specFor } from "./support.ts";

const FACTS = 100_000;
const place = existingPlace(process.argv[2] ?? "");
const state = await openDriverState(place.env);
const spec = specFor(place, 1_000_000);
const oid = (n: number): string => createHash("sha1").update(String(n)).digest("hex");
const session = crypto.randomUUID();
await state.journal.create(
  spec.run,
  { type: "run-start", spec, pawl: "bench", base: { commit: oid(1), tree: oid(0), branch: "main", detached: false } },
  { repository: place.repo, goal: "bench" },
);
const owned = await state.journal.own(spec.run, { pid: 1, startedAt: "0", boot: "b", host: "h" });
const usage = {
  requests: 3,
  toolCalls: 2,
  inputTokens: 0,
  outputTokens: 27,
  cacheReadTokens: 26_753,
  cacheWriteTokens: 701,
  usd: 0.009395600000000004,
  estimated: false,
};

function iteration(n: number): NewFact[] {
  const tree = oid(n);
  const evidence = {
    tree,
    command: "true",
    exitCode: 0,
    signal: null,
    durationMs: 11,
    log: null,
    logBytes: 0,
    isolation: "copy",
    suspicions: [],
  };
  return [
    { type: "iteration-start", n, why: "next" },
    {
      type: "turn-start",
      turn: n,
      uuid: crypto.randomUUID(),
      iteration: n,
      attempt: 1,
      session: { ref: session, mode: "continue" },
      model: null,
      prompt: { blob: createHash("sha256").update(String(n)).digest("hex"), bytes: 343, cut: [] },
      reserve: { usd: null, tokens: null },
      directives: [],
    },
    {
      type: "turn-end",
      turn: n,
      outcome: { is: "done" },
      usage,
      text: "Another step is done.",
      claim: null,
      tools: [["Bash", 2]],
      durationMs: 565,
      messageId: crypto.randomUUID(),
      contextTokens: 10_234,
      repeatedCalls: 1,
      foundOut: false,
    },
    {
      type: "change-recorded",
      iteration: n,
      snapshot: n,
      commit: oid(n + 1),
      tree,
      judged: tree,
      by: "agent",
      files: [{ path: "work.txt", status: "M", added: 1, removed: 1 }],
      fileCount: 1,
      added: 1,
      removed: 1,
      warnings: [],
    },
    { type: "check-start", check: "true", tree, iteration: n },
    { type: "check-end", check: "true", tree, iteration: n, verdict: { is: "pass", evidence } },
    {
      type: "decision-made",
      iteration: n,
      rule: "green-unclaimed",
      next: "continue",
      reason: "all checks pass; the goal is not claimed yet",
      numbers: { iteration: n, struggling: 0, failingBefore: 0 },
    },
    {
      type: "effect-intended",
      effect: `accept/${n}/${tree}`,
      kind: "commit",
      iteration: n,
      tree,
      message: `pawl: iteration ${n}\n\nPawl-Run: ${spec.run}\nPawl-Iteration: ${n}\nPawl-Verdict: green (true: pass)\n`,
    },
    {
      type: "change-accepted",
      iteration: n,
      tree,
      commit: oid(n + 2),
      branch: "pawl/bench",
      adopted: [],
      warnings: [],
    },
  ];
}

await owned.append(
  [
    { type: "lane-start", why: "run" },
    {
      type: "change-recorded",
      iteration: 0,
      snapshot: 0,
      commit: oid(1),
      tree: oid(0),
      judged: oid(0),
      by: "user",
      files: [],
      fileCount: 0,
      added: 0,
      removed: 0,
      warnings: [],
    },
  ],
  { at: 0, elapsed: 0 },
);
let written = 3;
for (let n = 1; written < FACTS; n += 100) {
  const batch = Array.from({ length: 100 }, (_, i) => iteration(n + i)).flat();
  await owned.append(batch, { at: 1_800_000_000_000 + n * 1_000, elapsed: n * 1_000 + 0.7 });
  written += batch.length;
}
await owned.release();
state.close();
