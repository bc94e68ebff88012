/** A second look at the process table, written apart from the product's own, so that tests do not believe its word. */
import { readFileSync, readdirSync } from "node:fs";

/** Living processes (zombies do not count) whose environment holds exactly `NAME=value`. Linux. */
export function taggedProcesses(name: string, value: string): number[] {
  return allPids().filter((pid) => isRunning(pid) && environ(pid).includes(`${name}=${value}`));
}

/** Of a run: what a script has started for good, when the shells on the way there may still come and go. */
export function sleepersOf(run: string): number[] {
  return taggedProcesses("PAWL_RUN", run).filter((pid) => read(`/proc/${pid}/cmdline`).startsWith("sleep\0"));
}

/** Living ones that were started with one of these words as an argument. */
export function processesWith(words: readonly string[]): number[] {
  const started = (pid: number): string[] => read(`/proc/${pid}/cmdline`).split("\0").slice(1);
  return allPids().filter((pid) => started(pid).some((word) => words.includes(word)) && isRunning(pid));
}

function allPids(): number[] {
  return readdirSync("/proc")
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number);
}

/** Also false for a zombie: it runs no more. */
export function isRunning(pid: number): boolean {
  const status = read(`/proc/${pid}/status`);
  return status !== "" && !/^State:\s+[ZX]/m.test(status);
}

/** Which of them the signal reached: one that has ended meanwhile is passed over. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals = "SIGKILL"): number[] {
  return pids.filter((pid) => {
    try {
      return process.kill(pid, signal);
    } catch {
      return false;
    }
  });
}

/** What `ps` shows of it to whoever may look; nothing of one that has gone meanwhile. */
export function shownOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`) + read(`/proc/${pid}/environ`);
}

function environ(pid: number): string[] {
  return read(`/proc/${pid}/environ`).split("\0");
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}
