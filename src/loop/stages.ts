/** What the verdict on the base's own tests, run without the new ones, means for the change. Pure. */
import type { Evidence, Verdict } from "../events.ts";

const SAID = "On the base's own tests, without the new ones:";

/** Words in front, so that nobody looks for the failure in the new tests. */
export function onBaseTests(verdict: Verdict): Verdict {
  switch (verdict.is) {
    case "fail":
      return { ...verdict, excerpt: `${SAID}\n${verdict.excerpt}` };
    case "unverifiable":
      return { ...verdict, reason: `${SAID} ${verdict.reason}` };
    case "flaky":
    case "skipped":
    case "pass":
      return verdict;
  }
}

/**
 * Every test of the base ran and passed, and what is red besides, a threshold of coverage say, was so before the run:
 * then the new tests may be what mends it.
 */
export function isExcused(alone: Verdict, baseline: Verdict | undefined): boolean {
  if (alone.is !== "fail" || baseline?.is !== "fail") return false;
  const before = new Set(baseline.failures.map(({ fingerprint }) => fingerprint));
  return (
    areTestsGreen(alone.evidence) &&
    areTestsGreen(baseline.evidence) &&
    alone.failures.every(({ fingerprint }) => before.has(fingerprint))
  );
}

const areTestsGreen = ({ tests }: Evidence): boolean => (tests ?? null) !== null && tests?.failed === 0;
