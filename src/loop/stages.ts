/** What the verdict on the base's own tests, run without the new ones, means for the change. Pure. */
import type { Evidence, FileChange, Verdict } from "../events.ts";

const SAID = "On the base's own tests, without the new ones:";

const MAX_NAMED_FILES = 5;
/** Of their names together: the failure itself has to be read, too. */
const MAX_NAMES_CHARS = 120;

/** Words in front, so that nobody looks for the failure in the new tests; `left` are the files that were left out. */
export function onBaseTests(verdict: Verdict, left: readonly Pick<FileChange, "path">[]): Verdict {
  switch (verdict.is) {
    case "fail": {
      const [first, ...rest] = verdict.failures;
      const message = `without the tests you added${namesOf(left)}: ${first.message}`;
      return { ...verdict, failures: [{ ...first, message }, ...rest], excerpt: `${SAID}\n${verdict.excerpt}` };
    }
    case "unverifiable":
      return { ...verdict, reason: `${SAID} ${verdict.reason}` };
    case "flaky":
    case "skipped":
    case "pass":
      return verdict;
  }
}

function namesOf(files: readonly Pick<FileChange, "path">[]): string {
  if (files.length === 0) return "";
  const named = files.slice(0, MAX_NAMED_FILES).map(({ path }) => path);
  const names = named.join(", ");
  const more = files.length > named.length ? ` and ${files.length - named.length} more` : "";
  return ` (${names.length > MAX_NAMES_CHARS ? `${names.slice(0, MAX_NAMES_CHARS - 1)}…` : names}${more})`;
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

/**
 * What the tests of a tree are compared with: none may be missing. A base that could not be judged is none, nor is it one
 * after a person has changed tests between turns, who may have taken some away.
 */
export function comparedWith(
  baseline: Verdict | undefined,
  { testsFollowed }: { testsFollowed: boolean },
): Verdict | undefined {
  return !testsFollowed && (baseline?.is === "pass" || baseline?.is === "fail") ? baseline : undefined;
}

const areTestsGreen = ({ tests }: Evidence): boolean => (tests ?? null) !== null && tests?.failed === 0;
