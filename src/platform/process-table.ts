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
  /** A signal stopped it (SIGSTOP, Ctrl-Z); it goes on at SIGCONT. */
  suspended: boolean;
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
 * What each process was started with for a variable, undefined where it has none or this user may not look. Left out are
 * those whose environment is empty, which is also what one looks like that is just being started. A process that
 * overwrites its own environment cannot be found this way, only by its parent or group.
 */
export function variableOfEach(name: string, among: readonly number[] = pids()): Map<number, string | undefined> {
  return new Map(hasProc ? fromProc(name, among) : fromPs(name, among));
}

/** Of the kernel's own threads, in proc_pid_stat(5). */
const KERNEL_THREAD = 0x0020_0000;
const FLAGS_FIELD = 6;
const isOfKernel = (stat: string): boolean => (Number(statFields(stat)[FLAGS_FIELD]) & KERNEL_THREAD) !== 0;

/**
 * Between one program and the next (execve): then a process has neither words nor an environment that could be read. It
 * is what it was before.
 */
export function isStarting(pid: number): boolean {
  if (!hasProc) return false;
  const stat = readOrUndefined(`/proc/${pid}/stat`);
  const info = parseStat(stat);
  if (stat === undefined || info === undefined || info.zombie || isOfKernel(stat)) return false;
  return readOrUndefined(`/proc/${pid}/environ`) === "" && readOrUndefined(`/proc/${pid}/cmdline`) === "";
}

function* fromProc(name: string, among: readonly number[]): Generator<[number, string | undefined]> {
  for (const pid of among) {
    const environment = readOrUndefined(`/proc/${pid}/environ`);
    // The kernel's own threads, which have none, are as many as all others on a machine with little to do.
    if (environment !== "" || isOfKernel(readOrUndefined(`/proc/${pid}/stat`) ?? ""))
      yield [pid, valueIn(environment ?? "", { name, between: "\0" })];
  }
}

function* fromPs(name: string, among: readonly number[]): Generator<[number, string | undefined]> {
  for (const line of ps(["eww", "-axo", "pid=,command="])) {
    const pid = Number.parseInt(line, 10);
    if (among.includes(pid)) yield [pid, valueIn(line, { name, between: " " })];
  }
}

/** Of the first entry with that name; not all are taken apart, since this is done for every process there is. */
function valueIn(entries: string, { name, between }: { name: string; between: string }): string | undefined {
  const start = `${between}${name}=`;
  const all = `${between}${entries}`;
  const at = all.indexOf(start);
  if (at < 0) return undefined;
  const end = all.indexOf(between, at + start.length);
  return all.slice(at + start.length, end < 0 ? undefined : end);
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
  return {
    pid,
    ppid: Number(ppid),
    group: Number(group),
    zombie: state === "Z" || state === "X",
    suspended: state === "T",
    startedAt,
  };
}

const statFields = (text: string): string[] => text.slice(text.lastIndexOf(")") + 2).split(" ");

const PS_COLUMNS = "pid=,ppid=,pgid=,state=,lstart=";

export function parsePsLine(line: string): ProcessInfo | undefined {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
  if (match === null) return undefined;
  const [, pid, ppid, group, state = "", startedAt = ""] = match;
  return {
    pid: Number(pid),
    ppid: Number(ppid),
    group: Number(group),
    zombie: state.startsWith("Z"),
    suspended: state.startsWith("T"),
    startedAt,
  };
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
