/** Finds the number of a metric in what a command printed: in lines `NAME: 12.5`, or by a path into JSON. Pure. */
import { valueAt } from "../../platform/json-path.ts";
import type { CheckSpecOf } from "../../spec.ts";

/** Starts of JSON that are tried, from the end. */
const MAX_TRIED = 200;
const NUMBER = String.raw`([-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?)`;
/** Not `1,234` or `1.2.3`: half of what stands there would be another number. */
const AFTER = String.raw`(?![\d.,]*\d)`;

/** In the order in which they stand. */
export function numbersIn(output: string, where: CheckSpecOf<"metric">["value"]): number[] {
  if ("line" in where) return inLines(output, where.line);
  const value = lastJson(output);
  const found = value === undefined ? undefined : valueAt(value, where.json);
  return typeof found === "number" && Number.isFinite(found) ? [found] : [];
}

function inLines(output: string, name: string): number[] {
  const literal = name.replaceAll(/[\\^$.*+?|()[\]{}/]/g, String.raw`\$&`);
  const pattern = new RegExp(String.raw`^[ \t]*${literal}[ \t]*[:=][ \t]*${NUMBER}${AFTER}`, "gm");
  return [...output.matchAll(pattern)].map((match) => Number(match[1])).filter((value) => Number.isFinite(value));
}

/** The whole output, or from the last line that begins a value to the end. */
function lastJson(output: string): unknown {
  const lines = output.trimEnd().split("\n");
  const starts = lines.flatMap((line, index) => (/^\s*[[{]/.test(line) ? [index] : []));
  const tried = [0, ...starts.slice(-MAX_TRIED)];
  // The longest first: an inner object is a value, too.
  for (const start of tried) {
    const value = parsed(lines.slice(start).join("\n"));
    if (value !== undefined) return value;
  }
  return lines
    .toReversed()
    .map(parsed)
    .find((value) => value !== undefined);
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
