/**
 * Tests cannot vanish: what the base ran has to run again. Pure, on the ids and statuses that a check keeps as a blob.
 */
import type { Failure, FileChange } from "../events.ts";
import { isRunner } from "./report/begun.ts";
import { crateName } from "./report/cargo.ts";
import { UNNAMED } from "./report/counts.ts";
import type { TestStatus, UnitStatus } from "./report/report.ts";
import { isTestOf, type Among } from "./tests-of-file.ts";
import { counted } from "../plural.ts";

export type TestStatuses = ReadonlyMap<string, TestStatus | UnitStatus>;

const PREFIX = "tests-missing:";
/** There was a report on the base, and now there is none. */
const NO_REPORT = `${PREFIX}report`;
/** One of both reports has no names. */
const FEWER = `${PREFIX}count`;
const MAX_MISSING = 200;

interface Missing {
  failures: Failure[];
  /** Not counted: tests of files that the change may touch. */
  exempt: string[];
}

interface Compared extends Pick<Among, "goModule"> {
  baseline: TestStatuses;
  /** undefined: no report. */
  now: TestStatuses | undefined;
  /** Runners that ended without their report. */
  left?: readonly string[];
  /** Files of the change, where it may change tests; their tests are judged in their new form. */
  touched?: readonly Pick<FileChange, "path">[];
  /** Of tests whose names are made while they run: what stays of the name. They need not come back by name. */
  made?: ReadonlyMap<string, string> | undefined;
}

interface Gone {
  id: string;
  message: string;
  /** It is not there at all, under its name. */
  isAbsent?: boolean;
}

/** One failure for each test that ran on the base and is not there, or is skipped now; and each file that still runs none. */
export function missingTests({ baseline, now, left = [], touched = [], goModule, made }: Compared): Missing {
  if (![...baseline.values()].some((status) => status !== "none")) return { failures: [], exempt: [] };
  if (now === undefined && !isHeard(baseline)) return { failures: [], exempt: [] };
  if (now === undefined) {
    const tests = testCount(baseline) === 0 ? "tests" : counted(testCount(baseline), "test");
    const message = `${tests} of the base: no report of them, although the command ended well`;
    return { failures: [{ fingerprint: NO_REPORT, message }], exempt: [] };
  }
  // Nothing could be built, which is a failure of its own and new.
  if (testCount(now) === 0 && [...now].some(([id, is]) => is === "broken" && baseline.get(id) !== "broken"))
    return { failures: [], exempt: [] };
  if (isCounted(baseline) !== isCounted(now) && testCount(baseline) > 0)
    return { failures: fewer(baseline, now), exempt: [] };
  const among = { ids: [...baseline.keys()], goModule };
  const gone = [...baseline].flatMap(([id, before]) => goneOf(id, { before, baseline, now, left }));
  const missing = made === undefined ? gone : besideRenamed(gone, { baseline, now, made });
  const isExempt = ({ id }: Gone): boolean => touched.some(({ path }) => isTestOf(id, path, among));
  const exempt = missing.filter(isExempt).map(({ id }) => id);
  const failures = new Map(
    missing.filter((one) => !isExempt(one)).map(({ id, message }) => [id, { fingerprint: `${PREFIX}${id}`, message }]),
  );
  return { failures: [...failures.values()].slice(0, MAX_MISSING), exempt: exempt.slice(0, MAX_MISSING) };
}

/** A package that could not be built says nothing of what would have been run in it: the planted failure tells that. */
const isHeard = (baseline: TestStatuses): boolean =>
  testCount(baseline) > 0 ||
  [...baseline].some(([id, status]) => status === "broken" && (isRunner(id) || SOURCE.test(firstOf(id))));

interface Both {
  baseline: TestStatuses;
  now: TestStatuses;
  left: readonly string[];
}

function goneOf(id: string, { before, baseline, now, left }: Both & { before: TestStatus | UnitStatus }): Gone[] {
  if (before === "none") return [];
  const status = now.get(id);
  if (before === "broken" || (before === "fail" && status === undefined && isFile(id))) {
    const unit = unitOf(id);
    return status === "broken" || hasRun(unit, { baseline, now, left })
      ? []
      : [{ id: unit, message: `no test of ${unit} ran` }];
  }
  if (status === "skip" && before !== "skip")
    return [{ id, message: `${id} ${before === "pass" ? "passed" : "failed"} on the base and is skipped now` }];
  if (status !== undefined) return [];
  // It could not be loaded now, which is a failure that says more.
  if (now.get(firstOf(id)) === "broken" && baseline.get(firstOf(id)) !== "broken") return [];
  return [{ id, message: `${id} was run on the base and is not run any more`, isAbsent: true }];
}

/** Tests on one side alone, by name: of these it may be that the name is made while they run. */
export const onOneSide = (baseline: TestStatuses, now: TestStatuses): string[] => {
  const alone = (one: TestStatuses, other: TestStatuses): string[] =>
    [...one].filter(([id, is]) => isTest(is) && !other.has(id)).map(([id]) => id);
  const gone = alone(baseline, now);
  return gone.length === 0 ? [] : [...gone, ...alone(now, baseline)];
};

