/**
 * One verdict from several runs of a check on one tree. What failed and had passed before is run again, and so is a pass
 * where the check has been flaky: what both passes and fails on the same tree is flaky, never green. Pure.
 */
import type { Failure, Verdict } from "../events.ts";
import type { CheckSpec } from "../spec.ts";
import type { RunState } from "./state.ts";

type Failed = Extract<Verdict, { is: "fail" }>;
type Passed = Extract<Verdict, { is: "pass" }>;

type Runs = readonly [Verdict, ...Verdict[]];

/** What runs something may come out otherwise the next time; a model that is asked again is paid again. */
export const REPEATED: ReadonlySet<CheckSpec["kind"]> = new Set(["command", "custom", "metric"]);

/** undefined: it has to be run once more to know. */
export function verdictOfRuns(
  state: Pick<RunState, "spec" | "latest" | "flakes">,
  { name, kind }: Pick<CheckSpec, "name" | "kind">,
  runs: Runs,
): Verdict | undefined {
  if (!REPEATED.has(kind)) return runs[0];
  const { reruns, passes } = state.spec.verdicts;
  return settled(runs, {
    reruns: (first) => (hadPassed(state, name, first) ? reruns : 0),
    passes: state.flakes.has(name) ? passes : 1,
  });
}

/** A base that could not be judged is asked again: without it nothing tells whether tests vanished. */
const MAX_BASE_TRIES = 3;

/** What may end the run, and what the check said when it was asked again: as soon as that is no pass, it counts. */
export function sameAgain(good: Passed | Failed, more: readonly Verdict[]): Verdict {
  const runs = (good.evidence.runs ?? 1) + more.length;
  const other = more.find(({ is }) => is === "fail") ?? more.find(({ is }) => is !== "pass");
  if (other === undefined) return more.length === 0 ? good : { ...good, evidence: { ...good.evidence, runs } };
  if (other.is !== "fail") return other;
  return { is: "flaky", evidence: { ...other.evidence, runs }, failures: other.failures, runs };
}

/** Where old failures do not count, one that is there by chance would hide a real one: it must be there every time. */
export function baselineOfRuns(
  { spec }: Pick<RunState, "spec">,
  { kind }: Pick<CheckSpec, "kind">,
  runs: Runs,
): Verdict | undefined {
  const { reruns, preExisting } = spec.verdicts;
  const [first, ...rest] = runs.filter((run) => !hasHung(run));
  // Beside the first turn it may only have been slow.
  if (first === undefined) return runs.length < MAX_HUNG_TRIES ? undefined : runs[0];
  const isUnknown = REPEATED.has(kind) && [first, ...rest].every(({ is }) => is === "unverifiable");
  if (isUnknown && runs.length < MAX_BASE_TRIES) return undefined;
  const times = preExisting === "leave" && REPEATED.has(kind) ? reruns : 0;
  return settled([first, ...rest], { reruns: () => times, passes: 1 });
}

/** A base that did not end within its limit, so often: it is red for that. */
const MAX_HUNG_TRIES = 2;

/** It did not end, on the base or as on the base; told by the command's check. */
export const hasHung = (verdict: Verdict | undefined): boolean =>
  verdict?.is === "fail" && verdict.failures.some(({ fingerprint }) => fingerprint === "timeout");

interface Need {
  /** How often a failure is run again. */
  reruns: (first: Failed) => number;
  passes: number;
}

function settled(runs: Runs, need: Need): Verdict | undefined {
  const failed = runs.filter((run): run is Failed => run.is === "fail");
  const passed = runs.filter((run): run is Passed => run.is === "pass");
  const last = runs.at(-1) ?? runs[0];
  const [first] = failed;
  if (first !== undefined && passed.length > 0) {
    const evidence = { ...first.evidence, runs: runs.length };
    return { is: "flaky", evidence, failures: first.failures, runs: runs.length };
  }
  if (first !== undefined) {
    const isAgain = last.is === "fail" && failed.length <= need.reruns(first);
    if (isAgain) return undefined;
    // Its numbers are those of the list, where a run had nothing else.
    const least = failed.reduce((one, next) => (next.failures.length < one.failures.length ? next : one));
    return { ...least, failures: lasting(failed, first), ...counted(least, runs.length) };
  }
  if (last.is !== "pass") return last;
  return passed.length < need.passes ? undefined : { ...last, ...counted(last, runs.length) };
}

const counted = ({ evidence }: Failed | Passed, runs: number): Pick<Passed, "evidence"> => ({
  evidence: runs === 1 ? evidence : { ...evidence, runs },
});

/** The newest verdict before this tree was a pass, or its report names what fails now among what did not. */
function hadPassed({ latest }: Pick<RunState, "latest">, check: string, { evidence, failures }: Failed): boolean {
  const before = latest.get(check);
  if (before?.is === "pass") return true;
  if (before?.is !== "fail" || !hasReport(before.evidence) || !hasReport(evidence)) return false;
  const failing = new Set(before.failures.map(({ fingerprint }) => fingerprint));
  return failures.some(({ fingerprint }) => !failing.has(fingerprint));
}

const hasReport = ({ tests }: Failed["evidence"]): boolean => (tests ?? null) !== null;

/** What failed every time; where nothing did, what failed first. */
function lasting(failed: readonly Failed[], first: Failed): Failed["failures"] {
  const everyTime = (failure: Failure): boolean =>
    failed.every(({ failures }) => failures.some(({ fingerprint }) => fingerprint === failure.fingerprint));
  const [one, ...rest] = first.failures.filter(everyTime);
  return one === undefined ? first.failures : [one, ...rest];
}
