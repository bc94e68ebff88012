/** Writes a journal of 100,000 facts, as long runs make them, below the given root. */
import { openDriverState } from "../src/compose.ts";
import type { NewFact } from "../src/events.ts";
import { existingPlace, specFor } from "./support.ts";

const FACTS = 100_000;
const place = existingPlace(process.argv[2] ?? "");
const state = await openDriverState(place.env);
const spec = specFor(place, 1_000_000);
const oid = (n: number): string => n.toString(16).padStart(40, "0");
await state.journal.create(
  spec.run,
  { type: "run-start", spec, pawl: "bench", base: { commit: oid(1), tree: oid(0), branch: "main", detached: false } },
  { repository: place.repo, goal: "bench" },
);
const owned = await state.journal.own(spec.run, { pid: 1, startedAt: "0", boot: "b", host: "h" });
const usage = {
  requests: 2,
  toolCalls: 1,
  inputTokens: 100,
  outputTokens: 50,
  cacheReadTokens: 1000,
  cacheWriteTokens: 10,
  usd: 0.01,
  estimated: false,
};

function iteration(n: number): NewFact[] {
  const tree = oid(n);
  const evidence = {
    tree,
    command: "true",
    exitCode: 0,
    signal: null,
    durationMs: 3,
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
      session: { ref: "s", mode: "continue" },
      model: null,
      prompt: { blob: "0".repeat(64), bytes: 500, parts: [{ name: "goal", bytes: 20, cut: 0, included: true }] },
      reserve: { usd: null, tokens: null },
      directives: [],
    },
    {
      type: "turn-end",
      turn: n,
      outcome: { is: "done" },
      usage,
      text: "not yet",
      claim: null,
      tools: [["Write", 1]],
      durationMs: 100,
      messageId: "m",
      contextTokens: 1000,
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
      numbers: { iteration: n, struggling: 0 },
    },
    {
      type: "effect-intended",
      effect: `accept/${n}`,
      kind: "commit",
      iteration: n,
      tree,
      message: `pawl: iteration ${n}`,
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
  await owned.append(batch, { at: 1_800_000_000_000 + n * 1_000, elapsed: n * 1_000 });
  written += batch.length;
}
await owned.release();
state.close();