const RAN: readonly string[] = ["pass", "fail"];
const isTest = (status: TestStatus | UnitStatus): boolean => status === "skip" || RAN.includes(status);

/** As many have to be there, and to be run, as were: of the same test, or in the same place of the same file. */
function besideRenamed(
  gone: readonly Gone[],
  { baseline, now, made }: Pick<Both, "baseline" | "now"> & { made: ReadonlyMap<string, string> },
): Gone[] {
  const groupOf = ({ id, isAbsent = false }: Gone): string | undefined => (isAbsent ? made.get(id) : undefined);
  const others = [...now].filter(([id]) => !baseline.has(id));
  const lacking = [
    ...Map.groupBy(
      gone.filter((one) => groupOf(one) !== undefined),
      groupOf,
    ),
  ].flatMap(([group, were]) => {
    const are = others.filter(([id]) => made.get(id) === group).map(([, status]) => status);
    const ran = were.filter(({ id }) => RAN.includes(baseline.get(id) ?? ""));
    const fewer = Math.max(were.length - are.length, ran.length - are.filter((one) => RAN.includes(one)).length);
    const how = `${were.length} such tests of ${group} ran on the base and ${Math.max(0, were.length - fewer)} run now`;
    return were.slice(0, Math.max(0, fewer)).map(({ id }) => ({ id, message: `${id} is not run any more: ${how}` }));
  });
  return [...gone.filter((one) => groupOf(one) === undefined), ...lacking];
}

/** Of a report without names. */
const isCounted = (statuses: TestStatuses): boolean => [...statuses.keys()].some((id) => id.startsWith(UNNAMED));

const count = (statuses: TestStatuses, of: readonly string[]): number =>
  [...statuses.values()].filter((one) => of.includes(one)).length;
const testCount = (statuses: TestStatuses): number => count(statuses, ["pass", "fail", "skip"]);

/** Names cannot be held against numbers; numbers can. */
function fewer(baseline: TestStatuses, now: TestStatuses): Failure[] {
  const ran = [baseline, now].map((one) => count(one, ["pass", "fail"]));
  const [before = 0, after = 0] = ran;
  if (after >= before) return [];
  return [{ fingerprint: FEWER, message: `${counted(before, "test")} ran on the base, and ${after} now` }];
}

const SOURCE = /\.(?:[cm]?[jt]sx?|py|rb|rs|php|exs?|java|kt|cs)$/;
/** unittest's name for a module that cannot be imported. */
const NOT_IMPORTED = /^unittest\.loader\.(?:_FailedTest|ModuleImportFailure)\./;

const firstOf = (id: string): string => id.split(" > ")[0]?.split("::")[0] ?? id;

/** What failed as a whole has no test of that name once it is repaired. */
const isFile = (id: string): boolean => firstOf(id) === id && (SOURCE.test(id) || NOT_IMPORTED.test(id));

/** A hook that failed stands for its file; the second failure of a file for the first. */
const unitOf = (id: string): string =>
  firstOf(id)
    .replace(NOT_IMPORTED, "")
    .replace(/ \(\d+\)$/, "");

/** Something in it passes by name; as a whole only where nothing has names, for it may have been left before its tests. */
function hasRun(unit: string, { baseline, now, left }: Both): boolean {
  if (isRunner(unit)) return testCount(now) > 0 && !left.includes(unit);
  if (now.get(unit) === "none") return true;
  const passed = [...now].filter(([, status]) => status === "pass").map(([id]) => id);
  const named = passed.filter((id) => !isWhole(id));
  if (named.some((id) => isIn(id, unit))) return true;
  if (named.length === 0) return passed.some((id) => id === unit || isIn(id, unit));
  // Some runners' reports do not say which file a test is in.
  const saysFiles = [...now.keys()].some((id) => SOURCE.test(firstOf(id)) && firstOf(id) !== id);
  return isFile(unit) && !saysFiles && named.some((id) => !baseline.has(id) && !id.includes("::"));
}

/** `src/lib.rs > sums > tests::adds` is in the crate `sums`. */
const isIn = (id: string, unit: string): boolean =>
  id.startsWith(`${unit} > `) ||
  id.startsWith(`${unit}::`) ||
  (!SOURCE.test(unit) && (id.startsWith(`${unit}.`) || id.split(" > ")[1] === crateName(unit)));

/** node:test has a file without tests as a test of the file's name. */
function isWhole(id: string): boolean {
  const [file = "", name, ...rest] = id.split(" > ");
  if (name === undefined) return isFile(id);
  return rest.length === 0 && (name === file || file.endsWith(`/${name}`));
}

export function parseStatuses(json: string): TestStatuses | undefined {
  try {
    const value = JSON.parse(json) as Record<string, TestStatus | UnitStatus>;
    return new Map(Object.entries(value));
  } catch {
    return undefined;
  }
}
