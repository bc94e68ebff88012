/** A run written straight into a journal, without a driver: what views are shown in their tests. */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import type { NewFact, Verdict } from "../../src/events.ts";
import { openJournal, type JournalHandle } from "../../src/journal/open.ts";
import { makeRedact } from "../../src/journal/redact.ts";
import type { OwnedRun, Owner } from "../../src/ports.ts";
import type { RunSpec } from "../../src/spec.ts";
import { makeSpec, startFact } from "./world.ts";

const oid = (text: string): string => createHash("sha1").update(text).digest("hex");
/** Of before this machine was started, so certainly dead. */
const NOBODY: Owner = { pid: 1, startedAt: "never", boot: "before", host: hostname() };

export interface Recording {
  readonly run: string;
  readonly handle: JournalHandle;
  /** Appends in order; each fact is a second of driven time after the one before. */
  add(...facts: NewFact[]): Promise<void>;
  /** The driver lets go, as at the end of every drive. */
  release(): Promise<void>;
  close(): void;
}

export interface RecordingOptions {
  dir: string;
  repository: string;
  run: string;
  /** Wall clock of the first fact. */
  at?: number;
  spec?: Partial<RunSpec>;
  owner?: Owner;
}

export async function recordRun(options: RecordingOptions): Promise<Recording> {
  const { dir, repository, run, owner = NOBODY } = options;
  const base = makeSpec();
  const spec = makeSpec({ run, ...options.spec, workspace: { ...base.workspace, repository, path: repository } });
  const handle = openJournal({ dir, redact: makeRedact({ environment: {} }), isAlive: () => false });
  await handle.journal.create(run, startFact(spec), { repository, goal: spec.goal });
  const owned: OwnedRun = await handle.journal.own(run, owner);
  const startedAt = options.at ?? Date.now();
  let seconds = 0;
  return {
    run,
    handle,
    async add(...facts) {
      for (const fact of facts) {
        seconds += 1;
        await owned.append([fact], { at: startedAt + seconds * 1_000, elapsed: seconds * 1_000 });
      }
    },
    release: () => owned.release(),
    close: () => handle.close(),
  };
}

/** The facts of one iteration of a lane that is ready, from prompt to hand-over. */
export function iterationFacts(
  n: number,
  about: { prompt: string; log: string | null; verdict: "pass" | "fail"; text?: string; promptBytes?: number },
): NewFact[] {
  const tree = oid(`tree ${n}`);
  return [
    { type: "iteration-start", n, why: "next" },
    {
      type: "turn-start",
      turn: n,
      uuid: `u${n}`,
      iteration: n,
      attempt: 1,
      session: { ref: "s1", mode: n === 1 ? "new" : "continue" },
      model: "claude-test",
      prompt: {
        blob: about.prompt,
        bytes: about.promptBytes ?? 10,
        cut: ["verdicts"],
      },
      reserve: { usd: null, tokens: null },
      directives: [],
    },
    {
      type: "turn-end",
      turn: n,
      outcome: { is: "done" },
      usage: {
        requests: 2,
        toolCalls: 3,
        inputTokens: 100,
        outputTokens: 20,
        cacheReadTokens: 1_000,
        cacheWriteTokens: 80,
        usd: 0.25,
        estimated: n === 2,
      },
      text: about.text ?? `said in iteration ${n}`,
      claim: about.verdict === "pass" ? { is: "done", how: "promise", text: "" } : null,
      tools: [
        ["Bash", 2],
        ["Write", 1],
      ],
      durationMs: 61_000,
      messageId: `m${n}`,
      contextTokens: 1_200,
      repeatedCalls: 1,
      foundOut: false,
    },
    {
      type: "change-recorded",
      iteration: n,
      snapshot: n,
      commit: oid(`commit ${n}`),
      tree,
      judged: tree,
      by: "agent",
      files: [{ path: "src/a.ts", status: "M", added: 3, removed: 1 }],
      fileCount: 1,
      added: 3,
      removed: 1,
      warnings: [],
    },
    { type: "check-start", check: "tests", tree, iteration: n },
    { type: "check-end", check: "tests", tree, iteration: n, verdict: verdictOf(about.verdict, { n, ...about }) },
    ...(about.verdict === "fail" ? [failure(n, about.text)] : []),
    {
      type: "decision-made",
      iteration: n,
      rule: about.verdict === "pass" ? "all-required-pass" : "continue",
      next: about.verdict === "pass" ? "end" : "continue",
      reason: about.verdict === "pass" ? "tests passed on the delivered tree" : "1 of 1 checks are red",
      numbers: { iteration: n, struggling: 0 },
      ...(about.verdict === "pass"
        ? {
            outcome: {
              is: "verified" as const,
              rule: "all-required-pass",
              reason: "tests passed on the delivered tree",
            },
          }
        : {}),
    },
    { type: "effect-intended", effect: `accept/${n}`, kind: "commit", iteration: n, tree, message: "pawl: iteration" },
    {
      type: "change-accepted",
      iteration: n,
      tree,
      commit: oid(`handed ${n}`),
      branch: "pawl/x",
      adopted: [],
      warnings: [],
    },
  ];
}

export const laneReady = (): NewFact[] => [
  { type: "lease-changed", ...NOBODY, swept: 0 },
  { type: "lane-start", why: "run" },
  {
    type: "change-recorded",
    iteration: 0,
    snapshot: 0,
    commit: oid("base commit"),
    tree: oid("base tree"),
    judged: oid("base tree"),
    by: "user",
    files: [],
    fileCount: 0,
    added: 0,
    removed: 0,
    warnings: [],
  },
];

function failure(n: number, text = ""): NewFact {
  return {
    type: "failure-recorded",
    iteration: n,
    approach: oid(`approach ${n}`).slice(0, 12),
    summary: `changed src/a.ts ${text}`.trim(),
    fingerprints: [`test a ${n}`],
    messages: [`expected ${n}`],
  };
}

function verdictOf(
  is: "pass" | "fail",
  { n, log, text = "" }: { n: number; log: string | null; text?: string },
): Verdict {
  const evidence = {
    tree: oid(`tree ${n}`),
    command: "npm test",
    exitCode: is === "pass" ? 0 : 1,
    signal: null,
    durationMs: 1_500,
    log,
    logBytes: 42,
    isolation: "copy",
    suspicions: [],
  };
  if (is === "pass") return { is, evidence };
  const message = `expected ${n} to be 0 ${text}`.trim();
  return { is, evidence, failures: [{ fingerprint: `test a ${n}`, message }], excerpt: `not ok 1 - a\n${message}` };
}
