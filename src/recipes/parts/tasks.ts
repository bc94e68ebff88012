/** What a prompt says about tasks: the current one with what belongs to it, what is left, and what was fishy. */
import type { Task } from "../../events.ts";
import type { MakePart, TurnAction } from "../../loop/actions.ts";
import { promiseTag } from "../../loop/claim.ts";
import type { RunState } from "../../loop/state.ts";
import { missingOf } from "../../loop/task-decisions.ts";
import { quoted } from "../../loop/task-edit.ts";
import { currentTask, openTasks, taskCounts, type TaskBlock } from "../../loop/tasks.ts";
import { KIB } from "./text.ts";
import { counted } from "../../plural.ts";

const MAX_SUBTASKS_SHOWN = 40;
const MAX_NEXT_SHOWN = 5;

const MARKS: Readonly<Record<Task["is"], string>> = { todo: " ", doing: "/", done: "x", skipped: "-", missing: " " };

export const tasks: MakePart = (state, turn) => ({
  name: "tasks",
  text: taskWords(state, turn),
  capBytes: 16 * KIB,
});

function taskWords(state: RunState, turn: TurnAction): string {
  const { spec, tasks } = state;
  if (spec.tasks === undefined || tasks === undefined) return "";
  const current = currentTask(state);
  const sections = [
    current === undefined ? allDone(state) : task(state, { current, turn }),
    missing(state),
    noticed(state, turn),
  ];
  return sections.filter((text) => text !== "").join("\n\n");
}

function task(state: RunState, { current, turn }: { current: TaskBlock; turn: TurnAction }): string {
  const { file = "", promise = "", minIterations = 1 } = state.spec.tasks ?? {};
  // The iteration that begins with this prompt is counted once it has begun.
  const before = state.tasks?.attempts.get(current.task.id) ?? 0;
  const attempt = turn.attempt === 1 ? before + 1 : before;
  const isTicked = current.task.is === "done" || current.task.is === "skipped";
  const again = isTicked ? `\n\nIt is still the current one: ${missingOf(state, current)}. Look at it again.` : "";
  const least = minIterations > 1 ? ` of at least ${minIterations}` : "";
  return `## Current task (iteration ${attempt}${least} on it)

Work on this task of ${file}, and on no other:

${lines(current).join("\n")}${again}

In ${file} mark it \`[/]\` while you work on it, and \`[x]\`, with its subtasks, when it is done and verified. Tick nothing that is not done; do not reword, remove or skip tasks. You may add tasks that you find. When the task is done, end your final message with this line alone:

${promiseTag(promise)}

${left(state)}`;
}

function lines({ task: { text, is }, subtasks }: TaskBlock): string[] {
  const shown = subtasks.slice(0, MAX_SUBTASKS_SHOWN);
  const more = subtasks.length - shown.length;
  return [
    `- [${MARKS[is]}] ${text}`,
    ...shown.map((one) => `${"  ".repeat(one.depth)}- [${MARKS[one.is]}] ${one.text}`),
    ...(more > 0 ? [`  and ${more} more subtasks`] : []),
  ];
}

function left(state: RunState): string {
  const { done, skipped, total } = taskCounts(state) ?? { done: 0, skipped: 0, total: 0 };
  const next = openTasks(state).slice(1);
  const names = next.slice(0, MAX_NEXT_SHOWN).map(({ task: { text } }) => quoted(text));
  const more = next.length > MAX_NEXT_SHOWN ? ` and ${next.length - MAX_NEXT_SHOWN} more` : "";
  const counts = `${done} of ${counted(total, "task")} ${total === 1 ? "is" : "are"} done${skipped === 0 ? "" : `, ${skipped} skipped`}.`;
  return names.length === 0
    ? `${counts} This is the last one.`
    : `${counts} After this one: ${names.join(", ")}${more}.`;
}

function allDone(state: RunState): string {
  const { done, skipped } = taskCounts(state) ?? { done: 0, skipped: 0 };
  return `## Tasks

All tasks of ${state.spec.tasks?.file} are settled: ${done} done, ${skipped} skipped. Look at the whole once more, against the goal; then say that it is done as described.`;
}

function missing(state: RunState): string {
  const gone = (state.tasks?.list ?? []).filter(({ is }) => is === "missing");
  if (gone.length === 0) return "";
  const file = state.spec.tasks?.file;
  const named = gone.slice(0, MAX_SUBTASKS_SHOWN).map(({ text }) => `- [ ] ${text}`);
  return `These open tasks are gone from ${file}. They still have to be done: put them back as they were.\n\n${named.join("\n")}`;
}

/** Of the iteration before. */
function noticed(state: RunState, { iteration }: TurnAction): string {
  const said = (state.tasks?.reported ?? []).filter((one) => one.iteration === iteration - 1);
  if (said.length === 0) return "";
  return `pawl noticed, and reports to your user:\n\n${said.map(({ text }) => `- ${text}`).join("\n")}`;
}

/** How to give up, where there is a word for it. */
export const givingUp: MakePart = ({ spec }, turn) => ({
  name: "giving-up",
  text: turn.session.mode === "continue" || spec.claim.abort === undefined ? "" : lastResort(spec.claim.abort),
  capBytes: 1 * KIB,
});

const lastResort = (abort: string): string =>
  `If the goal cannot be reached, whatever you do, say why and end your final message with this line alone; it ends the run as failed:\n\n${promiseTag(abort)}`;
