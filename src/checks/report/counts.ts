/**
 * How many tests a runner says it ran, where it does not say which. As tests without names: fewer of them than before
 * is then seen the same way as one that is missing.
 */
import { MAX_TESTS, type RawTest } from "./report.ts";

/** In front of the number that is its name. */
export const UNNAMED = "unnamed test ";

interface Count {
  passed: number;
  failed: number;
  skipped: number;
}

/** Each takes a line and says what it counts; undefined where it is no sum. */
const SUMS: readonly ((line: string) => Count | undefined)[] = [
  // jest: "Tests:       1 failed, 2 skipped, 3 passed, 6 total"; vitest: "     Tests  1 failed | 3 passed (4)"
  (line) => (/^\s*Tests:? +\d+ (?:failed|passed|skipped|todo|total)/.test(line) ? words(line) : undefined),
  // pytest
  (line) => (/^=*\s*\d+ (?:passed|failed|skipped|xfailed|xpassed)\b.* in [\d.]+s/.test(line) ? words(line) : undefined),
  // cargo
  (line) =>
    line.startsWith("test result: ") ? words(line.replaceAll(";", ",").replaceAll("ignored", "skipped")) : undefined,
];

const countsIn = (lines: readonly string[]): Count[] => [
  ...SUMS.flatMap((sum) => lines.map((line) => sum(line)).filter((one) => one !== undefined)),
  ...ofUnittest(lines),
];

/** What runners say that found nothing to run, other than a sum of zero. */
const NOTHING: readonly RegExp[] = [
  // node:test
  /^[ℹ#] tests 0$/,
  // go
  /^(?:ok|\?)\s*\t\S+\s.*\[no tests? (?:files|to run)\]$/,
  // pytest, vitest and jest that were told to bear it
  /^=*\s*no tests ran in [\d.]+s/,
  /^No test files found, exiting with code 0$/,
  /^No tests found, exiting with code 0$/,
];

/** Nothing but such words: a runner that ran something besides makes them harmless. */
export function saysNoTests(lines: readonly string[]): boolean {
  const found = countsIn(lines);
  const isZero = found.every(({ passed, failed, skipped }) => passed + failed + skipped === 0);
  const isGo = lines.some((line) => /^(?:ok|FAIL)\s*\t\S+/.test(line) && !line.includes("[no test"));
  const isNode = lines.some((line) => /^[ℹ#] tests [1-9]/.test(line));
  return (
    isZero && !isGo && !isNode && (found.length > 0 || lines.some((line) => NOTHING.some((one) => one.test(line))))
  );
}

export function readCounts(lines: readonly string[]): RawTest[] | undefined {
  const found = countsIn(lines);
  const total = (of: keyof Count): number => found.reduce((sum, one) => sum + one[of], 0);
  const [passed, failed, skipped] = [total("passed"), total("failed"), total("skipped")];
  const all = Math.min(passed + failed + skipped, MAX_TESTS);
  if (all === 0) return undefined;
  // Those that passed first: a test that is skipped now is one of the last.
  return Array.from({ length: all }, (_, n) => ({
    names: [`${UNNAMED}${n + 1}`],
    status: n < passed ? "pass" : n < passed + failed ? "fail" : "skip",
  }));
}

function words(line: string): Count {
  const sum = (names: string): number =>
    [...line.matchAll(new RegExp(`\\b(\\d{1,7}) (?:${names})\\b`, "g"))].reduce((total, [, n]) => total + Number(n), 0);
  return { passed: sum("passed|xpassed"), failed: sum("failed"), skipped: sum("skipped|todo|xfailed") };
}

/** "Ran 3 tests in 0.1s", a blank line, "OK (skipped=1)". */
function ofUnittest(lines: readonly string[]): Count[] {
  return lines.flatMap((line, at) => {
    const n = /^Ran (\d{1,7}) tests? in [\d.]+s$/.exec(line)?.[1];
    if (n === undefined) return [];
    const result = lines.slice(at + 1, at + 3).join(" ");
    const of = (word: string): number => Number(new RegExp(`\\b${word}=(\\d{1,7})`).exec(result)?.[1] ?? 0);
    const failed = of("failures") + of("errors");
    const skipped = of("skipped") + of("expected failures");
    return [{ passed: Math.max(0, Number(n) - failed - skipped), failed, skipped }];
  });
}
