/**
 * Finding and ending whole trees of processes: by parent, by group, and by the tag in the environment that also
 * survives `setsid` and a double fork. A process that drops both its parents and its environment escapes, and so does
 * one that forks into a new session every millisecond: against those only a PID namespace helps.
 */
import { PROCESS_TAG } from "./environment.ts";
import { lookFor, type Look } from "./process-look.ts";
import { allProcesses, isStarting, lastPid, pids, processInfo, variableOfEach } from "./process-table.ts";
import type { ProcessInfo } from "./process-table.ts";

/** Between asking with SIGTERM and SIGKILL. */
export const TERM_GRACE_MS = 1_000;
/** A bomb may fork faster than it can be frozen; then killing must do. */
const MAX_FREEZING_LOOKS = 20;
/**
 * How long SIGKILL is repeated; beyond that a process hangs inside the kernel and nobody can end it. On a machine with
 * too much to do even dying takes a while: after 5 s one in 500 was still there.
 */
const KILL_LIMIT_MS = 30_000;
const MIN_POLL_MS = 5;
const MAX_POLL_MS = 100;
/** So few are asked for one by one; for more the whole table is listed. */
const FEW_PIDS = 16;
/** A program that forks and exits in a circle can slip through one look at the table. */
const EMPTY_LOOKS_IN_A_ROW = 2;

export interface Tree {
  /** Its first process, started here as the leader of its own group; it may have ended. */
  root: number;
  /** What it carries as PROCESS_TAG. */
  tag: string;
}

/** Ends the tree; returns how many processes had to be told. The root too, if it still lives. */
export function endTree(
  tree: Tree,
  { graceMs = TERM_GRACE_MS, wrapped = false }: { graceMs?: number; wrapped?: boolean } = {},
): Promise<number> {
  // The wrapper of a fence would take everything down with it at once; it goes when what is inside has gone.
  return endAll(() => membersOf(tree), { graceMs, unasked: wrapped ? tree.root : undefined });
}

export interface Since {
  /** The pid given out last before it was started. */
  since?: number | undefined;
  /** What had been started for it before. */
  older?: readonly number[] | undefined;
}

/**
 * Living members of a tree. With `since`, looks only at later ones, which is what a short-lived tree can have made once
 * its root has ended, and at the older ones that are named.
 */
export function membersOf({ root, tag }: Tree, { since, older = [] }: Since = {}): ProcessInfo[] {
  const { all, values: tags } = since === undefined ? lookFor(PROCESS_TAG) : lookSince(since, older);
  const table = living(all);
  if (table.length === 0) return [];
  const first = table.find((info) => info.pid === root);
  // The pid of a root that ended long ago may be somebody else's by now.
  const reused = first !== undefined && first.ppid !== process.pid && tags.get(root) !== tag;
  const seeds = table.filter((info) => tags.get(info.pid) === tag || (!reused && info.group === root));
  return withDescendants(seeds, { table, spare: kin() });
}

/**
 * `seeds` and everything below them; never what is in `spare`, nor what is below only that. Parents come first: a shell
 * that is told before its child does not get to print that the child was terminated.
 */
export function withDescendants(
  seeds: readonly ProcessInfo[],
  { table, spare }: { table: readonly ProcessInfo[]; spare: ReadonlySet<number> },
): ProcessInfo[] {
  const children = Map.groupBy(table, (info) => info.ppid);
  const found = new Set<number>();
  const everything = [...seeds];
  for (const info of everything) {
    if (found.has(info.pid) || spare.has(info.pid)) continue;
    found.add(info.pid);
    everything.push(...(children.get(info.pid) ?? []));
  }
  const ordered = table.filter((info) => found.has(info.pid) && !found.has(info.ppid));
  for (const info of ordered) ordered.push(...(children.get(info.pid) ?? []).filter((child) => found.has(child.pid)));
  return ordered;
}

/** This process and its ancestors: never to be ended from here. */
export function kin(): Set<number> {
  const found = new Set([0, 1]);
  for (let pid = process.pid; !found.has(pid); pid = processInfo(pid)?.ppid ?? 0) found.add(pid);
  return found;
}

export function living(among: readonly number[]): ProcessInfo[] {
  return among.map(processInfo).filter((info) => info !== undefined && !info.zombie) as ProcessInfo[];
}

/** Stops everything `find` finds until it finds nothing new: afterwards none of them acts, and none can fork away. */
export function freezeAll(find: () => ProcessInfo[]): void {
  const frozen = new Set<string>();
  for (let look = 0; look < MAX_FREEZING_LOOKS; look += 1) {
    const fresh = find().filter((info) => !frozen.has(nameOf(info)));
    if (fresh.length === 0) return;
    for (const info of fresh) {
      frozen.add(nameOf(info));
      send(info.pid, "SIGSTOP");
    }
  }
}

/** Signals what `find` finds, again and again, until it finds nothing: SIGTERM first, SIGKILL after the grace. */
export async function endAll(
  find: () => ProcessInfo[],
  { graceMs, unasked }: { graceMs: number; unasked?: number | undefined },
): Promise<number> {
  const told = new Set<string>();
  const startedAt = performance.now();
  let empty = 0;
  for (let pollMs = MIN_POLL_MS; ; pollMs = Math.min(pollMs * 2, MAX_POLL_MS)) {
    const elapsedMs = performance.now() - startedAt;
    const targets = find();
    empty = targets.length === 0 ? empty + 1 : 0;
    if (empty >= EMPTY_LOOKS_IN_A_ROW || elapsedMs > graceMs + KILL_LIMIT_MS) return told.size;
    const fresh = targets.filter((info) => !told.has(nameOf(info)));
    for (const info of targets) told.add(nameOf(info));
    if (elapsedMs >= graceMs) kill(targets);
    else for (const { pid } of fresh) if (pid !== unasked) ask(pid);
    if (fresh.length > 0 || empty > 0) pollMs = MIN_POLL_MS;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

const nameOf = (info: ProcessInfo): string => `${info.pid}@${info.startedAt}`;

function ask(pid: number): void {
  send(pid, "SIGTERM");
  // A stopped process would keep the signal waiting.
  send(pid, "SIGCONT");
}

/** A group signal is one step for the kernel, so no member can fork away from it; for groups that are wholly ours. */
function kill(targets: readonly ProcessInfo[]): void {
  const ours = new Set(targets.map((info) => info.pid));
  const strangers = new Set(
    allProcesses()
      .filter((info) => !ours.has(info.pid) && !info.zombie)
      .map((info) => info.group),
  );
  for (const group of new Set(targets.map((info) => info.group))) {
    if (group > 1 && !strangers.has(group)) send(-group, "SIGKILL");
  }
  for (const pid of ours) send(pid, "SIGKILL");
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone, or not ours to signal; the next look tells.
  }
}

function lookSince(first: number, older: readonly number[]): Look {
  const later = (): number[] => [...new Set([...older, ...pidsSince(first)])];
  return lookFor(PROCESS_TAG, { pids: later, variableOfEach, isStarting });
}

function pidsSince(first: number): number[] {
  const last = lastPid();
  if (last !== undefined && last >= first && last - first < FEW_PIDS) {
    return Array.from({ length: last - first }, (_, at) => first + 1 + at);
  }
  const all = pids();
  if (last === undefined) return all;
  // Pids are given out in order and start again from the bottom.
  return all.filter((pid) => (last > first ? pid > first && pid <= last : pid > first || pid <= last));
}
