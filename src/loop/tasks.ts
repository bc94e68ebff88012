/** The tasks of a run: a markdown list in the workspace, as it was last seen. Part of the fold. Pure. */
import type { FactOf, Task, TaskEdit } from "../events.ts";
import type { LaneState, RunState } from "./state.ts";
import { heirs } from "./task-watch.ts";

const MAX_REPORTED = 50;
const MAX_KEPT_EDITS = 100;

export interface TaskState {
  list: Task[];
  /** Iterations that each task has had as the current one, by id. */
  attempts: Map<string, number>;
  /** Settled by a person or before the run: no minimum of iterations. */
  excused: Set<string>;
  /** Current ones in whose iterations files were changed. */
  worked: Set<string>;
  /** The current one of this iteration, as its prompt said. */
  current?: string;
  /** What looked like cheating, by iteration. */
  reported: { iteration: number; text: string }[];
  /** People's changes, by the snapshot they are in: an older state that is restored gets them again. */
  edits: { snapshot: number; edit: TaskEdit }[];
}

export interface TaskBlock {
  task: Task;
  subtasks: Task[];
}

const isTicked = ({ is }: Task): boolean => is === "done" || is === "skipped";
const isComplete = ({ task, subtasks }: TaskBlock): boolean =>
  task.is === "skipped" || (task.is === "done" && subtasks.every(isTicked));

function blocksOf(list: readonly Task[]): TaskBlock[] {
  const blocks: TaskBlock[] = [];
  for (const task of list) {
    if (task.depth === 0) blocks.push({ task, subtasks: [] });
    else blocks.at(-1)?.subtasks.push(task);
  }
  return blocks;
}

/** Ticked with all its subtasks, and looked at as often as every task must be. */
function isSettled({ tasks, spec }: RunState, block: TaskBlock): boolean {
  const { id } = block.task;
  if (!isComplete(block)) return false;
  return tasks?.excused.has(id) === true || (tasks?.attempts.get(id) ?? 0) >= (spec.tasks?.minIterations ?? 1);
}

export const openTasks = (state: RunState): TaskBlock[] =>
  blocksOf(state.tasks?.list ?? []).filter((block) => !isSettled(state, block));

/** Ids of the tasks that count as done or skipped. */
export const settledTasks = (state: RunState): Set<string> =>
  new Set(
    blocksOf(state.tasks?.list ?? [])
      .filter((block) => isSettled(state, block))
      .map(({ task }) => task.id),
  );

/** The first that is not settled; undefined when all are. */
export const currentTask = (state: RunState): TaskBlock | undefined => openTasks(state)[0];

export interface TaskCounts {
  done: number;
  skipped: number;
  total: number;
}

/** Subtasks count with their task. undefined without a list. */
export function taskCounts(state: RunState): TaskCounts | undefined {
  if (state.tasks === undefined) return undefined;
  const blocks = blocksOf(state.tasks.list);
  const settled = blocks.filter((block) => isSettled(state, block));
  const skipped = settled.filter(({ task }) => task.is === "skipped").length;
  return { done: settled.length - skipped, skipped, total: blocks.length };
}

/** Counts the iteration that begins for the task that its prompt names. */
export function countAttempt(state: RunState): void {
  const { tasks } = state;
  if (tasks === undefined) return;
  const current = currentTask(state)?.task.id;
  delete tasks.current;
  if (current === undefined) return;
  tasks.current = current;
  tasks.attempts.set(current, (tasks.attempts.get(current) ?? 0) + 1);
}

/** Files that pawl or the agent keep their notes in: a change there is no work. */
const noteFiles = ({ tasks, notes, knowledge }: RunState["spec"]): string[] =>
  [tasks, notes, knowledge].flatMap((memo) => (memo === undefined ? [] : [memo.file]));

export function workIn(
  spec: RunState["spec"],
  { files, fileCount }: Pick<FactOf<"change-recorded">, "files" | "fileCount">,
): number {
  const notes = noteFiles(spec);
  return Math.max(0, fileCount - files.filter(({ path }) => notes.includes(path)).length);
}

export function recordWork({ tasks, spec }: RunState, fact: FactOf<"change-recorded">): void {
  if (tasks?.current !== undefined && fact.by === "agent" && workIn(spec, fact) > 0) tasks.worked.add(tasks.current);
}

export function recordTasks(state: RunState, lane: LaneState, fact: FactOf<"tasks-recorded">): void {
  const before = state.tasks;
  const was = new Map((before?.list ?? []).map((task) => [task.id, task]));
  const inherited = heirs(before?.list ?? [], fact.tasks);
  const keptIn = (old: ReadonlySet<string> | undefined): Set<string> =>
    new Set(fact.tasks.flatMap(({ id }) => (old?.has(inherited.get(id) ?? "") === true ? [id] : [])));
  const excused = keptIn(before?.excused);
  for (const task of fact.tasks) {
    const old = was.get(inherited.get(task.id) ?? "");
    if (!isTicked(task)) excused.delete(task.id);
    else if (fact.by === "person" && (old === undefined || !isTicked(old))) excused.add(task.id);
  }
  const attempts = fact.tasks.flatMap(({ id }) => {
    const n = before?.attempts.get(inherited.get(id) ?? "");
    return n === undefined ? [] : [[id, n] as const];
  });
  const reported = fact.suspicions.map((text) => ({ iteration: fact.iteration, text }));
  const edit = fact.edit === undefined ? [] : [{ snapshot: lane.head?.snapshot ?? 0, edit: fact.edit }];
  const heir = [...inherited].find(([, old]) => old === before?.current)?.[0];
  const current = heir ?? before?.current;
  state.tasks = {
    list: fact.tasks,
    attempts: new Map(attempts),
    excused,
    worked: keptIn(before?.worked),
    ...(current === undefined ? {} : { current }),
    reported: [...(before?.reported ?? []), ...reported].slice(-MAX_REPORTED),
    edits: [...(before?.edits ?? []), ...edit].slice(-MAX_KEPT_EDITS),
  };
}
