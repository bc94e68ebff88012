/** Whether the tests of a change are fewer, weaker or less run than before; moved ones are not. Pure. */
import type { Failure } from "../../events.ts";
import { countsOf, type Counts } from "./count.ts";
import { counted as numberOf } from "../../plural.ts";

/** A changed file, before the first turn and now; undefined where there was or is none. */
export interface Version {
  path: string;
  before: string | undefined;
  after: string | undefined;
}

interface Counted {
  path: string;
  isGone: boolean;
  before: Counts;
  after: Counts;
}

const MAX_NAMES_SHOWN = 5;

/** Files that are tests by their path, or that have tests in them as Rust's have. */
export function countTests(versions: readonly Version[], isTest: (path: string) => boolean): Counted[] {
  return versions
    .map(({ path, before, after }) => ({
      path,
      isGone: after === undefined,
      before: countsOf(path, before),
      after: countsOf(path, after),
    }))
    .filter(({ path, before, after }) => isTest(path) || before.tests.length > 0 || after.tests.length > 0);
}

const finding = (rule: string, path: string, says: string): Failure => ({
  fingerprint: `guard:${rule}:${path}`,
  message: `${rule}: ${path} ${says}`,
  file: path,
});

export function deletedTests(counted: readonly Counted[]): Failure[] {
  const gained = bag(counted.flatMap(({ before, after }) => without(after.tests, before.tests)));
  return counted.flatMap(({ path, isGone, before, after }) => {
    const moved = (name: string): boolean => take(gained, name);
    const lost = without(before.tests, after.tests).filter((name) => !moved(name));
    // In a file that stays a test may get another name; the number of tests says whether one is missing.
    const renamed = isGone ? 0 : without(after.tests, before.tests).length;
    if (lost.length <= renamed) return [];
    const names = lost.slice(0, MAX_NAMES_SHOWN).map((name) => JSON.stringify(name));
    return [
      finding(
        "tests-deleted",
        path,
        `${isGone ? "is gone, and" : "has lost"} ${lost.length} of its tests: ${names.join(", ")}`,
      ),
    ];
  });
}

export function skippedTests(counted: readonly Counted[]): Failure[] {
  if (sum(counted, ({ after }) => after.skips) <= sum(counted, ({ before }) => before.skips)) return [];
  return counted
    .filter(({ before, after }) => after.skips > before.skips)
    .map(({ path, before, after }) =>
      finding(
        "tests-skipped",
        path,
        `skips or narrows tests in ${numberOf(after.skips, "place")}, before in ${before.skips}`,
      ),
    );
}

export function emptiedTests(counted: readonly Counted[]): Failure[] {
  const isLess = sum(counted, ({ after }) => after.assertions) < sum(counted, ({ before }) => before.assertions);
  return counted
    .filter(({ isGone, before, after }) => {
      if (isGone || after.assertions >= before.assertions) return false;
      // Where no test left the file its assertions cannot have left with it.
      return isLess || without(before.tests, after.tests).length === 0;
    })
    .map(({ path, before, after }) =>
      finding(
        "tests-emptied",
        path,
        `has ${numberOf(after.assertions, "assertion")} that count, before ${before.assertions}`,
      ),
    );
}

const sum = (counted: readonly Counted[], of: (one: Counted) => number): number =>
  counted.reduce((total, one) => total + of(one), 0);

function bag(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Whether there was one left. */
function take(counts: Map<string, number>, name: string): boolean {
  const left = counts.get(name) ?? 0;
  counts.set(name, left - 1);
  return left > 0;
}

/** What `names` has more often than `others`. */
function without(names: readonly string[], others: readonly string[]): string[] {
  const counts = bag(others);
  return names.filter((name) => !take(counts, name));
}
