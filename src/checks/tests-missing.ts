/**
 * Tests cannot vanish: what the base ran has to run again. Pure, on the ids and statuses that a check keeps as a blob.
 */
import type { Failure, FileChange } from "../events.ts";
import type { TestStatus } from "./report/report.ts";

export type TestStatuses = ReadonlyMap<string, TestStatus>;

const PREFIX = "tests-missing:";
/** There was a report on the base, and now there is none. */
const NO_REPORT = `${PREFIX}report`;
const MAX_MISSING = 200;

interface Missing {
  failures: Failure[];
  /** Not counted: tests of files that the change may touch. */
  exempt: string[];
}

interface Compared {
  baseline: TestStatuses;
  /** undefined: no report. */
  now: TestStatuses | undefined;
  /** Files of the change, where it may change tests; their tests are judged in their new form. */
  touched?: readonly Pick<FileChange, "path">[];
}

/** One failure for each test that ran on the base and is not there, or passed there and is skipped now. */
export function missingTests({ baseline, now, touched = [] }: Compared): Missing {
  const required = [...baseline].filter(([id, status]) => status !== "fail" || isNamed(id));
  if (required.length === 0) return { failures: [], exempt: [] };
  if (now === undefined) {
    const message = `the ${baseline.size} tests of the base: no report of them any more, although the command ended well`;
    return { failures: [{ fingerprint: NO_REPORT, message }], exempt: [] };
  }
  const paths = touched.map(({ path }) => path);
  const missing = required.flatMap(([id, before]) => {
    const status = now.get(id);
    if (status === undefined) return [{ id, message: `${id} was run on the base and is not run any more` }];
    if (status === "skip" && before === "pass") return [{ id, message: `${id} passed on the base and is skipped now` }];
    return [];
  });
  const isExempt = ({ id }: { id: string }): boolean => paths.some((path) => isOf(id, path));
  const exempt = missing.filter(isExempt).map(({ id }) => id);
  const failures = missing
    .filter((one) => !isExempt(one))
    .slice(0, MAX_MISSING)
    .map(({ id, message }) => ({ fingerprint: `${PREFIX}${id}`, message }));
  return { failures, exempt: exempt.slice(0, MAX_MISSING) };
}

/** A file that failed as a whole has no test of that name once it is repaired. */
const isNamed = (id: string): boolean => id.includes(" > ") || id.includes("::");

/** By the file in front; of Go the package, of Java and unittest the class in its place. */
function isOf(id: string, path: string): boolean {
  const first = id.split(" > ")[0]?.split("::")[0] ?? id;
  if (first === path) return true;
  const [stem = path] = path.split(/\.[^./]+$/);
  if (path.endsWith("_test.go"))
    return !path.includes("/") || first.endsWith(`/${path.slice(0, path.lastIndexOf("/"))}`);
  const dotted = stem.replaceAll("/", ".");
  return first.includes(".") && (dotted.endsWith(first) || first.startsWith(`${dotted}.`));
}

export function parseStatuses(json: string): TestStatuses | undefined {
  try {
    const value = JSON.parse(json) as Record<string, TestStatus>;
    return new Map(Object.entries(value));
  } catch {
    return undefined;
  }
}
