/** A repository whose trees are judged as in a run, without an agent: fence, verify trees and command checks, for real. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { makeCheck } from "../../src/compose/checks.ts";
import { verifyOptions, withDependencies } from "../../src/compose/dependencies.ts";
import { openRunFence } from "../../src/compose/fence.ts";
import type { Verdict } from "../../src/events.ts";
import type { Check, VerifyTree, Workspace } from "../../src/ports.ts";
import type { RunSpec } from "../../src/spec.ts";
import { laneLayout, type LaneLayout } from "../../src/workspace/layout.ts";
import { openWorkspace } from "../../src/workspace/open.ts";
import { noAbout } from "./about.ts";
import { memoryBlobs } from "./blobs.ts";
import { plainAgent, plainSpec } from "./spec.ts";

const CHECK_LIMIT_MS = 120_000;

interface Wanted {
  /** Of the base. */
  files: Readonly<Record<string, string>>;
  /** Done in the repository after its commit and before the run: what is installed. */
  install?: (repo: string) => void;
  fence?: RunSpec["fence"]["kind"];
  network?: RunSpec["fence"]["network"];
  setup?: RunSpec["setup"];
  checkGit?: boolean;
  /** Runners are asked for reports. */
  reports?: true;
  environment?: Readonly<Record<string, string>>;
  /** The program's own check, for `custom`. */
  custom?: Check;
}

export interface Judged {
  verdict: Verdict;
  /** All it printed. */
  output: string;
}

export interface JudgedPlace {
  root: string;
  repo: string;
  layout: LaneLayout;
  workspace: Workspace;
  base: string;
  write(files: Readonly<Record<string, string>>): void;
  /** The judged tree of the workspace as it is now. */
  snapshot(): Promise<string>;
  /** Without a tree, on the base. */
  judge(command: string, about?: { tree?: string; signal?: AbortSignal }): Promise<Judged>;
  judgeOwn(tree?: string): Promise<Verdict>;
  open(tree: string): Promise<VerifyTree>;
  close(): Promise<void>;
}

export async function judgedPlace(wanted: Wanted): Promise<JudgedPlace> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-judged-")));
  const [repo, stateDir, home] = [join(root, "repo"), join(root, "state"), join(root, "home")];
  for (const folder of [repo, stateDir, home]) mkdirSync(folder);
  const user = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: string[]): string => execFileSync("git", args, { cwd: repo, env: user, encoding: "utf8" });
  const write = (files: Readonly<Record<string, string>>): void => {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(repo, path)), { recursive: true });
      writeFileSync(join(repo, path), content);
    }
  };
  write(wanted.files);
  git("init", "-q", "-b", "main");
  git("add", "-A");
  git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "-qm", "base");
  wanted.install?.(repo);
  const { fence: kind = "bwrap", network = "off", setup, checkGit } = wanted;
  const plain = plainSpec(repo, { run: "r-judged" });
  const spec: RunSpec = {
    ...plain,
    workspace: { ...plain.workspace, branch: "pawl/judged" },
    fence: { ...plain.fence, kind, network },
    ...(setup === undefined ? {} : { setup }),
    ...(checkGit === undefined ? {} : { checkGit }),
  };
  const layout = laneLayout({ stateDir, repository: repo, run: spec.run, lane: "main" });
  const runDir = join(stateDir, "runs", spec.run);
  const environment = { PATH: user.PATH, HOME: join(runDir, "check-home"), ...wanted.environment };
  mkdirSync(environment.HOME, { recursive: true });
  const fence = await openRunFence({
    spec,
    layout,
    stateDir,
    runDir,
    agentHome: join(runDir, "agent"),
    checkHome: environment.HOME,
    programs: [],
    environment,
    onAttempt: () => undefined,
  });
  const forChecks = { ...environment, ...fence.environment };
  const verify = verifyOptions(spec, { fence, environment: forChecks });
  const about = { spec: spec.workspace, run: spec.run, lane: "main", stateDir, environment: user, verify };
  const workspace = await openWorkspace(about);
  const base = (await workspace.prepare()).tree;
  const blobs = memoryBlobs();
  const surroundings = {
    run: spec.run,
    blobs,
    environment: forChecks,
    fence: fence.check === undefined ? undefined : { confine: fence.check, level: fence.level },
    reports: wanted.reports === undefined ? undefined : fence.reports,
    custom: wanted.custom === undefined ? [] : [wanted.custom],
    tests: [],
    judge: { agent: undefined, settings: plainAgent, place: { home: root, environment: {} } },
  };
  const judgeWith = async (check: Check, tree: string, signal: AbortSignal): Promise<Verdict> => {
    const opened = await workspace.verifyTree(tree);
    try {
      return await check.judge(opened, signal, noAbout);
    } finally {
      await opened.release();
    }
  };
  let snapshots = 0;
  return {
    root,
    repo,
    layout,
    workspace,
    base,
    write,
    async snapshot() {
      const parent = snapshots === 0 ? null : snapshots;
      snapshots += 1;
      return (await workspace.snapshot(snapshots, { parent, message: "m", at: 1 })).judged;
    },
    async judge(command, { tree = base, signal = new AbortController().signal } = {}) {
      const given = { name: "check", kind: "command", command, required: true, timeoutMs: CHECK_LIMIT_MS } as const;
      const check = withDependencies(makeCheck(given, surroundings), { kind: "command", blobs });
      const verdict = await judgeWith(check, tree, signal);
      const log = "evidence" in verdict ? verdict.evidence.log : null;
      const output = log === null ? "" : Buffer.from((await blobs.get(log)) ?? []).toString("utf8");
      return { verdict, output };
    },
    async judgeOwn(tree = base) {
      const name = wanted.custom?.name ?? "";
      const given = { name, kind: "custom", command: name, required: true, timeoutMs: CHECK_LIMIT_MS } as const;
      const check = withDependencies(makeCheck(given, surroundings), { kind: "custom", blobs });
      return await judgeWith(check, tree, new AbortController().signal);
    },
    open: (tree) => workspace.verifyTree(tree),
    async close() {
      await workspace.close();
      await fence.close();
      rmSync(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
