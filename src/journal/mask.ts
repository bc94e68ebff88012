/** Ranges of a text, and the text with the mask in their place. */

/** Shorter than anything it replaces. */
const MASK = "***";

export interface Range {
  start: number;
  end: number;
}

/** In order, and those that touch made one. */
export function merged(ranges: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const range of ranges.toSorted((one, other) => one.start - other.start)) {
    const last = result.at(-1);
    if (last !== undefined && range.start <= last.end) last.end = Math.max(last.end, range.end);
    else result.push({ ...range });
  }
  return result;
}

export function masked(text: string, ranges: readonly Range[]): string {
  if (ranges.length === 0) return text;
  let result = "";
  let at = 0;
  for (const { start, end } of ranges) {
    result += text.slice(at, start) + MASK;
    at = end;
  }
  return result + text.slice(at);
}

/** A mask can lay bare what was part of a longer word before; more passes than this nobody needs. */
const MAX_PASSES = 4;

/** Masked until there is nothing more to mask. */
export function settled(text: string, find: (text: string) => readonly Range[]): string {
  let result = text;
  for (let pass = 0; pass < MAX_PASSES; pass += 1) {
    const ranges = find(result);
    if (ranges.length === 0) break;
    result = masked(result, ranges);
  }
  return result;
}
