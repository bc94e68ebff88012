/** What a decision says about tasks: which are open, that one is done and what comes next. Pure. */
import type { Task } from "../events.ts";
import type { LaneState, RunState } from "./state.ts";
import { quoted } from "./task-edit.ts";
import { currentTask, type TaskBlock } from "./tasks.ts";
import { counted } from "../plural.ts";

const MAX_NAMED = 5;

/** “a”, “b” and 3 more are open */
export function sayTasks(open: readonly TaskBlock[]): string {
  const names = open.slice(0, MAX_NAMED).map(({ task }) => quoted(task.text));
  const more = open.length > MAX_NAMED ? ` and ${open.length - MAX_NAMED} more` : "";
  return `${open.length} task${open.length === 1 ? " is" : "s are"} open: ${names.join(", ")}${more}`;
}

interface Step {
  rule: string;
  reason: string;
}

/** The agent says that its task is done, and the file or the minimum of iterations says otherwise. */
export function refusedTask(state: RunState, { ended }: LaneState): Step | undefined {
  const current = currentTask(state);
  const { tasks } = state;
  if (ended?.claim?.is !== "task" || current === undefined || current.task.id !== tasks?.current) return undefined;
  return {
    rule: "task-refused",
    reason: `task ${quoted(current.task.text)} is not done yet: ${missingOf(state, current)}`,
  };
}

/** Why a task is still open. */
export function missingOf({ tasks, spec }: RunState, { task, subtasks }: TaskBlock): string {
  const isOpen = ({ is }: Task): boolean => is !== "done" && is !== "skipped";
  if (task.is === "missing") return `it is gone from ${spec.tasks?.file ?? "the file"}`;
  if (isOpen(task)) return `it is not ticked in ${spec.tasks?.file ?? "the file"}`;
  const open = subtasks.filter(isOpen);
  if (open.length > 0) return `${open.length} of its subtasks ${open.length === 1 ? "is" : "are"} open`;
  return `it has had ${tasks?.attempts.get(task.id) ?? 0} of at least ${counted(spec.tasks?.minIterations ?? 1, "iteration")}`;
}

/** The task of this iteration is settled: on to the next. */
export function taskStep(state: RunState): Step | undefined {
  const { tasks } = state;
  if (tasks?.current === undefined) return undefined;
  const next = currentTask(state);
  if (next?.task.id === tasks.current) return undefined;
  const done = tasks.list.find(({ id }) => id === tasks.current);
  const what =
    done === undefined ? "task is done" : `task ${quoted(done.text)} is ${done.is === "skipped" ? "skipped" : "done"}`;
  return next === undefined
    ? { rule: "tasks-done", reason: `${what}, and with it all are settled; the goal is not claimed yet` }
    : { rule: "task-done", reason: `${what}; next: ${quoted(next.task.text)}` };
}
