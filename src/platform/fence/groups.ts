/**
 * Control groups, where this process may make them: they bound the memory and the processes of everything inside a
 * fence together, shared memory and page cache too, which limits on single processes cannot. A command has a group of its
 * own while it runs; the next one takes it over, since the kernel keeps a group that is gone for as long as it keeps a file
 * in memory that was read in it, and some thousand of these slow down every program of the machine. What a killed driver
 * left is removed by the next one of the run.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sizeWords } from "./held.ts";
import type { FenceLimits } from "./limits.ts";

/** A hierarchy in which groups can be made: its folder, and how its files are called. */
interface Hierarchy {
  folder: string;
  /** Files with limits and what is written into them; those with `?` need not exist. */
  limits: readonly (readonly [file: string, value: (limits: FenceLimits) => number])[];
  /** Counters of limits that were met. */
  counters: readonly { file: string; name: string; words: (limits: FenceLimits) => string }[];
}

export interface Group {
  /** Each takes a process id; whoever writes its own is in the group from then on, with all it starts. */
  readonly doors: readonly string[];
  breaches(): string[];
  release(): void;
}

export interface Groups {
  /** They hold both memory and processes. */
  readonly isWhole: boolean;
  make(limits: FenceLimits): Group;
  /** Removes what is left of this run's groups. */
  sweep(): void;
}

const memoryWords = ({ memoryBytes }: FenceLimits): string => `killed: memory limit of ${sizeWords(memoryBytes)}`;
const processWords = ({ processes }: FenceLimits): string => `limit of ${processes} processes met`;
const memoryOf = ({ memoryBytes }: FenceLimits): number => memoryBytes;
const processesOf = ({ processes }: FenceLimits): number => processes;
const PIDS_COUNTER = { file: "pids.events", name: "max", words: processWords };

/** How long what is left is waited for. */
const SWEEP_LIMIT_MS = 50;
const SWEEP_POLL_MS = 1;
const AGAIN = new Int32Array(new SharedArrayBuffer(4));

/** By this process, for all its fences: several may be open at once. */
let made = 0;

/** undefined where none may be made. */
export function findGroups(run: string): Groups | undefined {
  const hierarchies = [...firstVersion(), ...secondVersion()];
  const prefix = `pawl-${run}-`;
  const own = new Set<string>();
  const free = new Set<string>();
  const newName = (): string => {
    const name = `${prefix}${process.pid}-${(made += 1)}`;
    own.add(name);
    for (const { folder } of hierarchies) mkdirSync(join(folder, name));
    return name;
  };
  const takeOver = (limits: FenceLimits): string | undefined => {
    const name = [...free].find((one) => isEmpty(one, hierarchies));
    if (name === undefined) return undefined;
    free.delete(name);
    try {
      setLimits(name, { hierarchies, limits });
      return name;
    } catch {
      // What is left in it is more than it may hold now. The sweep removes it.
      return undefined;
    }
  };
  const make = (limits: FenceLimits): Group => {
    const known = takeOver(limits);
    const name = known ?? newName();
    if (known === undefined) setLimits(name, { hierarchies, limits });
    let isHeld = true;
    const release = (): void => {
      // By then it may be another's.
      if (isHeld) free.add(name);
      isHeld = false;
    };
    return groupNamed(name, { hierarchies, limits, release });
  };
  const sweep = (): void => {
    const found = hierarchies.flatMap(({ folder }) => readdirSync(folder).map((name) => ({ folder, name })));
    for (const { folder, name } of found) if (isLeft(name)) tryRemove(join(folder, name));
    // What was killed a moment ago is still on its way out.
    const until = performance.now() + SWEEP_LIMIT_MS;
    let ours = found.filter(({ name }) => own.has(name)).map(({ folder, name }) => join(folder, name));
    while ((ours = ours.filter((group) => !tryRemove(group))).length > 0 && performance.now() < until)
      Atomics.wait(AGAIN, 0, 0, SWEEP_POLL_MS);
  };
  if (hierarchies.length === 0) return undefined;
  try {
    sweep();
    make({ memoryBytes: 2 ** 30, processes: 100, fileBytes: 2 ** 30 }).release();
    const held = hierarchies.flatMap(({ limits }) => limits.map(([file]) => file.split(".")[0]));
    return { isWhole: ["memory", "pids"].every((name) => held.includes(name)), make, sweep };
  } catch {
    sweep();
    return undefined;
  }
}

interface Given {
  hierarchies: readonly Hierarchy[];
  limits: FenceLimits;
}

