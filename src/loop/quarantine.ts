/**
 * Tests that a person has put aside until a day: where a report names every failure and all are of such tests, the check
 * passes, and its evidence names them. Pure; today is passed in.
 */
import type { Failure, Verdict } from "../events.ts";
import type { VerdictSpec } from "../spec.ts";

const DAY_MS = 86_400_000;

/** A test of the base that was not run: no failure of that test, so that nothing which excuses a failure excuses it. */
export const isMissing = ({ fingerprint }: Pick<Failure, "fingerprint">): boolean =>
  fingerprint.startsWith("tests-missing:");

export function afterQuarantine(verdict: Verdict, { quarantine }: VerdictSpec, wall: number): Verdict {
  if (verdict.is !== "fail" || quarantine.length === 0) return verdict;
  const tests = verdict.evidence.tests ?? null;
  // Without a report nobody knows what else failed, and a list that was cut does not say it either.
  if (tests === null || tests.failed > verdict.failures.length) return verdict;
  const named = verdict.failures.map((failure) => asideAs(failure, quarantine, wall));
  if (named.includes(undefined)) return verdict;
  const quarantined = [...new Set(named.filter((test) => test !== undefined))];
  return { is: "pass", evidence: { ...verdict.evidence, quarantined } };
}

/** What fails besides, where a report tells: of a list that was cut nobody knows it. */
export function besidesQuarantine(verdict: Verdict, policy: VerdictSpec, wall: number): Verdict {
  const after = afterQuarantine(verdict, policy, wall);
  if (after.is !== "fail" || (after.evidence.tests ?? null) === null) return after;
  const [first, ...rest] = after.failures.filter((failure) => asideAs(failure, policy.quarantine, wall) === undefined);
  return first === undefined
    ? { is: "unverifiable", reason: "more tests failed than are listed, and all that are listed are in quarantine" }
    : { ...after, failures: [first, ...rest] };
}

function asideAs(failure: Failure, quarantine: VerdictSpec["quarantine"], wall: number): string | undefined {
  if (isMissing(failure)) return undefined;
  const { fingerprint } = failure;
  return quarantine.find(({ test, until }) => wall < Date.parse(until) + DAY_MS && isTest(fingerprint, test))?.test;
}

/** The whole id, or its end from the border of a word: the name of a test without its file. */
function isTest(fingerprint: string, test: string): boolean {
  if (!fingerprint.endsWith(test)) return false;
  const before = fingerprint.at(-test.length - 1);
  return before === undefined || fingerprint === test || !/[\w-]/.test(before);
}
