/** The tasks of a run: a markdown list in the workspace, as it was last seen. Pure. */
import type { FactOf, Task } from "../events.ts";
import type { LaneState, RunState } from "./state.ts";

export interface TaskState {
  list: Task[];
  total: number;
  /** What the last look reported. */
  suspicions: string[];
  /** Iterations that each task has had, by id. */
  attempts: Map<string, number>;
}

export function recordTasks(state: RunState, { tasks, total, suspicions }: FactOf<"tasks-recorded">): void {
  const before = state.tasks?.attempts ?? new Map<string, number>();
  const attempts = new Map(tasks.flatMap(({ id }) => (before.has(id) ? [[id, before.get(id) ?? 0] as const] : [])));
  state.tasks = { list: tasks, total, suspicions, attempts };
}

const isSettled = ({ is }: Task): boolean => is === "done" || is === "skipped";

/** The first that is not settled, with what stands under it; undefined when all are. */
export function currentTask(tasks: readonly Task[]): { task: Task; subtasks: Task[] } | undefined {
  for (let at = 0; at < tasks.length; at += 1) {
    const task = tasks[at] as Task;
    if (task.depth > 0) continue;
    const next = tasks.findIndex(({ depth }, i) => i > at && depth === 0);
    const subtasks = tasks.slice(at + 1, next < 0 ? tasks.length : next);
    if (!isSettled(task) || (task.is === "done" && !subtasks.every(isSettled))) return { task, subtasks };
  }
  return undefined;
}

/** Counts the iteration that has just been judged for the task that was current in it. */
export function countAttempt(state: RunState, _lane: LaneState): void {
  const { tasks } = state;
  const current = tasks === undefined ? undefined : currentTask(tasks.list)?.task.id;
  if (tasks === undefined || current === undefined) return;
  tasks.attempts.set(current, (tasks.attempts.get(current) ?? 0) + 1);
}
