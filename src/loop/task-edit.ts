/**
 * A person's change of the task list, as text. It may be done twice: whether it is there already is told from the list
 * that was recorded before it, so a driver that died in between does not do it again. Pure.
 */
import type { Task, TaskEdit } from "../events.ts";
import {
  MAX_TASK_FILE_BYTES,
  MAX_TASKS,
  readTasks,
  taskId,
  withMark,
  withoutTask,
  withTask,
  wordsOf,
  type PlacedTask,
} from "./task-list.ts";

const MAX_SHOWN_CHARS = 60;

export interface Edited {
  text: string;
  /** The receipt. */
  how: string;
  /** It was refused, and nothing changed. */
  refused: boolean;
}

const refused = (text: string, why: string): Edited => ({ text, how: `not done: ${why}`, refused: true });

const times = (tasks: readonly Task[], id: string): number =>
  tasks.filter((task) => task.is !== "missing" && wordsOf(task.id) === wordsOf(id)).length;

export const quoted = (text: string): string =>
  `“${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}”`;

/** `known`: the tasks as they were recorded before this change. */
export function editTasks(text: string, { edit, known }: { edit: TaskEdit; known: readonly Task[] }): Edited {
  // What cannot be written back byte for byte is not touched.
  if (text.includes("\uFFFD")) return refused(text, "the task file is not UTF-8");
  return edit.kind === "task-add" ? add(text, { said: edit.text, known }) : mark(text, { edit, known });
}

function add(text: string, { said, known }: { said: string; known: readonly Task[] }): Edited {
  const tasks = readTasks(text);
  const how = `added: ${quoted(said)}`;
  if (times(tasks, taskId(said)) > times(known, taskId(said))) return { text, how, refused: false };
  if (tasks.length >= MAX_TASKS) return refused(text, `there are ${tasks.length} tasks already`);
  const longer = withTask(text, said);
  if (Buffer.byteLength(longer) > MAX_TASK_FILE_BYTES) return refused(text, "the task file would be too large");
  if (readTasks(longer).length !== tasks.length + 1)
    return refused(text, "that is not a task that could be found again");
  return { text: longer, how, refused: false };
}

type MarkEdit = Extract<TaskEdit, { kind: "task-mark" }>;

function mark(text: string, { edit, known }: { edit: MarkEdit; known: readonly Task[] }): Edited {
  const tasks = readTasks(text);
  const before = known.find(({ id }) => id === edit.task);
  const found = tasks.find(({ id }) => id === edit.task);
  if (edit.as === "removed") {
    const meant = before ?? found;
    // The last of those that say the same has a lower number since one of the others was removed.
    if (meant === undefined) return refused(text, "there is no such task any more");
    const isGone = found === undefined || times(tasks, edit.task) < times(known, edit.task);
    return { text: isGone ? text : withoutTask(text, found.at), how: `removed: ${quoted(meant.text)}`, refused: false };
  }
  const how = `${edit.as === "todo" ? "to do again" : edit.as}: ${quoted((found ?? before)?.text ?? edit.task)}`;
  if (found !== undefined) return { text: marked(text, { task: found, as: edit.as, tasks }), how, refused: false };
  if (before?.is !== "missing") return refused(text, "there is no such task any more");
  // It was taken out of the file: a person either wants it back or is done with it.
  return { text: edit.as === "todo" ? withTask(text, before.text) : text, how, refused: false };
}

/** A task that is done is done with all its subtasks. */
function marked(
  text: string,
  { task, as, tasks }: { task: PlacedTask; as: "done" | "skipped" | "todo"; tasks: readonly PlacedTask[] },
): string {
  const after = tasks.slice(tasks.indexOf(task) + 1);
  const end = after.findIndex(({ depth }) => depth <= task.depth);
  const below = after.slice(0, end < 0 ? after.length : end).filter(({ is }) => is !== "skipped");
  return [task, ...(as === "done" ? below : [])].reduce((so, { at }) => withMark(so, { at, is: as }), text);
}
