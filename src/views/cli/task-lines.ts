/** The tasks of a run as views show them, and which one a person means. Pure. */
import { UsageError } from "../../errors.ts";
import type { Task } from "../../events.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import { currentTask, taskCounts, type TaskCounts, type TaskState } from "../../loop/tasks.ts";
import { oneLine } from "../plain.ts";
import { counted } from "./format.ts";

const MAX_TEXT_CHARS = 100;
const MAX_NAMED = 3;
const MARKS: Readonly<Record<Task["is"], string>> = {
  todo: "[ ]",
  doing: "[/]",
  done: "[x]",
  skipped: "[-]",
  missing: "[?]",
};

export interface TaskLine {
  /** As `pawl tasks list` numbers them. */
  n: number;
  id: string;
  text: string;
  depth: number;
  is: Task["is"];
  iterations: number;
  current: boolean;
}

export interface TasksView extends TaskCounts {
  file: string;
  current: string | null;
  list: TaskLine[];
  /** What looked like cheating, by iteration. */
  suspicions: TaskState["reported"];
}

/** UsageError for a run without a task list. */
export function tasksOf(state: RunState): TasksView {
  const view = tasksView(state);
  if (view !== null) return view;
  throw new UsageError(
    state.spec.tasks === undefined
      ? `run ${state.run} has no task list`
      : `the tasks of run ${state.run} are not read yet`,
    { hint: state.spec.tasks === undefined ? "tasks mode: pawl run … --tasks FILE" : "try again in a moment" },
  );
}

export function tasksView(state: RunState): TasksView | null {
  const { tasks, spec } = state;
  const counts = taskCounts(state);
  if (tasks === undefined || spec.tasks === undefined || counts === undefined) return null;
  const isTurn = mainLane(state).open !== undefined;
  const current = isTurn ? tasks.current : currentTask(state)?.task.id;
  const list = tasks.list.map((task, at) => ({
    n: at + 1,
    ...task,
    iterations: tasks.attempts.get(task.id) ?? 0,
    current: task.id === current,
  }));
  const text = list.find((line) => line.current)?.text ?? null;
  return { file: spec.tasks.file, ...counts, current: text, list, suspicions: tasks.reported };
}

export const taskCells = ({ n, text, depth, is, iterations, current }: TaskLine): string[] => [
  `${n}`,
  `${"  ".repeat(depth)}${MARKS[is]} ${oneLine(text, { max: MAX_TEXT_CHARS })}`,
  [
    current ? "current" : "",
    is === "missing" ? "gone from the file" : "",
    iterations > 0 ? counted(iterations, "iteration") : "",
  ]
    .filter((word) => word !== "")
    .join(", "),
];

/** “2 of 5 done, 1 skipped; current: …” */
export function tasksWords({ done, skipped, total, current }: TasksView): string {
  const left = current === null ? "" : `; current: ${oneLine(current, { max: MAX_TEXT_CHARS })}`;
  return `${done} of ${total} done${skipped === 0 ? "" : `, ${skipped} skipped`}${left}`;
}

/** By its number in the list, or a beginning of its text that no other task has. */
export function whichTask({ list }: TasksView, asked: string): TaskLine {
  const hint = "`pawl tasks list` numbers them";
  if (/^\d+$/.test(asked.trim())) {
    const found = list[Number(asked) - 1];
    if (found !== undefined) return found;
    throw new UsageError(`there is no task ${asked.trim()}: there are ${list.length}`, { hint });
  }
  const wanted = asked.trim().toLowerCase();
  const found = list.filter(({ text }) => text.toLowerCase().startsWith(wanted));
  const exact = found.filter(({ text }) => text.toLowerCase() === wanted);
  const [only] = exact.length === 1 ? exact : found;
  if (only !== undefined && (found.length === 1 || exact.length === 1)) return only;
  const says = JSON.stringify(oneLine(asked, { max: MAX_TEXT_CHARS }));
  if (found.length === 0) throw new UsageError(`no task begins with ${says}`, { hint });
  const names = found.slice(0, MAX_NAMED).map(({ n }) => n);
  throw new UsageError(`${found.length} tasks begin with ${says}`, {
    hint: `give the number: ${names.join(", ")}${found.length > MAX_NAMED ? ", …" : ""}`,
  });
}
