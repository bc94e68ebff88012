/** Acceptance criteria that a goal lists: the items under a heading that says so, and the checks that prove them. Pure. */
import { UsageError } from "../errors.ts";
import type { Criterion } from "../spec.ts";
import { nearest } from "./nearest.ts";

const MAX_CRITERIA = 200;
const TITLE = /^(?:acceptance criteria|criteria|definition of done)$/i;
const HEADING = /^ {0,3}(#{1,6})[ \t]+([^]*)$/;
/** Those that close a heading. */
const CLOSING = /(?<!#)#+$/;
const ITEM = /^( {0,3})(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX/]\][ \t]+)?(\S.*)$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
/** A line that only underlines the one above it. */
const UNDERLINE = /^ {0,3}(?:=+|-{2,})[ \t]*$/;

/** `**Definition of done**:` and `Criteria:` are meant as headings too; they are below every real one. */
function titleLevel(line: string): number | undefined {
  const [, marks, text] = HEADING.exec(line) ?? [];
  const words = (text?.replace(CLOSING, "").trimEnd() ?? line).replaceAll(/[*_]/g, "").replace(/:\s*$/, "").trim();
  if (!TITLE.test(words)) return undefined;
  if (marks !== undefined) return marks.length;
  return /[:*_]\s*$/.test(line) ? LOWEST_LEVEL : undefined;
}
const LOWEST_LEVEL = 7;

function levelOf(line: string, next: string | undefined): number | undefined {
  const marks = HEADING.exec(line)?.[1];
  if (marks !== undefined) return marks.length;
  if (next === undefined || line.trim() === "" || ITEM.test(line) || !UNDERLINE.test(next)) return undefined;
  return next.trim().startsWith("=") ? 1 : 2;
}

export function criteriaIn(goal: string): string[] {
  const found: string[] = [];
  let section: number | undefined;
  let fence: string | undefined;
  /** Whether lines that are indented still belong to the last item. */
  let inItem = false;
  const lines = goal.split("\n").map((line) => line.trimEnd());
  lines.forEach((line, at) => {
    const mark = FENCE.exec(line)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence)))
      fence = fence === undefined ? mark : undefined;
    if (fence !== undefined || mark !== undefined) return;
    const level = levelOf(line, lines[at + 1]);
    const title = level === undefined ? titleLevel(line) : titleLevel(`# ${line.replace(HEADING, "$2")}`);
    if (title !== undefined) {
      section = level ?? title;
      inItem = false;
      return;
    }
    if (section === undefined || UNDERLINE.test(line)) return;
    if (level !== undefined && level <= section) {
      section = undefined;
      return;
    }
    inItem = take(line, { found, inItem });
    // A title that is no heading ends with its list.
    if (section === LOWEST_LEVEL && !inItem && line !== "") section = undefined;
  });
  return [...new Set(found)].slice(0, MAX_CRITERIA);
}

/** One more item, or more words of the last one; returns whether further words would belong to it. */
function take(line: string, { found, inItem }: { found: string[]; inItem: boolean }): boolean {
  const item = ITEM.exec(line);
  if (item !== null) {
    found.push(item[2] ?? "");
    return true;
  }
  const isMore = inItem && /^\s+\S/.test(line);
  if (isMore) found.push(`${found.pop() ?? ""} ${line.trim()}`);
  return isMore;
}

/** `It is fast (check: speed, tests)`: what a criterion ends with names the checks that prove it. */
const BOUND = /\(checks?:([^()]+)\)\s*\.?$/i;

export function criterionOf(text: string): Criterion {
  const bound = BOUND.exec(text);
  const words = bound === null ? text : text.slice(0, bound.index).trim();
  const names = (bound?.[1] ?? "").split(",").map((name) => name.trim());
  return words === "" ? { text, checks: [] } : { text: words, checks: names.filter((name) => name !== "") };
}

/** One of each text; what is said about the same one twice is joined. */
export function joined(criteria: readonly Criterion[]): Criterion[] {
  const byText = new Map<string, string[]>();
  for (const { text, checks } of criteria) byText.set(text, [...(byText.get(text) ?? []), ...checks]);
  return [...byText].map(([text, checks]) => ({ text, checks: [...new Set(checks)] }));
}

/** UsageError: a criterion that no check proves must not look as if one did. */
export function refuseUnknownChecks(criteria: readonly Criterion[], names: readonly string[]): void {
  for (const [at, { checks }] of criteria.entries()) {
    const unknown = checks.find((name) => !names.includes(name));
    if (unknown === undefined) continue;
    const meant = nearest(unknown, names);
    const known = names.length === 0 ? "there are no checks" : `the checks are: ${names.join(", ")}`;
    throw new UsageError(`criterion ${at + 1} names a check that is not there: ${unknown}`, {
      hint: meant === undefined ? known : `did you mean ${meant}?`,
    });
  }
}
