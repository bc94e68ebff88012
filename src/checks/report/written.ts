/** A report that a runner wrote to a file: which kind it is, it says itself. */
import { readGoJson } from "./go.ts";
import { readJestJson } from "./jest-json.ts";
import { isJunit, readJunit } from "./junit.ts";
import { linesOf } from "./lines.ts";
import type { Places } from "./places.ts";
import { reportOf, type RawTest, type TestReport } from "./report.ts";
import { readTap } from "./tap.ts";

/** undefined when it is no report, or only a part of one. Never throws. */
export function writtenReport(text: string, places: Places): TestReport | undefined {
  const raw = rawOf(text);
  return raw === undefined ? undefined : reportOf(raw, places);
}

function rawOf(text: string): RawTest[] | undefined {
  const start = text.slice(0, 200).trimStart();
  if (start.startsWith("<")) return isJunit(text) ? readJunit(text) : undefined;
  if (start.startsWith('{"Time":') || start.startsWith('{"Action":')) return readGoJson(text.split("\n"));
  if (start.startsWith("{")) return readJestJson(parsed(text));
  return readTap(linesOf(text));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
