/**
 * Failures with names that stay the same while the failure does: ids of failing tests where the output has them, what
 * compilers and linters say, else one hash of its normalised end. Progress is measured on this set, so the same failure
 * twice must give the same set.
 */
import { createHash } from "node:crypto";
import type { Failure } from "../events.ts";
import { DURATION_AT_END, HEX, normalised } from "./normalise.ts";
import { diagnosticsIn } from "./report/diagnostics.ts";
import type { Places } from "./report/places.ts";
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
  // jest, vitest
  /^FAIL:?\s+(?<id>\S.*)$/,
  // cargo test
  /^test (?<id>\S+) \.\.\. FAILED$/,
  // mocha, node:test, vitest, ava
  /^[✗✕×✖✘]\s*(?<id>\S.*)$/,
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
  const tests = new Map<string, Failure>();
  for (const line of lines) {
    const id = failedTest(line.trim());
    if (id === undefined || tests.size >= MAX_FAILURES) continue;
    const fingerprint = bounded(`test:${id}`);
    if (!tests.has(fingerprint))
      tests.set(fingerprint, { fingerprint, message: line.trim().slice(0, MAX_MESSAGE_CHARS) });
  }
  return [...tests.values()];
}

/** The id of the test a line says has failed. Numbers in it stay: "answers 404" is not "answers 500". */
function failedTest(line: string): string | undefined {
  const id = FAILED_TEST.map((pattern) => pattern.exec(line)?.groups?.["id"]).find((found) => found !== undefined);
  if (id === undefined || id.endsWith(":")) return undefined;
  return id.replace(DURATION_AT_END, "").replaceAll(HEX, "<hex>").trim();
}

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
