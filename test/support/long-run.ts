/**
 * A program: one run of many instant iterations, to see what grows with history (F18, F20). `node --expose-gc
 * long-run.ts ITERATIONS simulated|real` prints a JSON line. Journal, trace, blobs, kernel and agent are the real ones;
 * `simulated` leaves out git and the check's process, which have no history in memory and cost most of the time.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scripted } from "../../src/agents/scripted.ts";
import { composeForRun, openDriverState } from "../../src/compose.ts";
import type { Verdict } from "../../src/events.ts";
import { drive } from "../../src/loop/drive.ts";
import { leanStart } from "../../src/platform/lean-start.ts";
import type { Check, Ports, Workspace } from "../../src/ports.ts";
import { runRecipe } from "../../src/recipes/run.ts";
import type { RunSpec } from "../../src/spec.ts";
import { plainSpec } from "./spec.ts";

/** Its own: who drives a run ends what else carries its name on this machine. */
const RUN = `r-long-${process.pid}`;
const SAMPLES = 20;

export interface LongRun {
  iterations: number;
  outcome: string;
  facts: number;
  /** Bytes of facts per iteration, over the second and the last fifth of the run. */
  factBytes: { early: number; late: number };
  /** Bytes in the state directory per iteration, over the same parts. */
  stateBytes: { early: number; late: number };
  /** Per iteration over the second half, after garbage collection. */
  heapSlopeBytes: number;
  rssSlopeBytes: number;
  fds: number[];
  rssMb: number;
  seconds: number;
  /** Reading and verifying the journal again. */
  resumeMs: number;
}

interface Sample {
  n: number;
  heap: number;
  rss: number;
  fds: number;
  state: number;
}

function specFor(repo: string, iterations: number): RunSpec {
  const plain = plainSpec(repo);
  return {
    ...plain,
    run: RUN,
    goal: "go on for long",
    workspace: { ...plain.workspace, branch: "pawl/long" },
    agent: { ...plain.agent, context: "auto", contextLimitTokens: 1_000 },
    checks: [{ name: "never", kind: "command", command: "test -e never", required: true, timeoutMs: 60_000 }],
    limits: { iterations },
    struggle: { patience: 1_000_000_000, shortTurnMs: 0, ladder: ["stop"] },
    waits: { backoffBaseMs: 1, backoffMaxMs: 1, limitCapMs: 1 },
    environment: { PATH: process.env["PATH"] ?? "" },
  };
}

const oid = (text: string): string => createHash("sha1").update(text).digest("hex");

/** Trees that never repeat, and red each time. */
function simulated(path: string): { workspace: Workspace; check: Check } {
  let at = 0;
  const evidence = {
    command: "test -e never",
    exitCode: 1,
    signal: null,
    durationMs: 1,
    log: null,
    logBytes: 0,
    isolation: "sim",
    suspicions: [],
  };
  const workspace: Workspace = {
    path,
    prepare: async () => ({ commit: oid("base"), tree: oid("0"), branch: "main", detached: false }),
    snapshot: async (n) => {
      const tree = oid(String((at = n)));
      const files = [{ path: "work.txt", status: "M" as const, added: 1, removed: 1 }];
      return {
        commit: oid(`c${n}`),
        tree,
        judged: tree,
        files,
        fileCount: 1,
        added: 1,
        removed: 1,
        warnings: [],
        flagged: [],
      };
    },
    // Another approach each time: what was tried is remembered, and nothing is blocked.
    diff: async () => `diff --git a/${oid(String(at))}.txt b/${oid(String(at))}.txt\n+word\n`,
    changes: async () => [],
    fileAt: async () => undefined,
    accept: async ({ tree }) => ({ commit: oid(`a${tree}`), branch: "pawl/long", adopted: [], warnings: [] }),
    read: async () => undefined,
    write: async () => undefined,
    restore: async (n, { salvage }) => ({ tree: oid(String(n)), salvage }),
    leftover: async () => undefined,
    planted: async () => undefined,
    standing: async () => ({ is: "whole", warnings: [] }),
    verifyTree: async (tree) => ({ path, tree, isolation: "sim", release: async () => undefined }),
    close: async () => undefined,
  };
  const judge = async ({ tree }: { tree: string }): Promise<Verdict> => ({
    is: "fail",
    evidence: { ...evidence, tree },
    failures: [{ fingerprint: `test ${at % 83}`, message: `expected ${at % 83} to be never` }],
    excerpt: `not ok 1 - test ${at % 83}`,
  });
  return { workspace, check: { name: "never", required: true, cost: "cheap", judge } };
}

