/** Printed output as lines that patterns may meet: plain, and none of them long. */
import { DURATION_AT_END } from "../normalise.ts";
import { plain } from "../tail.ts";

const MAX_LINE_CHARS = 1_000;

export const linesOf = (output: string): string[] =>
  plain(output)
    .split("\n")
    .map((line) => line.slice(0, MAX_LINE_CHARS).trimEnd());

export const indentOf = (line: string): number => line.length - line.trimStart().length;

/** What a runner prints behind a name is how long it took. */
export const withoutDuration = (name: string): string => name.replace(DURATION_AT_END, "").trim();
