/**
 * What a report says, before and after its names are made stable. A parser only reads: it yields raw tests, and
 * everything that decides about an id (paths, addresses, doubles, bounds) happens here, once for all runners.
 */
import { createHash } from "node:crypto";
import type { Failure } from "../../events.ts";
import { HEX } from "../normalise.ts";
import { plain } from "../tail.ts";
import { detailsOf } from "./details.ts";
import { relativeTo, type Places } from "./places.ts";

export type TestStatus = "pass" | "fail" | "skip";

/** As a runner has it. Without names it is the file itself: it could not be loaded, or is a test as a whole. */
export interface RawTest {
  file?: string | undefined;
  names: readonly string[];
  status: TestStatus;
  /** Between the parts of its id; ` > ` where the runner has no way of its own. */
  joint?: string;
  /** What was said of its failure: message, values and stack, as far as there are any. */
  said?: string | undefined;
  line?: number | undefined;
  expected?: string | undefined;
  actual?: string | undefined;
  /** Failed outside any test: counted as a failure, but no id that has to come back. Skipped: there is no test in it. */
  broken?: boolean;
  /** What stands between a test and those inside it, in the last of its names. */
  inner?: "/";
  /** Skipped: the file that said so, where the runner tells. */
  skippedBy?: string | undefined;
}

/** What is no test but holds some (a file, a package): it could not be run, or there is none in it. */
export type UnitStatus = "broken" | "none";

export interface TestReport {
  /** By id; every test once. */
  tests: ReadonlyMap<string, TestStatus>;
  units: ReadonlyMap<string, UnitStatus>;
  /** Tests that have failing ones inside them. */
  parents: ReadonlySet<string>;
  failures: Failure[];
  /** By the id of a skipped test, the file that said so. */
  skippedBy: ReadonlyMap<string, string>;
}

/** More tests than this are no report that can be held against another; the rest is not kept. */
export const MAX_TESTS = 200_000;
const MAX_FAILURES = 200;
const MAX_NAME_CHARS = 2_000;
const MAX_ID_CHARS = 195;
const JOINT = " > ";

export function reportOf(raw: Iterable<RawTest>, places: Places): TestReport {
  const tests = new Map<string, TestStatus>();
  const times = new Map<string, number>();
  const units = new Map<string, UnitStatus>();
  const parents = new Set<string>();
  const failures = new Map<string, Failure>();
  const skippedBy = new Map<string, string>();
  for (const test of raw) {
    if (tests.size >= MAX_TESTS) break;
    const name = idOf(test, places);
    if (name === "") continue;
    const n = (times.get(name) ?? 0) + 1;
    times.set(name, n);
    // Two tests of one name are two: one of them must not vanish behind the other.
    const id = bounded(n === 1 ? name : `${name} (${n})`);
    if (test.broken !== true) tests.set(id, test.status);
    else units.set(id, test.status === "fail" ? "broken" : "none");
    if (test.status === "skip" && test.skippedBy !== undefined) skippedBy.set(id, relativeTo(test.skippedBy, places));
    if (test.status !== "fail") continue;
    for (const parent of parentsOf(name, test)) parents.add(parent);
    if (failures.size < MAX_FAILURES) failures.set(id, failureOf(id, test, places));
  }
  // A test that failed because one inside it did says nothing of its own.
  const own = [...failures].filter(([id]) => !parents.has(id)).map(([, failure]) => failure);
  return { tests, units, parents, failures: own, skippedBy };
}

/** A slash is a part of a name for all runners but one: "GET /users" is not above "GET /users/:id". */
function parentsOf(id: string, { inner }: RawTest): string[] {
  const above = [...id.matchAll(/ > /g)].map(({ index }) => id.slice(0, index));
  if (inner === undefined) return above;
  const last = id.lastIndexOf(JOINT) + 1;
  const slashes = [...id.matchAll(/\//g)].filter(({ index }) => index > last);
  return [...above, ...slashes.map(({ index }) => id.slice(0, index))];
}

/** Of each status; of tests inside each other that failed, the innermost. */
export function countsOf({ tests, parents }: Pick<TestReport, "tests" | "parents">): {
  passed: number;
  failed: number;
  skipped: number;
} {
  const of = (status: TestStatus): string[] => [...tests].filter(([, one]) => one === status).map(([id]) => id);
  return {
    passed: of("pass").length,
    failed: of("fail").filter((id) => !parents.has(id)).length,
    skipped: of("skip").length,
  };
}

/** Of several reports of one command. An id that two of them have is failed where one says so. */
export function merged(reports: readonly TestReport[]): TestReport | undefined {
  const [first, ...rest] = reports;
  if (first === undefined || rest.length === 0) return first;
  const tests = new Map(first.tests);
  for (const { tests: more } of rest) {
    for (const [id, status] of more) {
      const known = tests.get(id);
      if (known === undefined ? tests.size < MAX_TESTS : RANK[status] > RANK[known]) tests.set(id, status);
    }
  }
  const failures = new Map(reports.flatMap((one) => one.failures).map((one) => [one.fingerprint, one]));
  const units = new Map<string, UnitStatus>();
  for (const [id, status] of reports.flatMap((one) => [...one.units])) {
    if (units.get(id) !== "broken") units.set(id, status);
  }
  const parents = new Set(reports.flatMap((one) => [...one.parents]));
  const skippedBy = new Map(reports.flatMap((one) => [...one.skippedBy]));
  return { tests, units, parents, failures: [...failures.values()].slice(0, MAX_FAILURES), skippedBy };
}

const RANK: Readonly<Record<TestStatus, number>> = { skip: 0, pass: 1, fail: 2 };

/** The same for the same test wherever the tree lies and whenever it runs. */
function idOf({ file, names, joint = JOINT }: RawTest, places: Places): string {
  const parts = [file === undefined ? "" : relativeTo(file, places), ...names.map((name) => stableName(name, places))];
  return parts.filter((part) => part !== "").join(joint);
}

/** Numbers stay: "answers 404" is not "answers 500". */
function stableName(name: string, places: Places): string {
  return places.roots
    .reduce((text, root) => text.replaceAll(`${root}/`, ""), plain(name.slice(0, MAX_NAME_CHARS)))
    .replaceAll(TEMPORARY, "<tmp>/")
    .replaceAll(HEX, "<hex>")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Folders with names that are new every time. */
const TEMPORARY = /(?:\/private)?\/(?:var\/folders|var\/tmp|tmp)\/(?:[^\s/:'"()]+\/)*/g;

function failureOf(id: string, test: RawTest, places: Places): Failure {
  const { message, file, line, ...rest } = detailsOf(test.said ?? "", {
    places,
    file: test.file === undefined ? undefined : relativeTo(test.file, places),
  });
  const at = test.line ?? line;
  const given = { expected: test.expected, actual: test.actual };
  return {
    fingerprint: `test:${id}`,
    message: message === "" ? `${id} failed` : message,
    ...(file === undefined ? {} : { file }),
    ...(at === undefined ? {} : { line: at }),
    ...rest,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  };
}

function bounded(id: string): string {
  if (id.length <= MAX_ID_CHARS) return id;
  const hash = createHash("sha256").update(id).digest("hex").slice(0, 16);
  return `${id.slice(0, MAX_ID_CHARS - hash.length - 1)}~${hash}`;
}
