/**
 * Failures with names that stay the same while the failure does: ids of failing tests where the output has them, what
 * compilers and linters say, else one hash of its normalised end. Progress is measured on this set, so the same failure
 * twice must give the same set.
 */
import { createHash } from "node:crypto";
import type { Failure } from "../events.ts";
import { DURATION_AT_END, HEX, normalised } from "./normalise.ts";
import { diagnosticsIn } from "./report/diagnostics.ts";
import { relativeTo, type Places } from "./report/places.ts";
import { shortSummary, unittestFailures } from "./report/python-text.ts";
import { reportOf } from "./report/report.ts";
import { plain } from "./tail.ts";

const MAX_FAILURES = 200;
const MAX_FINGERPRINT_CHARS = 200;
const MAX_MESSAGE_CHARS = 400;
const TAIL_LINES = 20;
/** A longer line is no diagnostic; patterns must not meet a megabyte of digits. */
const MAX_LINE_CHARS = 1_000;

/** What stands before the id of a failing test, over the common runners. */
const FAILED_TEST: readonly RegExp[] = [
  // TAP; a failing TODO or SKIP is no failure.
  /^not ok\b(?!.*#\s*(?:todo|skip)\b)\s*\d*\s*(?:-\s*)?(?<id>.+?)(?:\s+#.*)?$/i,
  // go test
  /^--- FAIL:\s+(?<id>\S.*)$/,
  // pytest; what follows the dash is the message, which may change while the failure is the same
  /^(?:FAILED|ERROR)\s+(?<id>\S+::.*?)(?:\s+-\s.*)?$/,
  // vitest
  /^FAIL:?\s+(?<id>\S.*)$/,
  // cargo test
  /^test (?<id>\S+) \.\.\. FAILED$/,
  // mocha, node:test, vitest, ava
  /^[✗✕×✖✘]\s*(?<id>\S.*)$/,
];

/** jest, of several files: only what stands below says which of their tests. */
const JEST_FAILED = /^● (?<id>(?!Console$|Test suite failed to run$)\S.*)$/;

const SOURCE = String.raw`\S+\.(?:[cm]?[jt]sx?|vue|svelte|py|rb)`;
/** What is said of a whole file or package: jest and vitest (with the project's name before it), node:test, go. */
const FAILED_FILE: readonly RegExp[] = [
  new RegExp(String.raw`^FAIL:?\s+(?:\S+ )?(?<path>${SOURCE})(?: \[ .* \])?$`),
  new RegExp(String.raw`^✖ (?<path>${SOURCE})$`),
  /^FAIL\t(?<path>\S+)(?:\s.*)?$/,
];

export function fingerprintsOf(output: string, places: Places = { roots: [] }): [Failure, ...Failure[]] {
  const lines = plain(output)
    .split("\n")
    .map((line) => line.slice(0, MAX_LINE_CHARS).trimEnd())
    .filter((line) => line.trim() !== "");
  const [first, ...rest] =
    [testsIn(lines, places), diagnosticsIn(output, places)].find((found) => found.length > 0) ?? [];
  return first === undefined ? [ofTail(lines.slice(-TAIL_LINES).map((line) => line.trim()))] : [first, ...rest];
}

function testsIn(lines: readonly string[], places: Places): Failure[] {
  const python = reportOf([...shortSummary(lines), ...unittestFailures(lines)], places).failures;
  if (python.length > 0) return python;
  const isFile = (line: string): boolean => failedFile(line) !== undefined;
  const others = lines.map((line) => line.trim()).filter((line) => !isFile(line));
  const named = (patterns: readonly RegExp[]): Failure[] =>
    distinct(others, (line) => {
      const id = failedTest(line, patterns);
      return id === undefined ? undefined : { fingerprint: bounded(`test:${id}`) };
    });
  const files = (): Failure[] =>
    distinct(lines, (line) => {
      const path = failedFile(line.trim());
      if (path === undefined) return undefined;
      const file = relativeTo(path, places);
      return { fingerprint: bounded(`error:${file} failed`), ...(path.includes(".") ? { file } : {}) };
    });
  return (
    [() => named(FAILED_TEST), () => named([JEST_FAILED]), files]
      .map((read) => read())
      .find((found) => found.length > 0) ?? []
  );
}

function distinct(lines: readonly string[], read: (line: string) => Omit<Failure, "message"> | undefined): Failure[] {
  const found = new Map<string, Failure>();
  for (const line of lines) {
    const failure = found.size >= MAX_FAILURES ? undefined : read(line);
    if (failure !== undefined && !found.has(failure.fingerprint))
      found.set(failure.fingerprint, { ...failure, message: line.trim().slice(0, MAX_MESSAGE_CHARS) });
  }
  return [...found.values()];
}

const firstIn = (line: string, patterns: readonly RegExp[], group: string): string | undefined =>
  patterns.map((pattern) => pattern.exec(line)?.groups?.[group]).find((found) => found !== undefined);

/** The id of the test a line says has failed. Numbers in it stay: "answers 404" is not "answers 500". */
function failedTest(line: string, patterns: readonly RegExp[]): string | undefined {
  const id = firstIn(line, patterns, "id");
  if (id === undefined || id.endsWith(":")) return undefined;
  return id.replace(DURATION_AT_END, "").replaceAll(HEX, "<hex>").trim();
}

const failedFile = (line: string): string | undefined =>
  firstIn(line.startsWith("FAIL\t") ? line : line.replace(DURATION_AT_END, ""), FAILED_FILE, "path");

function ofTail(lines: readonly string[]): Failure {
  const last = lines.at(-1);
  if (last === undefined) return { fingerprint: "output:none", message: "failed without any output" };
  const normal = lines.map((line) => normalised(line)).filter((line) => /\p{L}/u.test(line));
  // As a set: parallel jobs print the same lines in another order.
  const hash = createHash("sha256").update([...new Set(normal)].toSorted().join("\n"));
  return { fingerprint: `output:${hash.digest("hex").slice(0, 24)}`, message: last.slice(0, MAX_MESSAGE_CHARS) };
}

function bounded(fingerprint: string): string {
  if (fingerprint.length <= MAX_FINGERPRINT_CHARS) return fingerprint;
  const hash = createHash("sha256").update(fingerprint).digest("hex").slice(0, 16);
  return `${fingerprint.slice(0, MAX_FINGERPRINT_CHARS - 17)}~${hash}`;
}
