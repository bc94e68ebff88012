/**
 * Writes the corpus file of the present fact version: one run with a fact of every type. Run once per version, before
 * its release (`node test/corpus/make.ts`); a released file is never written again.
 */
import { writeFileSync } from "node:fs";
import { FACT_VERSION, type Evidence, type NewFact, type Outcome, type Usage } from "../../src/events.ts";
import { ABOUT, makePlace, ownerOf, runStart } from "../contracts/journal-samples.ts";
import { open } from "../contracts/journal-sqlite.ts";

const RUN = "mend-the-parser";
const STEP_MS = 1_000;
let at = 1_763_000_000_000;
using place = makePlace();
const handle = open(place.dir, { wall: () => at });
const oid = (digit: string) => digit.repeat(40);
const blob = (digit: string) => digit.repeat(64);
const usage: Usage = {
  requests: 3,
  toolCalls: 4,
  inputTokens: 1200,
  outputTokens: 340,
  cacheReadTokens: 9000,
  cacheWriteTokens: 700,
  usd: 0.0421,
  estimated: false,
};
const ev: Evidence = {
  tree: oid("b"),
  command: "npm test",
  exitCode: 1,
  signal: null,
  durationMs: 812.5,
  log: blob("d"),
  logBytes: 2048,
  isolation: "copy",
  suspicions: [],
};
const outcome: Outcome = {
  is: "verified",
  rule: "verified",
  reason: "every required check passed on the delivered tree",
};

await handle.journal.create(RUN, runStart(RUN, "mend the parser: “naïve” input must not crash it"), ABOUT);
const owned = await handle.journal.own(RUN, ownerOf(4242));
async function put(elapsed: number, ...facts: NewFact[]): Promise<void> {
  at += STEP_MS;
  await owned.append(facts, { at, elapsed });
}

await put(0, { type: "lease-changed", pid: 4242, startedAt: "12345", boot: "b00t", host: "here", swept: 0 });
await put(1, { type: "lane-start", why: "the run's own" });
await put(2, { type: "iteration-start", n: 1, why: "first" });
await put(
  3.25,
  {
    type: "turn-start",
    turn: 1,
    uuid: "5b6f0f6e-1e0f-4a1b-9b1a-0a5b8a1f0c11",
    iteration: 1,
    attempt: 1,
    session: { ref: "s-1", mode: "new" },
    model: null,
    prompt: { blob: blob("a"), bytes: 1234, cut: ["notes"] },
    reserve: { usd: 1.5, tokens: null },
    directives: [],
  },
  { type: "session-opened", turn: 1, ref: "s-1", model: "some-model" },
);
await put(9000, {
  type: "turn-end",
  turn: 1,
  outcome: { is: "done" },
  usage,
  text: "I mended it.\nDONE",
  claim: { is: "done", how: "promise", text: "done" },
  tools: [
    ["Edit", 2],
    ["Bash", 2],
  ],
  durationMs: 8990.75,
  messageId: "m-1",
  contextTokens: 11000,
  repeatedCalls: 0,
  foundOut: false,
});
await put(9100, {
  type: "change-recorded",
  iteration: 1,
  snapshot: 1,
  commit: oid("a"),
  tree: oid("b"),
  judged: oid("b"),
  by: "agent",
  files: [{ path: "src/parse – neu.ts", status: "M", added: 3, removed: 1 }],
  fileCount: 1,
  added: 3,
  removed: 1,
  warnings: [],
});
await put(9200, { type: "check-start", check: "tests", tree: oid("b"), iteration: 1 });
await put(10100, {
  type: "check-end",
  check: "tests",
  tree: oid("b"),
  iteration: 1,
  verdict: {
    is: "fail",
    evidence: ev,
    failures: [{ fingerprint: "parse > empty", message: "expected [] but got undefined" }],
    excerpt: "1 failed",
  },
});
await put(10101, {
  type: "failure-recorded",
  iteration: 1,
  approach: "M:src/parse.ts",
  summary: "guarded the loop",
  fingerprints: ["parse > empty"],
  messages: ["expected [] but got undefined"],
});
await put(10102, {
  type: "decision-made",
  iteration: 1,
  rule: "claim-refused",
  next: "continue",
  reason: "the claim is not borne out: tests fail",
  numbers: { failing: 1, best: 1 },
});
await put(10103, {
  type: "effect-intended",
  effect: "commit:1",
  kind: "commit",
  iteration: 1,
  tree: oid("b"),
  message: "iteration 1",
});
await put(10180, {
  type: "change-accepted",
  iteration: 1,
  tree: oid("b"),
  commit: oid("c"),
  branch: `pawl/${RUN}`,
  adopted: [],
  warnings: [],
});
await handle.inbox.put(
  RUN,
  { kind: "say", text: "the empty file is the case that counts", when: "next" },
  { source: "cli", key: "k-1" },
);
at += STEP_MS;
await owned.takeDirectives({ at, elapsed: 10200 });
await put(10201, { type: "wait-start", wait: "w-1", reason: "rate limit", until: at + 60_000, untilElapsed: null });
await put(70201, { type: "wait-end", wait: "w-1", why: "reset" });
await put(70202, {
  type: "human-requested",
  question: "q-1",
  kind: "question",
  text: "keep the old format?",
  options: [],
  turn: null,
  untilElapsed: null,
});
await put(70203, { type: "human-answered", question: "q-1", text: "yes", by: "person" });
await put(
  70204,
  { type: "directive-delivered", id: "d1", how: "next prompt", turn: 2 },
  { type: "directive-acknowledged", id: "d1", turn: 2 },
);
await put(70300, {
  type: "change-restored",
  iteration: 2,
  to: 1,
  tree: oid("b"),
  salvage: `refs/pawl/${RUN}/main/salvage/1`,
  why: "worse than the best",
});
await put(80000, {
  type: "check-end",
  check: "tests",
  tree: oid("e"),
  iteration: 3,
  verdict: { is: "pass", evidence: { ...ev, tree: oid("e"), exitCode: 0 } },
});
await put(80000.5, {
  type: "tasks-recorded",
  iteration: 3,
  by: "agent",
  tasks: [{ id: "0a1b2c3d4e", text: "mend the lexer", depth: 0, is: "done" }],
  suspicions: ["task “mend the lexer” was ticked though nothing but TASKS.md changed"],
});
await put(80001, { type: "lane-end", why: "done" }, { type: "run-end", outcome });
await put(80002, { type: "run-reopened", was: outcome, limits: { iterations: 30, usd: 5 } });

writeFileSync(new URL(`facts-v${FACT_VERSION}.jsonl`, import.meta.url), handle.exportRun(RUN));
handle.close();
