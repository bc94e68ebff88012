/**
 * Failure memory: which changes led to which failures. An approach is the normalised shape of a change; one that failed
 * three times, with whatever failures, is blocked. Pure and bounded; survives because it is a fold.
 */
import { createHash } from "node:crypto";
import type { FactOf } from "../events.ts";

export const BLOCK_AFTER_FAILURES = 3;
const MAX_LESSONS = 200;
const MAX_FINGERPRINTS_PER_LESSON = 20;

export interface Lesson {
  /** Short hash of the approach's shape. */
  id: string;
  summary: string;
  failures: number;
  first: number;
  last: number;
  fingerprints: string[];
  message: string;
  pinned: boolean;
}

export interface FailureMemory {
  lessons: Map<string, Lesson>;
}

export const emptyMemory = (): FailureMemory => ({ lessons: new Map() });

export const isBlocked = (memory: FailureMemory, approach: string): boolean =>
  (memory.lessons.get(approach)?.failures ?? 0) >= BLOCK_AFTER_FAILURES;

export function recordFailure(memory: FailureMemory, fact: FactOf<"failure-recorded">): void {
  const known = memory.lessons.get(fact.approach);
  const lesson: Lesson = {
    id: fact.approach,
    summary: fact.summary,
    failures: (known?.failures ?? 0) + 1,
    first: known?.first ?? fact.iteration,
    last: fact.iteration,
    fingerprints: [...new Set([...(known?.fingerprints ?? []), ...fact.fingerprints])].slice(
      -MAX_FINGERPRINTS_PER_LESSON,
    ),
    message: fact.messages[0] ?? "",
    pinned: known?.pinned ?? false,
  };
  memory.lessons.delete(fact.approach);
  memory.lessons.set(fact.approach, lesson);
  for (const [id, old] of memory.lessons) {
    if (memory.lessons.size <= MAX_LESSONS) break;
    if (!old.pinned) memory.lessons.delete(id);
  }
}

/** `clear` with id "all" forgets everything that is not pinned. */
export function steerMemory(memory: FailureMemory, { op, id }: { op: "pin" | "clear"; id: string }): void {
  if (op === "pin") {
    const lesson = memory.lessons.get(id);
    if (lesson !== undefined) lesson.pinned = true;
    return;
  }
  if (id === "all") for (const [key, lesson] of memory.lessons) if (!lesson.pinned) memory.lessons.delete(key);
  if (id !== "all") memory.lessons.delete(id);
}

/**
 * The shape of a unified diff: per file, the added and removed lines without white space, numbers and string contents,
 * in an order that does not depend on where in the file they stand. Two diffs that differ only in names of numbers,
 * messages or position have one shape; `apart` tells those from each other that cannot be compared whole.
 */
export function diffShape(diff: string, apart = ""): { approach: string; summary: string } {
  const lines: string[] = [];
  const files: string[] = [];
  let file = "";
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) {
      file = line.slice(line.lastIndexOf(" b/") + 3);
      files.push(file);
    } else if ((line.startsWith("+") || line.startsWith("-")) && !line.startsWith("+++") && !line.startsWith("---")) {
      const shape = normaliseLine(line.slice(1));
      if (shape !== "") lines.push(`${file} ${line[0]}${shape}`);
    }
  }
  const hash = createHash("sha256").update([...files.toSorted(), ...lines.toSorted(), apart].join("\n"));
  const named = files.slice(0, 3).join(", ") + (files.length > 3 ? ` and ${files.length - 3} more` : "");
  return { approach: hash.digest("hex").slice(0, 12), summary: files.length === 0 ? "no change" : `changed ${named}` };
}

function normaliseLine(line: string): string {
  return line
    .slice(0, 400)
    .replace(/(["'`])(?:\\.|(?!\1).)*\1/g, "$1$1")
    .replace(/\d+/g, "0")
    .replace(/\s+/g, "");
}
