/** Writes the corpus file of the facts of `solve`, as `make.ts` does for those of `run`; a released file is never written again. */
import { writeFileSync } from "node:fs";
import { FACT_VERSION, type Kept, type NewFact, type Usage } from "../../src/events.ts";
import { ABOUT, makePlace, ownerOf, runStart } from "../contracts/journal-samples.ts";
import { open } from "../contracts/journal-sqlite.ts";
import { plainSolve } from "../support/solve-spec.ts";

const RUN = "count-the-primes";
const STEP_MS = 1_000;
let at = 1_763_000_000_000;
using place = makePlace();
const handle = open(place.dir, { wall: () => at });
const kept = (text: string, digit: string): Kept => ({ blob: digit.repeat(64), bytes: Buffer.byteLength(text), text });
const usage: Usage = {
  requests: 1,
  toolCalls: 0,
  inputTokens: 900,
  outputTokens: 120,
  cacheReadTokens: 0,
  cacheWriteTokens: 700,
  usd: 0.01,
  estimated: true,
};

const first = runStart(RUN, "how many primes are there below 100?");
if (first.type !== "run-start") throw new Error("a run begins with its start");
const spec = { ...first.spec, recipe: "solve" as const, solve: { ...plainSolve, language: "python" as const } };
await handle.journal.create(RUN, { ...first, spec }, ABOUT);
const owned = await handle.journal.own(RUN, ownerOf(4242));
async function put(elapsed: number, ...facts: NewFact[]): Promise<void> {
  at += STEP_MS;
  await owned.append(facts, { at, elapsed });
}

const turn = (n: number, lane: string, iteration: number): NewFact[] => [
  { type: "iteration-start", lane, n: iteration, why: "next" },
  {
    type: "turn-start",
    lane,
    turn: n,
    uuid: `5b6f0f6e-1e0f-4a1b-9b1a-0a5b8a1f0c1${n}`,
    iteration,
    attempt: 1,
    session: { ref: `s-${n}`, mode: "new" },
    agent: "messages",
    model: null,
    prompt: { blob: "a".repeat(64), bytes: 1234, cut: [] },
    reserve: { usd: null, tokens: null },
    directives: [],
  },
  {
    type: "turn-end",
    lane,
    turn: n,
    outcome: { is: "done" },
    usage,
    text: "",
    claim: null,
    tools: [],
    durationMs: 1_000,
    messageId: `m-${n}`,
    contextTokens: 1_600,
    repeatedCalls: 0,
    foundOut: false,
  },
];

await put(0, { type: "lease-changed", pid: 4242, startedAt: "12345", boot: "b00t", host: "here", swept: 0 });
await put(1, { type: "lane-start", why: "run" });
await put(
  2,
  ...turn(1, "main", 1),
  { type: "proposal-made", turn: 1, iteration: 1, do: "plan", note: "in parts" },
  {
    type: "plan-made",
    revision: 1,
    by: "agent",
    turn: 1,
    steps: [
      { id: "sieve", title: "write a sieve", needs: [], expect: "a list" },
      { id: "count", title: "count them", needs: ["sieve"], expect: "a number" },
    ],
  },
);
await put(
  3,
  ...turn(2, "step/sieve", 1),
  {
    type: "proposal-made",
    lane: "step/sieve",
    turn: 2,
    iteration: 1,
    do: "run",
    note: "sieve",
    language: "python",
    code: kept("print(primes)", "b"),
  },
  {
    type: "execution-recorded",
    lane: "step/sieve",
    turn: 2,
    iteration: 1,
    by: "local",
    language: "python",
    code: kept("print(primes)", "b"),
    end: { is: "exit", code: 1 },
    stdout: kept("", "c"),
    stderr: kept("NameError: name 'primes' is not defined", "d"),
    files: [{ path: "list.txt", bytes: 12 }],
    durationMs: 31.5,
    kind: "exception",
    exception: {
      type: "NameError",
      message: "name 'primes' is not defined",
      frames: [{ file: "solution.py", line: 1, function: "<module>", text: "print(primes)" }],
      causes: [],
    },
    fingerprint: "f".repeat(16),
    message: "Failed (exception): NameError",
  },
  {
    type: "step-end",
    lane: "step/sieve",
    step: "sieve",
    is: "failed",
    result: kept("no result after 1 attempts", "e"),
  },
  { type: "step-end", lane: "step/count", step: "count", is: "skipped", result: kept("step sieve has no result", "f") },
);
await put(
  4,
  ...turn(3, "main", 2),
  { type: "proposal-made", turn: 3, iteration: 2, do: "nothing", note: "", problem: "its answer is no object" },
  ...turn(4, "main", 3),
  { type: "proposal-made", turn: 4, iteration: 3, do: "answer", note: "known", answer: kept("25", "9") },
);
await put(5, {
  type: "run-end",
  outcome: { is: "claimed", rule: "done", reason: "the model gives its answer; no check judges it" },
});

writeFileSync(new URL(`facts-v${FACT_VERSION}-solve.jsonl`, import.meta.url), handle.exportRun(RUN));
handle.close();
