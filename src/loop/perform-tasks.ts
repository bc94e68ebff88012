/** Looks at the task file, and writes what people want changed in it. */
import type { NewFact, Task, TaskEdit } from "../events.ts";
import { TerminalError } from "../errors.ts";
import type { Action } from "./actions.ts";
import type { Hands } from "./hands.ts";
import { recorded, type Taken } from "./recorded.ts";
import { laneOf } from "./state.ts";
import { editTasks, type Edited } from "./task-edit.ts";
import { MAX_TASK_FILE_BYTES, MAX_TASKS, readTasks } from "./task-list.ts";
import { compareTasks, type Look } from "./task-watch.ts";
import { settledTasks, workIn } from "./tasks.ts";

interface About {
  lane: string;
  iteration: number;
  by: Look["by"];
  /** What the agent changed. */
  taken?: Taken;
}

/** For the same append as the change it belongs to; nothing when nothing is new, or there are no tasks. */
export async function lookAtTasks({ run, ports }: Hands, { lane, iteration, by, taken }: About): Promise<NewFact[]> {
  const { spec, tasks: known } = run.state;
  if (spec.tasks === undefined) return [];
  const { file } = spec.tasks;
  const before = known?.list ?? [];
  const found = await ports.workspace.read(file, MAX_TASK_FILE_BYTES);
  const now = found === undefined ? undefined : plain(readTasks(found.text));
  const tooMuch =
    (found?.bytes ?? 0) > MAX_TASK_FILE_BYTES
      ? `${file} has ${found?.bytes} bytes, more than ${MAX_TASK_FILE_BYTES}: it was not read`
      : (now?.length ?? 0) > MAX_TASKS
        ? `${file} has ${now?.length} tasks, more than ${MAX_TASKS}: it was not read`
        : undefined;
  const isTold = known?.reported.at(-1)?.text === tooMuch;
  const { tasks, suspicions } =
    tooMuch === undefined
      ? compareTasks({
          by,
          before,
          now,
          file,
          work: taken === undefined ? 0 : workIn(spec, taken),
          worked: known?.worked ?? new Set(),
          settled: settledTasks(run.state),
        })
      : { tasks: [...before], suspicions: isTold ? [] : [tooMuch] };
  if (known !== undefined && suspicions.length === 0 && same(tasks, before)) return [];
  return [{ type: "tasks-recorded", lane, iteration, by, tasks, suspicions }];
}

/** An id stands for its text: what was recorded may be masked. */
const same = (a: readonly Task[], b: readonly Task[]): boolean => {
  const key = (tasks: readonly Task[]): string => tasks.map(({ id, depth, is }) => `${id} ${depth} ${is}`).join("\n");
  return key(a) === key(b);
};

const plain = (tasks: readonly Task[]): Task[] => tasks.map(({ id, text, depth, is }) => ({ id, text, depth, is }));

/** The edit, the snapshot with it and the receipt are one append: after a crash all of it is found undone and done again. */
export async function editTaskFile(
  { directive, edit, lane }: Extract<Action, { do: "edit-tasks" }>,
  hands: Hands,
  signal: AbortSignal,
): Promise<void> {
  const { run, ports, running } = hands;
  // A turn that is about to begin has read the list already; it is the agent's until it ends.
  if (signal.aborted || running.size > 0) return;
  const { iteration, head } = laneOf(run.state, lane);
  const known = run.state.tasks?.list ?? [];
  const edited = await writeEdit(hands, { edit, known });
  const delivered = { type: "directive-delivered" as const, lane, id: directive, how: edited.how, turn: null };
  if (edited.refused) return await run.append([{ ...delivered, refused: true }]);
  const n = run.state.snapshots;
  const message = `pawl: before iteration ${iteration + 1}`;
  const about = { parent: head?.snapshot ?? 0, message, at: run.now().wall, by: "user" as const };
  const taken = await ports.workspace.snapshot(n, about);
  const now = await ports.workspace.read(run.state.spec.tasks?.file ?? "", MAX_TASK_FILE_BYTES);
  const listed = plain(readTasks(now?.text ?? ""));
  const missing = known.filter(
    ({ id, is }) => is === "missing" && !isDropped(id, edit) && !listed.some((task) => task.id === id),
  );
  await run.append([
    recorded(taken, { lane, iteration, n, by: "user" }),
    { type: "tasks-recorded", lane, iteration, by: "person", tasks: [...listed, ...missing], suspicions: [], edit },
    delivered,
  ]);
}

const isDropped = (id: string, edit: TaskEdit): boolean => edit.kind === "task-mark" && edit.task === id;

async function writeEdit(
  { run, ports }: Hands,
  { edit, known }: { edit: TaskEdit; known: readonly Task[] },
): Promise<Edited> {
  const file = run.state.spec.tasks?.file ?? "";
  const found = await ports.workspace.read(file, MAX_TASK_FILE_BYTES);
  if ((found?.bytes ?? 0) > MAX_TASK_FILE_BYTES)
    return { text: "", how: `not done: ${file} is too large`, refused: true };
  const edited = editTasks(found?.text ?? "", { edit, known });
  try {
    if (edited.text !== (found?.text ?? "")) await ports.workspace.write(file, edited.text);
  } catch (error) {
    if (!(error instanceof TerminalError)) throw error;
    return { text: "", how: `not done: ${error.message}`, refused: true };
  }
  return edited;
}

/** What people changed after the state that was put back is theirs, and not undone with the agent's work. */
export async function repeatEdits(hands: Hands, { to }: { to: number }): Promise<boolean> {
  const { run, ports } = hands;
  const file = run.state.spec.tasks?.file;
  const later = (run.state.tasks?.edits ?? []).filter(({ snapshot }) => snapshot > to);
  if (file === undefined || later.length === 0) return false;
  const found = await ports.workspace.read(file, MAX_TASK_FILE_BYTES);
  if ((found?.bytes ?? 0) > MAX_TASK_FILE_BYTES) return false;
  const before = found?.text ?? "";
  const text = later.reduce((so, { edit }) => editTasks(so, { edit, known: [] }).text, before);
  if (text === before) return false;
  await ports.workspace.write(file, text);
  return true;
}
