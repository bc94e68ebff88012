/**
 * The control before a run ends verified: a failure is planted in the base's tests, and a check that passes all the same
 * may say what it was made to say, by code under test that ends it early or writes its report. It says nothing of a
 * check that does not see the plant on the base either. Pure.
 */
import type { Verdict } from "../events.ts";
import type { CheckSpec, RunSpec } from "../spec.ts";
import { voters } from "./combine.ts";
import { verdictOf, type Recorded, type RunState } from "./state.ts";

type Passed = Extract<Verdict, { is: "pass" }>;

/** A command may be a runner of tests, and a run may have tests whose failure it has to see. */
export const mayControl = ({ verdicts, protect }: RunSpec, { kind }: Pick<CheckSpec, "kind">): boolean =>
  verdicts.control === "auto" && protect.tests.length > 0 && kind === "command";

/** The check that is to be controlled on this tree before its pass ends the run. */
export function dueControl(state: RunState, { judged }: Pick<Recorded, "judged">): string | undefined {
  const { spec } = state;
  return voters(spec.checks, spec.verdicts).find((check) => {
    const verdict = verdictOf(state, judged, check.name);
    const before = state.baselines.get(check.name);
    // Where nothing is known of the base, nothing could be made of a plant that is not seen.
    const isBased = (before?.is === "pass" || before?.is === "fail") && before.evidence.control !== "none";
    return mayControl(spec, check) && isBased && verdict?.is === "pass" && verdict.evidence.control === undefined;
  })?.name;
}

/** The base has no test file that a failure can be planted in. */
export const uncontrolled = (verdict: Verdict): Verdict =>
  "evidence" in verdict ? { ...verdict, evidence: { ...verdict.evidence, control: "none" } } : verdict;

/** What the check said of the planted trees: the change's, and the base's where that was asked. */
export interface ControlRuns {
  change: Verdict | undefined;
  base: Verdict | undefined;
  /** What it says of the base as it is. */
  baseline: Verdict | undefined;
}

/** Whether the base has to be asked, to know what a pass means. */
export const needsBase = ({ change }: Pick<ControlRuns, "change">): boolean => change?.is === "pass";

export function controlled(verdict: Passed, runs: ControlRuns): Passed {
  const { evidence } = verdict;
  const say = (control: NonNullable<Passed["evidence"]["control"]>, ...suspicions: string[]): Passed => ({
    ...verdict,
    evidence: { ...evidence, control, suspicions: [...evidence.suspicions, ...suspicions] },
  });
  switch (runs.change?.is) {
    case undefined:
      return say("none");
    case "fail":
    case "flaky":
      return say("seen");
    case "pass":
      return showsPlant(runs)
        ? say("not-seen", "a failure planted in the base's tests is not seen: code under test may speak for the runner")
        : say("none");
    case "unverifiable":
    case "skipped":
      return say("none", `the control with a planted failure could not be made: ${runs.change.reason}`);
  }
}

/** On the base the plant makes a failure that is not there without it. */
function showsPlant({ base, baseline }: ControlRuns): boolean {
  if (base?.is !== "fail") return false;
  if (baseline?.is === "pass") return true;
  if (baseline?.is !== "fail") return false;
  const before = new Set(baseline.failures.map(({ fingerprint }) => fingerprint));
  return base.failures.some(({ fingerprint }) => !before.has(fingerprint));
}
