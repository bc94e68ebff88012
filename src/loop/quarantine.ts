/**
 * Tests that a person has put aside until a day: where a report names every failure and all are of such tests, the check
 * passes, and its evidence names them. Pure; today is passed in.
 */
import type { Verdict } from "../events.ts";
import type { VerdictSpec } from "../spec.ts";

const DAY_MS = 86_400_000;

export function afterQuarantine(verdict: Verdict, { quarantine }: VerdictSpec, wall: number): Verdict {
  if (verdict.is !== "fail" || quarantine.length === 0) return verdict;
  const tests = verdict.evidence.tests ?? null;
  // Without a report nobody knows what else failed, and a list that was cut does not say it either.
  if (tests === null || tests.failed > verdict.failures.length) return verdict;
  const aside = quarantine.filter(({ until }) => wall < Date.parse(until) + DAY_MS);
  const named = verdict.failures.map(({ fingerprint }) => aside.find(({ test }) => isTest(fingerprint, test))?.test);
  if (named.includes(undefined)) return verdict;
  const quarantined = [...new Set(named.filter((test) => test !== undefined))];
  return { is: "pass", evidence: { ...verdict.evidence, quarantined } };
}

/** The whole id, or its end from the border of a word: the name of a test without its file. */
function isTest(fingerprint: string, test: string): boolean {
  if (!fingerprint.endsWith(test)) return false;
  const before = fingerprint.at(-test.length - 1);
  return before === undefined || fingerprint === test || !/[\w-]/.test(before);
}
