/** pytest's verbose list and short summary, and unittest's, where neither wrote a report. */
import type { RawTest, TestStatus } from "./report.ts";

const PYTEST: Readonly<Record<string, TestStatus>> = {
  PASSED: "pass",
  XPASS: "pass",
  FAILED: "fail",
  ERROR: "fail",
  SKIPPED: "skip",
  XFAIL: "skip",
};
const VERBOSE =
  /^(?<id>\S+\.py::.+?) (?<status>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?(?:\s+\[\s*\d+%\])?$/;
const SHORT = /^(?:FAILED|ERROR) (?<id>\S+?\.py(?:::.*?)?)(?: - (?<said>.*))?$/;
const SUM =
  /^=*\s*(?<sum>(?:\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+) in [\d.]+s/;
const UNITTEST =
  /^(?<name>\w+) \((?<path>[\w.]+)\)(?:.*)? \.\.\. (?<status>ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)$/;
const RAN = /^Ran (?<n>\d+) tests? in [\d.]+s$/;
const UNITTEST_FAILED = /^(?:FAIL|ERROR): (?<name>\S+) \((?<path>[^)]*)\)/;
const MAX_SAID_LINES = 40;

/** undefined unless the list adds up to the sum below it. */
export function readPytestText(lines: readonly string[]): RawTest[] | undefined {
  const sum = lines.map((line) => SUM.exec(line)?.groups?.["sum"]).find((one) => one !== undefined);
  if (sum === undefined) return undefined;
  const said = new Map(shortSummary(lines).map((test) => [test.names[0], test.said]));
  const tests = lines.flatMap((line): RawTest[] => {
    const { id, status } = VERBOSE.exec(line)?.groups ?? {};
    if (id === undefined || status === undefined) return [];
    return [{ names: [id], status: PYTEST[status] ?? "skip", said: said.get(id) }];
  });
  const counted = [...sum.matchAll(/(\d+) (passed|failed|skipped|xfailed|xpassed)/g)];
  const wanted = counted.reduce((total, [, n]) => total + Number(n), 0);
  return tests.length > 0 && tests.length === wanted ? tests : undefined;
}

/** Failing tests only. */
export function shortSummary(lines: readonly string[]): RawTest[] {
  return lines.flatMap((line): RawTest[] => {
    const { id, said } = SHORT.exec(line)?.groups ?? {};
    if (id === undefined) return [];
    return [{ file: id.split("::")[0], names: id.split("::").slice(1), joint: "::", status: "fail", said }];
  });
}

export function readUnittestText(lines: readonly string[]): RawTest[] | undefined {
  const wanted = lines.reduce((total, line) => total + Number(RAN.exec(line)?.groups?.["n"] ?? 0), 0);
  const failures = new Map(unittestFailures(lines).map((test) => [test.names.join(" "), test]));
  const tests = lines.flatMap((line): RawTest[] => {
    const { name, path, status } = UNITTEST.exec(line)?.groups ?? {};
    if (name === undefined || path === undefined || status === undefined) return [];
    const names = [unittestName(name, path)];
    const failed = failures.get(names[0] as string);
    if (failed !== undefined) return [failed];
    return [{ names, status: status === "ok" ? "pass" : "skip" }];
  });
  return wanted > 0 && tests.length === wanted ? tests : undefined;
}

export function unittestFailures(lines: readonly string[]): RawTest[] {
  return lines.flatMap((line, at): RawTest[] => {
    const { name, path } = UNITTEST_FAILED.exec(line)?.groups ?? {};
    if (name === undefined || path === undefined || !/^-{20,}$/.test(lines[at + 1] ?? "")) return [];
    const below = lines.slice(at + 2, at + 2 + MAX_SAID_LINES);
    const end = below.findIndex((one) => /^[=-]{20,}$/.test(one));
    const block = end === -1 ? below : below.slice(0, end);
    // The error is the last line; the frames above it come from outside in.
    const said = [block.findLast((one) => one !== ""), ...block.filter((one) => /^\s+File "/.test(one))].join("\n");
    return [{ names: [unittestName(name, path)], status: "fail", said }];
  });
}

/** Python before 3.11 says the class only. */
const unittestName = (name: string, path: string): string => (path.endsWith(`.${name}`) ? path : `${path}.${name}`);
