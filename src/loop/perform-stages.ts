/**
 * One judgement of a change, by one rule for the run and for whoever repeats it: the base's tests must hold without the
 * new ones, which could keep them from being run.
 */
import type { Verdict } from "../events.ts";
import type { Workspace } from "../ports.ts";
import { isLeft } from "./pre-existing.ts";
import { afterQuarantine } from "./quarantine.ts";
import { isExcused, onBaseTests } from "./stages.ts";
import type { RunState } from "./state.ts";

interface Staged {
  /** Its name. */
  check: string;
  tree: string;
  /** The tree without the tests that the base lacks, where that is another. */
  baseTests: string | undefined;
  before: Pick<RunState, "baselines" | "spec">;
  /** What the check compares with. */
  baseline: Verdict | undefined;
  /** For quarantine, ms since 1970. */
  wall: number;
  judge: (tree: string) => Promise<Verdict>;
  workspace: Pick<Workspace, "changes">;
  signal: AbortSignal;
}

export async function judgeInStages(staged: Staged): Promise<Verdict> {
  const { check, tree, baseTests, before, baseline, wall, judge, workspace, signal } = staged;
  if (baseTests !== undefined && baseTests !== tree) {
    const alone = afterQuarantine(await judge(baseTests), before.spec.verdicts, wall);
    // What does not count here must not hide what the new tests say.
    const isHeld = alone.is === "pass" || isLeft(before, check, alone);
    if (!isHeld && !isExcused(alone, baseline)) return onBaseTests(alone, await workspace.changes(baseTests, tree));
    if (signal.aborted) return alone;
  }
  return await judge(tree);
}
