/**
 * What the system knows about its processes: parent, group, start time, and the environment each was started with.
 * Linux reads /proc; elsewhere `ps` says the same, slower. Everything here only looks.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { fault } from "./faults.ts";

export interface ProcessInfo {
  pid: number;
  ppid: number;
  /** Process group. */
  group: number;
  /** It has ended and only waits for its parent to notice. */
  zombie: boolean;
  /** Together with the pid unique since boot; to be compared, not read. */
  startedAt: string;
}

const PS_TIMEOUT_MS = 10_000;
const PS_MAX_BYTES = 64 * 1024 * 1024;
const hasProc = process.platform === "linux";

export function processInfo(pid: number): ProcessInfo | undefined {
  if (hasProc) return parseStat(readOrUndefined(`/proc/${pid}/stat`));
  return ps(["-o", PS_COLUMNS, "-p", String(pid)])
    .map(parsePsLine)
    .find((info) => info?.pid === pid);
}

export function allProcesses(): ProcessInfo[] {
  const found = hasProc ? pids().map(processInfo) : ps(["-axo", PS_COLUMNS]).map(parsePsLine);
  return found.filter((info) => info !== undefined);
}

/**
 * The value each process was started with for a variable, as far as this user may look; processes without it are left
 * out. One that overwrites its own environment cannot be found this way, only by its parent or group.
 */
export function variableOfEach(name: string, among: readonly number[] = pids()): Map<number, string> {
  const found = new Map<number, string>();
  for (const [pid, entries] of hasProc ? fromProc(among) : fromPs(among)) {
    const value = entries.find((entry) => entry.startsWith(`${name}=`));
    if (value !== undefined) found.set(pid, value.slice(name.length + 1));
  }
  return found;
}

/** Of the kernel's own threads, in proc_pid_stat(5). */
const KERNEL_THREAD = 0x0020_0000;
const FLAGS_FIELD = 6;

/**
 * Between one program and the next (execve): then a process has neither words nor an environment that could be read. It
 * is what it was before.
 */
export function isStarting(pid: number): boolean {
  if (!hasProc || readOrUndefined(`/proc/${pid}/environ`) !== "" || readOrUndefined(`/proc/${pid}/cmdline`) !== "")
    return false;
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  const info = parseStat(stat);
  if (stat === undefined || info === undefined || info.zombie) return false;
  return (Number(statFields(stat)[FLAGS_FIELD]) & KERNEL_THREAD) === 0;
}

function* fromProc(among: readonly number[]): Generator<[number, string[]]> {
  for (const pid of among) yield [pid, readOrUndefined(`/proc/${pid}/environ`)?.split("\0") ?? []];
}

function* fromPs(among: readonly number[]): Generator<[number, string[]]> {
  for (const line of ps(["eww", "-axo", "pid=,command="])) {
    const pid = Number.parseInt(line, 10);
    if (among.includes(pid)) yield [pid, line.split(" ")];
  }
}

export function pids(): number[] {
  if (!hasProc) return allProcesses().map((info) => info.pid);
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid));
}

/** The pid most recently given out, undefined where the system does not tell. */
export function lastPid(): number | undefined {
  const last = Number(readOrUndefined("/proc/loadavg")?.trim().split(" ").at(-1));
  return Number.isInteger(last) && last > 0 ? last : undefined;
}

/** proc_pid_stat(5). The program's name may hold spaces and parentheses, so fields count from the last `)`. */
export function parseStat(text: string | undefined): ProcessInfo | undefined {
  if (text === undefined) return undefined;
  const fields = statFields(text);
  const [state, ppid, group] = fields;
  const startedAt = fields[19];
  if (state === undefined || startedAt === undefined) return undefined;
  const pid = Number.parseInt(text, 10);
  return { pid, ppid: Number(ppid), group: Number(group), zombie: state === "Z" || state === "X", startedAt };
}

const statFields = (text: string): string[] => text.slice(text.lastIndexOf(")") + 2).split(" ");

const PS_COLUMNS = "pid=,ppid=,pgid=,state=,lstart=";

export function parsePsLine(line: string): ProcessInfo | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
  if (match === null) return undefined;
  const [, pid, ppid, group, state = "", startedAt = ""] = match;
  return { pid: Number(pid), ppid: Number(ppid), group: Number(group), zombie: state.startsWith("Z"), startedAt };
}

function ps(args: string[]): string[] {
  fault("spawn");
  try {
    const options = { encoding: "utf8", timeout: PS_TIMEOUT_MS, maxBuffer: PS_MAX_BYTES } as const;
    return execFileSync("ps", args, { ...options, env: { PATH: "/usr/bin:/bin", LC_ALL: "C" } }).split("\n");
  } catch {
    // `ps -p` of a process that is gone exits 1.
    return [];
  }
}

function readOrUndefined(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return undefined;
  }
}
