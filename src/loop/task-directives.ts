/**
 * When a person's change of the tasks is done: between two iterations, with the files to itself, so that it is neither
 * the agent's change nor mixed into it. Pure.
 */
import type { Directive, TaskEdit } from "../events.ts";
import { mainLane, type RunState } from "./state.ts";
import { currentTask } from "./tasks.ts";

type TaskDirective = Extract<Directive, { kind: "task-add" | "task-mark" }>;

const isOfTasks = (directive: Directive): directive is TaskDirective =>
  directive.kind === "task-add" || directive.kind === "task-mark";

const pending = (state: RunState): { id: string; directive: TaskDirective }[] =>
  [...state.directives.values()].flatMap(({ id, directive, delivered }) =>
    delivered === undefined && isOfTasks(directive) ? [{ id, directive }] : [],
  );

/** In tasks mode: without a list such a directive is answered at once. */
export const hasPendingEdit = (state: RunState): boolean => state.tasks !== undefined && pending(state).length > 0;

type Step =
  | { do: "edit-tasks"; directive: string; edit: TaskEdit }
  | { do: "refuse"; how: string }
  /** Its time comes later; when the run ends first, it is done once it is reopened. */
  | { do: "wait" };

export function taskDirectiveStep(state: RunState, { id, directive }: { id: string; directive: TaskDirective }): Step {
  if (state.tasks === undefined) return { do: "refuse", how: "not done: this run has no task list" };
  const { open, iteration, decision, handOver, restoreTo } = mainLane(state);
  const isBetween = open === undefined && (iteration === 0 || decision !== undefined) && decision?.next !== "end";
  // One after the other: what each finds is what the one before it left.
  if (!isBetween || handOver !== undefined || restoreTo !== undefined || pending(state)[0]?.id !== id)
    return { do: "wait" };
  if (directive.kind === "task-add") return { do: "edit-tasks", directive: id, edit: directive };
  const task = directive.task ?? currentTask(state)?.task.id;
  if (task === undefined) return { do: "refuse", how: "not done: there is no current task" };
  return { do: "edit-tasks", directive: id, edit: { ...directive, task } };
}
