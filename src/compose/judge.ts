/**
 * Checks on one tree with no loop around them: for a person who wants to know how the tree stands, and for one who
 * doubts what a run said. What comes back is masked like everything that the journal would keep.
 */
import type { Verdict } from "../events.ts";
import { redactValues } from "../journal/chain.ts";
import { afterQuarantine } from "../loop/quarantine.ts";
import { comparedWith, isExcused, onBaseTests } from "../loop/stages.ts";
import type { Check, JudgeAbout, JudgedChange, Ports, Redact } from "../ports.ts";
import type { VerdictSpec } from "../spec.ts";

export interface Judging {
  ports: Pick<Ports, "workspace">;
  goal: string;
  /** What guards and judges compare with. */
  base: string;
  tree: string;
  /** The tree without the tests that the base lacks, where that is another. */
  baseTests: string | undefined;
  policy: VerdictSpec;
  /** For quarantine, ms since 1970. */
  wall: number;
  undone: JudgedChange["undone"];
  /** By name of the check; of the tree before the first turn. */
  baselines: ReadonlyMap<string, Verdict>;
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

/** In the stages of a run: the base's tests have to hold without the new ones. */
export async function judgedOnce(check: Check, judging: Judging): Promise<Verdict> {
  const { tree, baseTests = tree, baselines, policy, wall, signal, redact } = judging;
  const alone = baseTests === tree ? undefined : afterQuarantine(await onTree(check, baseTests, judging), policy, wall);
  const isSettled = alone !== undefined && alone.is !== "pass" && !isExcused(alone, baselines.get(check.name));
  const verdict =
    alone !== undefined && (isSettled || signal.aborted)
      ? onBaseTests(alone, await judging.ports.workspace.changes(baseTests, tree))
      : await onTree(check, tree, judging);
  return redactValues(afterQuarantine(verdict, policy, wall), redact);
}

async function onTree(check: Check, tree: string, judging: Judging): Promise<Verdict> {
  const verify = await judging.ports.workspace.verifyTree(tree);
  try {
    return await check.judge(verify, judging.signal, aboutJudging(check, judging));
  } finally {
    await verify.release();
  }
}

function aboutJudging(
  { name }: Check,
  { ports: { workspace }, goal, base, tree, undone, baselines, testsFollowed, verdicts }: Judging,
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
