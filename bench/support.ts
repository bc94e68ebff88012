/** What the benchmarks share: a small repository, a run on it with a scripted agent, medians. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scripted, type ScriptedFunction } from "../src/agents/scripted.ts";
import { composeForRun, openDriverState } from "../src/compose.ts";
import { drive } from "../src/loop/drive.ts";
import type { RunState } from "../src/loop/state.ts";
import { runRecipe } from "../src/recipes/run.ts";
import type { RunSpec } from "../src/spec.ts";
import { plainSpec } from "../test/support/spec.ts";

/** The checkout, also when this file runs compiled from its cache folder. */
const ROOT = process.env["PAWL_BENCH_ROOT"] ?? join(import.meta.dirname, "..");
export const CLI = join(ROOT, "dist/views/cli/main.js");

export interface Place {
  root: string;
  repo: string;
  env: Record<string, string>;
  git: (...args: string[]) => string;
  remove: () => void;
}

/** The place below a root that another process has made. */
export function existingPlace(root: string): Place {
  const repo = join(root, "repo");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: join(root, "home"),
    PAWL_HOME: join(root, "state"),
    XDG_CACHE_HOME: join(ROOT, ".cache"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: repo, env, encoding: "utf8" }).trim();
  return { root, repo, env, git, remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

export function makePlace(files = 50): Place {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-bench-")));
  for (const dir of ["repo", "home", "state"]) mkdirSync(join(root, dir));
  const place = existingPlace(root);
  const { repo, git } = place;
  for (let i = 0; i < files; i += 1) writeFileSync(join(repo, `file-${i}.txt`), `content ${i}\n`);
  git("init", "-q", "-b", "main");
  git("config", "user.name", "User");
  git("config", "user.email", "user@example.invalid");
  git("add", "-A");
  git("commit", "-q", "-m", "base");
  return place;
}

export function specFor(place: Place, iterations: number): RunSpec {
  const plain = plainSpec(place.repo);
  return {
    ...plain,
    run: `r-bench-${iterations}`,
    goal: "benchmark",
    workspace: { ...plain.workspace, branch: "pawl/bench" },
    agent: { ...plain.agent, contextLimitTokens: 1e9 },
    checks: [{ name: "true", kind: "command", command: "true", required: true, timeoutMs: 60_000 }],
    limits: { iterations },
    struggle: { patience: 3, shortTurnMs: 0, ladder: ["stop"] },
    waits: { backoffBaseMs: 100, backoffMaxMs: 1_000, limitCapMs: 1_000 },
    environment: { PATH: place.env["PATH"] ?? "" },
  };
}

/** Drives a whole run in this process with a scripted agent. */
export async function driveHere(place: Place, iterations: number, play: ScriptedFunction): Promise<RunState> {
  const state = await openDriverState(place.env);
  const spec = specFor(place, iterations);
  const commit = place.git("rev-parse", "HEAD");
  const tree = place.git("rev-parse", "HEAD^{tree}");
  const base = { commit, tree, branch: "main", detached: false };
  await state.journal.create(
    spec.run,
    { type: "run-start", spec, pawl: "bench", base },
    { repository: place.repo, goal: spec.goal },
  );
  const composed = await composeForRun({
    run: spec.run,
    env: place.env,
    state,
    agents: { scripted: scripted(play) },
  });
  try {
    const ended = await drive({
      run: spec.run,
      recipe: runRecipe,
      ports: composed.ports,
      signal: new AbortController().signal,
    });
    await refuseRed(state, spec.run);
    return ended;
  } finally {
    await composed.close();
    state.close();
  }
}

/** A check that could not even be run would be measured as one that is waited for. */
async function refuseRed({ journal }: Awaited<ReturnType<typeof openDriverState>>, run: string): Promise<void> {
  const facts = await journal.read(run);
  const red = facts.find((fact) => fact.type === "check-end" && fact.verdict.is !== "pass");
  if (red !== undefined) throw new Error(`not what was to be measured: ${JSON.stringify(red)}`);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
