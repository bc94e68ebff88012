/** The task file of a new run: found and read before anything is changed, refused in one line when it cannot be worked off. */
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { relative, resolve, sep } from "node:path";
import type { Resolved } from "../../config.ts";
import { UsageError } from "../../errors.ts";
import type { Task } from "../../events.ts";
import { MAX_TASK_FILE_BYTES, MAX_TASKS, readTasks } from "../../loop/task-list.ts";
import { readMemo } from "../../workspace/memo.ts";
import { isWithin } from "../../workspace/user-git.ts";
import { oneLine } from "../plain.ts";

const HOW = "write one task a line, for example: - [ ] make the parser strict";
const MAX_PATH_CHARS = 80;

export interface TaskFile {
  /** Relative to the repository's top level. */
  file: string;
  tasks: Task[];
}

interface Place {
  cwd: string;
  topLevel: string;
}

/** undefined without `tasks`. */
export function taskFile({ settings, origins }: Resolved, { cwd, topLevel }: Place): TaskFile | undefined {
  const given = settings.tasks;
  if (given === undefined) return undefined;
  // What is typed is meant from where one stands; what is configured, from the top.
  const here = resolve(realpathSync(cwd), given);
  const isTyped = origins.tasks?.from === "flag" && existsSync(here);
  const path = isTyped ? here : resolve(topLevel, given);
  const name = oneLine(given, { max: MAX_PATH_CHARS });
  if (!isWithin(path, topLevel) || path === topLevel)
    throw new UsageError(`the task file ${name} lies outside the repository ${topLevel}`, {
      hint: "the agent ticks its tasks: keep the file inside",
    });
  const file = relative(topLevel, path).split(sep).join("/");
  const found = readMemo(topLevel, { path: file, maxBytes: MAX_TASK_FILE_BYTES });
  if (found === undefined) {
    const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    throw new UsageError(isThere ? `${name} is not a plain file` : `there is no task file ${name}`, { hint: HOW });
  }
  const tasks = readTasks(found.text).map(({ id, text, depth, is }) => ({ id, text, depth, is }));
  if (found.bytes > MAX_TASK_FILE_BYTES)
    throw new UsageError(`${name} has ${found.bytes} bytes; a task file has at most ${MAX_TASK_FILE_BYTES}`);
  if (tasks.length > MAX_TASKS)
    throw new UsageError(`${name} has ${tasks.length} tasks; at most ${MAX_TASKS} are worked off`);
  if (tasks.length === 0) throw new UsageError(`${name} has no task`, { hint: HOW });
  return { file, tasks };
}