/** Counted by another process: a list of all files here would be what grows. */
function bytesBelow(dir: string): number {
  return Number(
    execFileSync("du", ["-s", "--apparent-size", "--block-size=1", dir], { encoding: "utf8" }).split("\t")[0],
  );
}

function perIteration(a: Sample | undefined, b: Sample | undefined, of: "heap" | "rss" | "state"): number {
  if (a === undefined || b === undefined || a.n === b.n) return Number.NaN;
  return Math.round(((b[of] - a[of]) / (b.n - a.n)) * 10) / 10;
}

async function longRun(iterations: number, isReal: boolean): Promise<LongRun> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-long-")));
  const [repo, home, dir] = [join(root, "repo"), join(root, "home"), join(root, "state")];
  for (const made of [repo, home]) mkdirSync(made);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, PAWL_HOME: dir, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: repo, env, encoding: "utf8" }).trim();
  git("init", "-q", "-b", "main");
  git("-c", "user.name=U", "-c", "user.email=u@example.invalid", "commit", "-q", "--allow-empty", "-m", "base");
  const base = {
    commit: git("rev-parse", "HEAD"),
    tree: git("rev-parse", "HEAD^{tree}"),
    branch: "main",
    detached: false,
  };
  const spec = specFor(repo, iterations);
  const state = await openDriverState(env);
  const samples: Sample[] = [];
  const step = Math.max(1, Math.floor(iterations / SAMPLES));
  const sample = (n: number): void => {
    globalThis.gc?.();
    const { heapUsed: heap, rss } = process.memoryUsage();
    samples.push({ n, heap, rss, fds: readdirSync("/proc/self/fd").length, state: bytesBelow(dir) });
  };
  const agent = scripted(({ prompt, workspace }) => {
    const n = Number(/^Iteration (\d+)/m.exec(prompt)?.[1]);
    if (n % step === 0) sample(n);
    if (isReal) writeFileSync(join(workspace, `work-${n % 20}.txt`), `iteration ${n}\n`);
    return { text: `not yet, in ${n % 79}`, contextTokens: (n % 13) * 100, usage: { requests: 1, usd: 0.001 } };
  });
  try {
    const began = performance.now();
    await state.journal.create(
      RUN,
      { type: "run-start", spec, pawl: "test", base },
      { repository: repo, goal: spec.goal },
    );
    const composed = await composeForRun({ run: RUN, env, state, agents: { scripted: agent } });
    const sim = simulated(repo);
    const ports: Ports = isReal ? composed.ports : { ...composed.ports, workspace: sim.workspace, checks: [sim.check] };
    const ended = await drive({ run: RUN, recipe: runRecipe, ports, signal: new AbortController().signal });
    await composed.close();
    const seconds = (performance.now() - began) / 1_000;
    const resumeBegan = performance.now();
    const bytes = new Map<number, number>();
    let facts = 0;
    let current = 0;
    // As a driver does, one by one: a million facts do not fit into memory.
    const again = await state.journal.own(RUN, { pid: 1, startedAt: "0", boot: "b", host: "h" }, (fact) => {
      facts += 1;
      if (fact.type === "iteration-start") current = fact.n;
      bytes.set(current, (bytes.get(current) ?? 0) + Buffer.byteLength(JSON.stringify(fact)));
    });
    await again.release();
    const resumeMs = Math.round(performance.now() - resumeBegan);
    const mean = (from: number, to: number): number => {
      const list = [...bytes].filter(([n]) => n > from * iterations && n <= to * iterations).map(([, size]) => size);
      return Math.round(list.reduce((sum, size) => sum + size, 0) / list.length);
    };
    const at = (share: number): Sample | undefined =>
      samples[Math.min(samples.length - 1, Math.floor(share * samples.length))];
    return {
      iterations,
      outcome: `${ended.outcome?.is} ${ended.outcome?.rule}`,
      facts,
      factBytes: { early: mean(0.2, 0.4), late: mean(0.8, 1) },
      stateBytes: { early: perIteration(at(0.2), at(0.4), "state"), late: perIteration(at(0.7), at(1), "state") },
      heapSlopeBytes: perIteration(at(0.5), at(1), "heap"),
      rssSlopeBytes: perIteration(at(0.5), at(1), "rss"),
      fds: samples.slice(1).map(({ fds }) => fds),
      rssMb: Math.round((samples.at(-1)?.rss ?? 0) / 1e6),
      seconds: Math.round(seconds),
      resumeMs,
    };
  } finally {
    state.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

// As the command line does before it drives.
leanStart();
const [iterations = "200", mode = "simulated"] = process.argv.slice(2);
console.log(JSON.stringify(await longRun(Number(iterations), mode === "real")));
