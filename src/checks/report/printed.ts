/** Tests from what a command printed, where no runner wrote a report. Only lists that add up to their own sum count. */
import { readCargo } from "./cargo.ts";
import { readCounts } from "./counts.ts";
import { readGoJson, readGoText } from "./go.ts";
import { linesOf } from "./lines.ts";
import type { Places } from "./places.ts";
import { readPytestText, readUnittestText } from "./python-text.ts";
import { reportOf, type RawTest, type TestReport } from "./report.ts";
import { readTap } from "./tap.ts";
import { readMochaSpec, readNodeSpec } from "./tree-text.ts";

const NAMED: readonly ((lines: readonly string[]) => RawTest[] | undefined)[] = [
  readGoText,
  readCargo,
  readTap,
  readNodeSpec,
  readMochaSpec,
  readPytestText,
  readUnittestText,
];

export function printedReport(output: string, places: Places): TestReport | undefined {
  const events = output.includes('"Action":') ? readGoJson(output.split("\n")) : undefined;
  if (events !== undefined) return reportOf(events, places);
  const lines = linesOf(output);
  for (const read of NAMED) {
    const raw = read(lines);
    if (raw !== undefined && raw.length > 0) return reportOf(raw, places);
  }
  const counted = readCounts(lines);
  // Which ones failed is told by the lines.
  return counted === undefined ? undefined : { ...reportOf(counted, places), failures: [] };
}
