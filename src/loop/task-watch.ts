/**
 * What became of the tasks between two looks at the file, and what of it is fishy. What the agent does to its own list
 * is honoured and told; an open task that it makes vanish stays on the list. Pure.
 */
import type { FactOf, Task } from "../events.ts";
import { quoted } from "./task-edit.ts";
import { sameText } from "./task-list.ts";

const MAX_SUSPICIONS = 10;

const isOpen = ({ is }: Task): boolean => is !== "done" && is !== "skipped";

/** Tasks that go on under a longer text: the agent wrote something behind it. By the new id, the old one. */
export function heirs(before: readonly Task[], now: readonly Task[]): Map<string, string> {
  const known = new Set(before.map(({ id }) => id));
  const there = new Set(now.map(({ id }) => id));
  const gone = before.filter(({ id }) => !there.has(id));
  const found = new Map<string, string>();
  for (const task of now.filter(({ id }) => !known.has(id))) {
    const old = gone.findIndex(({ text }) => sameText(task.text).startsWith(`${sameText(text)} `));
    if (old >= 0) found.set(task.id, gone.splice(old, 1)[0]?.id ?? "");
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
  const there = new Set([...now.map(({ id }) => id), ...inherited.values()]);
  const isOwed = (task: Task): boolean => (task.depth === 0 ? !look.settled.has(task.id) : isOpen(task));
  const absent = before.filter((task) => isOwed(task) && !there.has(task.id));
  // A person may take tasks out; that the whole file is gone is nobody's wish.
  const stays = by === "agent" || look.now === undefined;
  const missing = absent
    .filter(({ is }) => stays || is === "missing")
    .map((task): Task => ({ ...task, depth: 0, is: "missing" }));
  const tasks = [...now, ...missing];
  if (by !== "agent") return { tasks, suspicions: [] };
  const suspicions = [...vanished(look, { absent, inherited }), ...ticked(look, inherited)];
  const more = suspicions.length - MAX_SUSPICIONS;
  return { tasks, suspicions: more > 0 ? [...suspicions.slice(0, MAX_SUSPICIONS), `and ${more} more`] : suspicions };
}

interface Compared {
  absent: readonly Task[];
  inherited: ReadonlyMap<string, string>;
}

function vanished({ before, now, file }: Look, { absent, inherited }: Compared): string[] {
  const fresh = absent.filter(({ is }) => is !== "missing");
  if (now === undefined) return fresh.length === 0 ? [] : [`${file} is gone, with ${fresh.length} open tasks in it`];
  const known = new Set(before.map(({ id }) => id));
  const added = now.filter(({ id }) => !known.has(id) && !inherited.has(id));
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
    const old = was.get(inherited.get(task.id) ?? task.id);
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
      ? [`${whole.length} tasks were ticked at once, with a change in ${work} file${work === 1 ? "" : "s"}`]
      : []),
  ];
}
