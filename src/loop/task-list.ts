/**
 * Markdown task lists: reading them, and edits that leave every other byte as it was. A task is found by what it says,
 * never by where it stands. Pure.
 */
import { createHash } from "node:crypto";
import type { Task } from "../events.ts";
import { columnsOf, visibleLines } from "./task-blocks.ts";

export const MAX_TASKS = 500;
export const MAX_TASK_FILE_BYTES = 128 * 1024;
/** Of a task as pawl keeps and shows it; its id is made of the whole text. */
const MAX_TEXT_CHARS = 2_000;
const ID_CHARS = 10;
/** As in markdown: less is a sibling that was written carelessly. */
const MIN_SUBTASK_COLUMNS = 2;

type Mark = Exclude<Task["is"], "missing">;

/** Where a task stands in the text: lines `from` up to, not including, `to`, with all that is indented below it. */
interface Place {
  from: number;
  to: number;
  indent: string;
  bullet: string;
  /** Index of the mark's character in its line. */
  column: number;
}
export type PlacedTask = Task & { is: Mark; at: Place };

const TASK = /^(\uFEFF?)([ \t]*)([-*+]|\d{1,9}[.)])([ \t]+)\[([ xX/-])\][ \t]+(\S.*)$/s;
const BULLET = /^[ \t]*([-*+]|\d{1,9}[.)])[ \t]/;
const MARKS: Readonly<Record<string, Mark>> = { " ": "todo", "/": "doing", x: "done", X: "done", "-": "skipped" };
const LETTERS: Readonly<Record<Mark, string>> = { todo: " ", doing: "/", done: "x", skipped: "-" };

const linesOf = (text: string): string[] => text.split(/(?<=\n)/);
const bare = (line: string): string => line.replace(/\r?\n$/, "");
const isBlank = (line: string): boolean => line.trim() === "";

/** What makes two tasks the same one. */
export const sameText = (text: string): string => text.trim().toLowerCase().replaceAll(/\s+/g, " ");

/** The id of the first task that says this; later ones have a number behind it. */
export const taskId = (text: string): string =>
  createHash("sha256").update(sameText(text)).digest("hex").slice(0, ID_CHARS);

/** What tasks that say the same have in common. */
export const wordsOf = (id: string): string => id.replace(/-\d+$/, "");

export function readTasks(text: string): PlacedTask[] {
  const lines = linesOf(text);
  const shown = visibleLines(lines, (line) => TASK.test(bare(line)));
  const tasks: PlacedTask[] = [];
  const seen = new Map<string, number>();
  let parents: number[] = [];
  for (const [from, line] of lines.entries()) {
    if (!(shown[from] ?? false)) continue;
    if (/^ {0,3}#{1,6}(\s|$)/.test(line)) parents = [];
    const found = TASK.exec(bare(line));
    if (found === null) continue;
    const [, bom = "", indent = "", bullet = "", gap = "", mark = "", said = ""] = found;
    const columns = columnsOf(line);
    parents = parents.filter((parent) => columns >= parent + MIN_SUBTASK_COLUMNS);
    const first = taskId(said);
    const times = (seen.get(first) ?? 0) + 1;
    seen.set(first, times);
    tasks.push({
      id: times === 1 ? first : `${first}-${times}`,
      text: said.trimEnd().slice(0, MAX_TEXT_CHARS),
      depth: parents.length,
      is: MARKS[mark] ?? "todo",
      at: {
        from,
        to: endOf(lines, { from, columns }),
        indent,
        bullet,
        column: bom.length + indent.length + bullet.length + gap.length + 1,
      },
    });
    parents.push(columns);
  }
  return tasks;
}

function endOf(lines: readonly string[], { from, columns }: { from: number; columns: number }): number {
  let to = from + 1;
  for (let at = to; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (isBlank(line)) continue;
    if (columnsOf(line) < columns + (BULLET.test(line) ? MIN_SUBTASK_COLUMNS : 1)) break;
    to = at + 1;
  }
  return to;
}

/** `text` stands on a line of its own behind the last task, in its style. */
export function withTask(text: string, said: string): string {
  const lines = linesOf(text);
  const last = readTasks(text).findLast(({ depth }) => depth === 0);
  const at = last?.at.to ?? lines.length;
  const eol = /\r?\n$/.exec(lines.find((line) => line.endsWith("\n")) ?? "\n")?.[0] ?? "\n";
  const line = `${last?.at.indent ?? ""}${nextBullet(last?.at.bullet ?? "-")} [ ] ${said.trim().replaceAll(/\s+/g, " ")}`;
  const before = lines.slice(0, at).join("");
  const isOpen = before !== "" && !before.endsWith("\n");
  return `${before}${isOpen ? `${eol}${line}` : `${line}${eol}`}${lines.slice(at).join("")}`;
}

function nextBullet(bullet: string): string {
  const number = /^(\d+)([.)])$/.exec(bullet);
  return number === null ? bullet : `${Number(number[1]) + 1}${number[2]}`;
}

export function withMark(text: string, { at, is }: { at: Place; is: Mark }): string {
  const lines = linesOf(text);
  const line = lines[at.from] ?? "";
  lines[at.from] = line.slice(0, at.column) + LETTERS[is] + line.slice(at.column + 1);
  return lines.join("");
}

/** With its subtasks and all that is indented below it. */
export const withoutTask = (text: string, { from, to }: Place): string =>
  linesOf(text)
    .toSpliced(from, to - from)
    .join("");
