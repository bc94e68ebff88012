/** TAP, versions 12 to 14: node:test, node-tap (nested), tape (flat, groups as comments). */
import { indentOf } from "./lines.ts";
import type { RawTest } from "./report.ts";

const POINT = /^(?<not>not )?ok\b\s*\d*\s*(?:-\s*)?(?<name>.*?)\s*(?<!\\)(?:#\s*(?<directive>\S+).*)?$/i;
const PLAN = /^1\.\.(?<n>\d+)/;
const SUBTEST = /^# Subtest: (?<name>.*)$/;
const SUMMARY = /^# (?:tests|suites|pass|fail|ok|cancelled|skipped|todo|duration_ms|time=|failed)\b/;
const MAX_SAID_LINES = 60;
/** Columns that one level of nesting is moved by. */
const STEP = 4;

/** undefined unless its plan says that this is all. */
export function readTap(lines: readonly string[]): RawTest[] | undefined {
  if (!lines.some((line) => PLAN.test(line))) return undefined;
  const nested = lines.some((line) => SUBTEST.test(line.trim()));
  const tests: RawTest[] = [];
  const above: string[] = [];
  let planned = 0;
  let points = 0;
  let group = "";
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] as string;
    const depth = Math.floor(indentOf(line) / STEP);
    const text = line.trim();
    const { name: started } = SUBTEST.exec(text)?.groups ?? {};
    if (started !== undefined) {
      above.length = Math.min(above.length, depth);
      above[depth] = started;
      continue;
    }
    if (!nested && depth === 0 && text.startsWith("# ") && !SUMMARY.test(text)) group = text.slice(2);
    if (indentOf(line) % STEP !== 0) continue;
    if (depth === 0) planned += Number(PLAN.exec(text)?.groups?.["n"] ?? 0);
    const point = POINT.exec(text)?.groups;
    if (point === undefined) continue;
    if (depth === 0) points += 1;
    const isSkipped = /^(?:skip|todo)/i.test(point["directive"] ?? "");
    const status = isSkipped ? "skip" : point["not"] === undefined ? "pass" : "fail";
    const said = status === "fail" ? blockAfter(lines, at) : undefined;
    const names = [...(nested ? above.slice(0, depth) : [group]), point["name"] ?? ""];
    tests.push({ names, status, ...(said === undefined ? {} : { said }) });
  }
  return points === planned && points > 0 ? tests : undefined;
}

/** The YAML below a point, with its folded texts unfolded by their own indentation. */
function blockAfter(lines: readonly string[], at: number): string | undefined {
  if (lines[at + 1]?.trim() !== "---") return undefined;
  const block = lines.slice(at + 2, at + 2 + MAX_SAID_LINES).map((line) => line.trim());
  const end = block.findIndex((line) => line === "...");
  return (end === -1 ? block : block.slice(0, end))
    .filter((line) => !/^(?:duration_ms|type|failureType|code|location|operator|signal|exitCode):/.test(line))
    .map((line) => line.replace(/^(?:error|message|name|stack):\s*(?:\|-?|>-?)?\s*/, ""))
    .map((line) => (/^\S+ \(.*:\d+:\d+\)$/.test(line) || /^file:\S+:\d+:\d+$/.test(line) ? `at ${line}` : line))
    .join("\n");
}
