/**
 * What became of the tasks between two looks at the file, and what of it is fishy. What the agent does to its own list
 * is honoured and told; an open task that it makes vanish stays on the list. Pure.
 */
import type { FactOf, Task } from "../events.ts";
import { quoted } from "./task-edit.ts";
import { sameText, wordsOf } from "./task-list.ts";
import { counted } from "../plural.ts";

const MAX_SUSPICIONS = 10;

const isOpen = ({ is }: Task): boolean => is !== "done" && is !== "skipped";

interface Known {
  id: string;
  /** Ids of tasks that say the same only count them: one that is gone, or new, shifts the others. */
  words: string;
  open: boolean;
  text: string;
}

const known = (task: Task): Known => ({
  id: task.id,
  words: wordsOf(task.id),
  open: isOpen(task),
  text: sameText(task.text),
});

/** What makes a task the one it was before, the surest first; what is open stays open. */
const SAME: readonly ((old: Known, task: Known) => boolean)[] = [
  (old, task) => old.id === task.id && old.open === task.open,
  (old, task) => old.words === task.words && old.open === task.open,
  (old, task) => old.id === task.id,
  (old, task) => old.words === task.words,
  // Something was written behind it.
  (old, task) => task.text.startsWith(`${old.text} `),
];

/** Which task of before each one is, by the new id the old one; new tasks are not in it. */
export function heirs(before: readonly Task[], now: readonly Task[]): Map<string, string> {
  const found = new Map<string, string>();
  const left = before.map(known);
  const tasks = now.map(known);
  for (const isSame of SAME)
    for (const task of tasks) {
      const at = found.has(task.id) ? -1 : left.findIndex((old) => isSame(old, task));
      if (at >= 0) found.set(task.id, left.splice(at, 1)[0]?.id ?? "");
    }
  return found;
}

export interface Look {
  by: FactOf<"tasks-recorded">["by"];
  before: readonly Task[];
  /** Of the file; undefined when there is none. */
  now: readonly Task[] | undefined;
  file: string;
  /** Changed files beside the task file itself and other notes. */
  work: number;
  /** Tasks with work behind them from earlier iterations. */
  worked: ReadonlySet<string>;
  /** Tasks, not subtasks, that count as done: a tick alone does not let one vanish. */
  settled: ReadonlySet<string>;
}

export function compareTasks(look: Look): { tasks: Task[]; suspicions: string[] } {
  const { before, now = [], by } = look;
  const inherited = heirs(before, now);
  const there = new Set(inherited.values());
  const isOwed = (task: Task): boolean => (task.depth === 0 ? !look.settled.has(task.id) : isOpen(task));
  const absent = before.filter((task) => isOwed(task) && !there.has(task.id));
  // A person may take tasks out; that the whole file is gone is nobody's wish.
  const stays = by === "agent" || look.now === undefined;
  const missing = absent
    .filter(({ is }) => stays || is === "missing")
    .map((task): Task => ({ ...task, depth: 0, is: "missing" }));
  const tasks = [...now, ...renamed(missing, now)];
  if (by !== "agent") return { tasks, suspicions: [] };
  const suspicions = [...vanished(look, { absent, inherited }), ...ticked(look, inherited)];
  const more = suspicions.length - MAX_SUSPICIONS;
  return { tasks, suspicions: more > 0 ? [...suspicions.slice(0, MAX_SUSPICIONS), `and ${more} more`] : suspicions };
}

/** Another task may have its id by now. */
function renamed(missing: readonly Task[], now: readonly Task[]): Task[] {
  const taken = new Set(now.map(({ id }) => id));
  return missing.map((task) => {
    let { id } = task;
    for (let k = 2; taken.has(id); k += 1) id = `${wordsOf(task.id)}-${k}`;
    taken.add(id);
    return { ...task, id };
  });
}

interface Compared {
  absent: readonly Task[];
  inherited: ReadonlyMap<string, string>;
}

function vanished({ now, file }: Look, { absent, inherited }: Compared): string[] {
  const fresh = absent.filter(({ is }) => is !== "missing");
  if (now === undefined) return fresh.length === 0 ? [] : [`${file} is gone, with ${fresh.length} open tasks in it`];
  const added = now.filter(({ id }) => !inherited.has(id));
  return fresh.map(({ text }, at) => {
    const other = added.length === fresh.length ? added[at] : undefined;
    return other === undefined
      ? `open task ${quoted(text)} is gone from ${file}`
      : `open task ${quoted(text)} was rewritten as ${quoted(other.text)}`;
  });
}

function ticked({ before, now = [], work, worked, file }: Look, inherited: ReadonlyMap<string, string>): string[] {
  const was = new Map(before.map((task) => [task.id, task]));
  const settled = now.flatMap((task) => {
    const old = was.get(inherited.get(task.id) ?? "");
    return old !== undefined && isOpen(old) && !isOpen(task) ? [{ task, id: old.id }] : [];
  });
  const skipped = settled.filter(({ task }) => task.is === "skipped");
  const done = settled.filter(({ task }) => task.is === "done");
  const idle = done.filter(({ id }) => work === 0 && !worked.has(id));
  const whole = done.filter(({ task }) => task.depth === 0);
  return [
    ...skipped.map(({ task }) => `task ${quoted(task.text)} was skipped by the agent`),
    ...idle.map(({ task }) => `task ${quoted(task.text)} was ticked though nothing but ${file} changed`),
    ...(whole.length > 1 && work > 0 && work < whole.length
      ? [`${whole.length} tasks were ticked at once, with a change in ${counted(work, "file")}`]
      : []),
  ];
}
