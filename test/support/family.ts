/** A tool's command that leaves children, grandchildren, another session and an orphan behind, and looking for them. */
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { processesWith } from "./processes.ts";

export const LEVELS = 4;

/**
 * Bounded in number and time. Each sleeps so long that its number tells it from every other process. The orphan has no
 * environment unless it is `tagged`: then it can be found without a PID namespace around it.
 */
export function family({ tagged = false } = {}): { command: string; alive: () => number[] } {
  const seconds = Array.from({ length: LEVELS }, (_, n) => `60.${randomInt(1e9)}${n}`);
  const [child, grandchild, session, orphan] = seconds;
  const twice = `setsid sh -c "(${tagged ? "" : "env -i "}sleep ${orphan} &) & (sleep ${session} &)"`;
  const command = `sh -c '${twice}; sh -c "sleep ${grandchild} & wait" & sleep ${child} & sleep 0.2' & sleep 0.3; echo forked`;
  return { command, alive: () => processesWith(seconds) };
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Everything below a process, as the host sees it: the keeper, bwrap, the program, its tools. */
export function below(root: number): number[] {
  const found = [root];
  for (const parent of found) {
    const tasks = readTasks(parent).flatMap((task) => read(`/proc/${parent}/task/${task}/children`).split(" "));
    found.push(...tasks.filter((pid) => pid !== "").map(Number));
  }
  return found.slice(1);
}

function readTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}