function setLimits(name: string, { hierarchies, limits }: Given): void {
  for (const { folder, limits: files } of hierarchies) {
    for (const [file, value] of files) {
      const optional = file.endsWith("?");
      const path = join(folder, name, optional ? file.slice(0, -1) : file);
      if (!optional || existsSync(path)) writeFileSync(path, String(value(limits)));
    }
  }
}

/** What was killed a moment ago may still be in it; it counts until whoever it was left to has taken note of its end. */
const isEmpty = (name: string, hierarchies: readonly Hierarchy[]): boolean =>
  hierarchies.every(
    ({ folder }) =>
      linesOf(join(folder, name, "cgroup.procs")).length === 0 &&
      (linesOf(join(folder, name, "pids.current"))[0] ?? "0") === "0",
  );

function groupNamed(name: string, { hierarchies, limits, release }: Given & { release: () => void }): Group {
  const counts = hierarchies.flatMap(({ folder, counters }) =>
    counters.map(({ file, name: counter, words }) => ({
      count: () => counterIn(join(folder, name, file), counter),
      words,
    })),
  );
  // Of those before it, too.
  const seen = counts.map(({ count }) => count());
  return {
    doors: hierarchies.map(({ folder }) => join(folder, name, "cgroup.procs")),
    breaches: () =>
      counts.flatMap(({ count, words }, at) => {
        const now = count();
        const isNew = now > (seen[at] ?? 0);
        seen[at] = Math.max(now, seen[at] ?? 0);
        return isNew ? [words(limits)] : [];
      }),
    release,
  };
}

function counterIn(file: string, name: string): number {
  try {
    return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(readFileSync(file, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Of a driver that lives no more. */
function isLeft(name: string): boolean {
  const pid = /^pawl-.+-(\d+)-\d+$/.exec(name)?.[1];
  return pid !== undefined && !existsSync(`/proc/${pid}`);
}

/** Whether it is gone: it is not while something is in it. */
function tryRemove(group: string): boolean {
  try {
    rmdirSync(group);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function firstVersion(): Hierarchy[] {
  const memory = ownFolder("memory");
  const pids = ownFolder("pids");
  return [
    ...(memory === undefined
      ? []
      : [
          {
            folder: memory,
            limits: [
              ["memory.limit_in_bytes", memoryOf],
              ["memory.memsw.limit_in_bytes?", memoryOf],
            ],
            counters: [{ file: "memory.oom_control", name: "oom_kill", words: memoryWords }],
          } as const,
        ]),
    ...(pids === undefined
      ? []
      : [{ folder: pids, limits: [["pids.max", processesOf]], counters: [PIDS_COUNTER] } as const]),
  ];
}

/** Beside this process's own group or below it: one with processes in it can rarely have groups with limits. */
function secondVersion(): Hierarchy[] {
  const own = ownFolder("");
  if (own === undefined) return [];
  const offered = (folder: string): boolean => {
    const controllers = readFileSync(join(folder, "cgroup.subtree_control"), "utf8").split(/\s+/);
    return ["memory", "pids"].every((name) => controllers.includes(name));
  };
  const folder = [dirname(own), own].find((at) => existsSync(join(at, "cgroup.subtree_control")) && offered(at));
  if (folder === undefined) return [];
  const limits = [
    ["memory.max", memoryOf],
    // Else what is too much would only be moved to the disk.
    ["memory.swap.max?", () => 0],
    ["pids.max", processesOf],
  ] as const;
  const counters = [{ file: "memory.events", name: "oom_kill", words: memoryWords }, PIDS_COUNTER];
  return [{ folder, limits, counters }];
}

/** Where this process's group of a controller lies; the second version's has no name. */
function ownFolder(controller: string): string | undefined {
  const groups = linesOf("/proc/self/cgroup").map((line) => line.split(":"));
  const own = groups.find(([, names = ""]) => names.split(",").includes(controller));
  if (own === undefined) return undefined;
  const path = own.slice(2).join(":");
  for (const line of linesOf("/proc/self/mountinfo")) {
    const [mounted = "", about = ""] = line.split(" - ");
    const [type, , options = ""] = about.split(" ");
    const isIt = controller === "" ? type === "cgroup2" : type === "cgroup" && options.split(",").includes(controller);
    if (!isIt) continue;
    const [, , , root = "/", at = ""] = mounted.split(" ");
    if (root === "/") return join(at, path);
    return path === root || path.startsWith(`${root}/`) ? join(at, path.slice(root.length)) : undefined;
  }
  return undefined;
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch {
    return [];
  }
}
