/**
 * Failures that the tree before the first turn has too. They are told apart by their fingerprints; whether they count is
 * the person's choice, and where it is not known well enough what failed they always do. Pure.
 */
import type { Failure, Verdict } from "../events.ts";
import type { CheckSpec } from "../spec.ts";
import { voters } from "./combine.ts";
import { isMissing } from "./quarantine.ts";
import type { RunState } from "./state.ts";

type Failed = Extract<Verdict, { is: "fail" }>;

type Before = Pick<RunState, "baselines" | "spec">;

/** Those of a failed check that the base has too. */
export function oldFailures(state: Before, check: string, verdict: Verdict | undefined): Failure[] {
  if (verdict?.is !== "fail") return [];
  const known = redBefore(state, check);
  return verdict.failures.filter(({ fingerprint }) => known.has(fingerprint));
}

/** Fingerprints of what failed before any work: the base of a fork is the work of another run, whose own base counts. */
export function redBefore({ baselines, spec }: Before, check: string): ReadonlySet<string> {
  const before = baselines.get(check);
  const own = before?.is === "fail" ? before.failures.map(({ fingerprint }) => fingerprint) : [];
  const first = spec.fork?.redBefore;
  return new Set(
    first === undefined
      ? own
      : own.filter((one) => Object.hasOwn(first, check) && first[check]?.includes(one) === true),
  );
}

/** Nothing fails but what failed before the first turn, and it is known by name. */
export function isOldOnly(state: Before, check: string, verdict: Verdict | undefined): boolean {
  const before = state.baselines.get(check);
  if (verdict?.is !== "fail" || before?.is !== "fail" || !isNamed(verdict) || !isNamed(before)) return false;
  if (isCut(verdict)) return false;
  return oldFailures(state, check, verdict).length === verdict.failures.length;
}

/** Old failures only, and a person said that those do not count. */
export const isLeft = (state: Before, check: string, verdict: Verdict | undefined): boolean =>
  state.spec.verdicts.preExisting === "leave" && isOldOnly(state, check, verdict);

/** What is said of a run where `guardsOnly` holds. */
export const GUARDS_ONLY =
  "every required check passed before the first turn, too: they guard against regressions and do not show the goal";

/** Every check that decides passed before the first turn; a guard has nothing to say of the base, a model was not asked. */
export function guardsOnly(state: Before): boolean {
  const deciding = voters(state.spec.checks, state.spec.verdicts);
  const passed = ({ name, kind }: CheckSpec): boolean =>
    kind === "guard" ||
    (state.baselines.get(name)?.is === "pass" && (state.spec.fork?.redBefore?.[name] ?? []).length === 0);
  return deciding.some(({ kind }) => kind !== "guard") && deciding.every(passed);
}

/** A line such as "tests failed" would hide what fails besides: each failure must be of a report, or in a file. */
const isNamed = ({ evidence, failures }: Failed): boolean =>
  (evidence.tests ?? null) !== null || failures.every(({ file }) => file !== undefined);

/** More tests failed than are listed: nobody knows the names of the others. */
const isCut = ({ evidence, failures }: Failed): boolean =>
  (evidence.tests?.failed ?? 0) > failures.filter((failure) => !isMissing(failure)).length;

/** What the change is to blame for: progress, struggle and failure memory look at this alone. */
export function blamed(state: Before, check: string, verdict: Verdict): Verdict {
  if (verdict.is !== "fail" || state.spec.verdicts.preExisting !== "leave") return verdict;
  if (isLeft(state, check, verdict)) return { is: "pass", evidence: verdict.evidence };
  const old = new Set(oldFailures(state, check, verdict));
  const [first, ...rest] = verdict.failures.filter((failure) => !old.has(failure));
  return first === undefined ? verdict : { ...verdict, failures: [first, ...rest] };
}
