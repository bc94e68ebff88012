/**
 * Checks on one tree with no loop around them: for a person who wants to know how the tree stands, and for one who
 * doubts what a run said. What comes back is masked like everything that the journal would keep.
 */
import type { Verdict } from "../events.ts";
import { redactValues } from "../journal/chain.ts";
import { afterQuarantine } from "../loop/quarantine.ts";
import { judgeInStages } from "../loop/perform-stages.ts";
import { comparedWith } from "../loop/stages.ts";
import type { RunState } from "../loop/state.ts";
import type { Check, JudgeAbout, JudgedChange, Ports, Redact, Workspace } from "../ports.ts";
import type { RunSpec } from "../spec.ts";

export interface Judging {
  ports: Pick<Ports, "workspace">;
  spec: RunSpec;
  /** What guards and judges compare with. */
  base: string;
  tree: string;
  /** The tree without the tests that the base lacks, where that is another. */
  baseTests: string | undefined;
  /** For quarantine, ms since 1970. */
  wall: number;
  undone: JudgedChange["undone"];
  /** By name of the check; of the tree before the first turn. */
  baselines: RunState["baselines"];
  /** A person changed tests between turns. */
  testsFollowed: boolean;
  /** Of the checks that came before, by name. */
  verdicts: ReadonlyMap<string, Verdict>;
  redact: Redact;
  signal: AbortSignal;
}

/** Runs it `runs` times, each on a tree that is written anew; ends early when it could not judge. */
export async function judged(check: Check, { runs, ...judging }: Judging & { runs: number }): Promise<Verdict> {
  const said: Verdict[] = [];
  while (said.length < runs && !judging.signal.aborted) {
    const verdict = await judgedOnce(check, judging);
    said.push(verdict);
    if (!("evidence" in verdict)) return verdict;
  }
  return overRuns(said);
}

/** In the stages of a run. */
export async function judgedOnce(check: Check, judging: Judging): Promise<Verdict> {
  const { spec, tree, baseTests, baselines, wall, signal, redact } = judging;
  const { workspace } = judging.ports;
  const about = aboutJudging(check, judging);
  const verdict = await judgeInStages({
    check: check.name,
    tree,
    baseTests,
    before: { spec, baselines },
    baseline: about.baseline,
    wall,
    judge: (one) => onTree(check, one, { about, workspace, signal }),
    workspace,
    signal,
  });
  return redactValues(afterQuarantine(verdict, spec.verdicts, wall), redact);
}

async function onTree(
  check: Check,
  tree: string,
  { about, workspace, signal }: { about: JudgeAbout; workspace: Workspace; signal: AbortSignal },
): Promise<Verdict> {
  const verify = await workspace.verifyTree(tree);
  try {
    return await check.judge(verify, signal, about);
  } finally {
    await verify.release();
  }
}

function aboutJudging(
  { name }: Check,
  { ports: { workspace }, spec: { goal }, base, tree, undone, baselines, testsFollowed, verdicts }: Judging,
): JudgeAbout {
  return {
    goal,
    baseline: comparedWith(baselines.get(name), { testsFollowed }),
    change: {
      base,
      tree,
      files: () => workspace.changes(base, tree),
      diff: (maxBytes) => workspace.diff(base, tree, maxBytes),
      before: (path, maxBytes) => workspace.fileAt(base, path, maxBytes),
      undone,
    },
    verdicts: new Map([...verdicts].filter(([other]) => other !== name)),
  };
}

const NEVER_RAN: Verdict = { is: "unverifiable", reason: "it was not run" };

/** What several runs on the same tree come to: pass and fail together are neither. Pure. */
export function overRuns(verdicts: readonly Verdict[]): Verdict {
  const last = verdicts.at(-1) ?? NEVER_RAN;
  if (verdicts.length < 2 || !("evidence" in last)) return last;
  const runs = verdicts.length;
  const failed = verdicts.find((verdict) => verdict.is === "fail" || verdict.is === "flaky");
  const passed = verdicts.some((verdict) => verdict.is === "pass");
  if (failed !== undefined && passed && failed.is !== "flaky")
    return { is: "flaky", evidence: { ...failed.evidence, runs }, failures: failed.failures, runs };
  const telling = failed ?? last;
  return { ...telling, evidence: { ...telling.evidence, runs } };
}
