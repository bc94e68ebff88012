/**
 * The fence: what an agent, a check or generated code can reach. A fence turns a command into one that runs inside;
 * whoever starts processes need not know which kind it is.
 */
import { spawnSync } from "node:child_process";
import { accessSync, closeSync, constants, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { bwrapWords, type Inside } from "./fence/bwrap.ts";
import { innerIdentity } from "./fence/identity.ts";
import { openKeeper, uidOf, type Keeper } from "./fence/keeper.ts";
import { systemPlaces, type Place } from "./fence/places.ts";
import { seccompFilter } from "./fence/seccomp.ts";

export type FenceKind = "bwrap" | "docker" | "seatbelt" | "none";

export interface Wrapped {
  command: string;
  args: string[];
  /** To be given to the child from descriptor 3 on, and closed here once it has been started. */
  fds: number[];
}

export interface Fence {
  readonly kind: FenceKind;
  /** For people and for evidence: how far the process is from the rest of the machine. */
  readonly level: string;
  wrap(command: string, args: readonly string[], inside: Inside): Wrapped;
  close(): void;
}

export const noFence: Fence = {
  kind: "none",
  level: "unfenced",
  wrap: (command, args) => ({ command, args: [...args], fds: [] }),
  close: () => undefined,
};

const FIRST_FD = 3;
/** Never looked for in the PATH: an agent may have put something there. */
const PROGRAM_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
const PROBE_LIMIT_MS = 5_000;

interface Opening {
  run: string;
  /** Everything any process of the run will be given; as root they are mapped once. */
  places: readonly Place[];
}

/** undefined when bubblewrap is missing or may not make namespaces here. */
export async function bwrapFence({ run, places }: Opening): Promise<Fence | undefined> {
  const programs = { bwrap: programAt("bwrap"), prlimit: programAt("prlimit"), nsenter: programAt("nsenter") };
  const { bwrap, prlimit } = programs;
  if (bwrap === undefined || prlimit === undefined) return undefined;
  const system = systemPlaces();
  const identity = innerIdentity();
  const isRoot = process.getuid?.() === 0;
  const { nsenter } = programs;
  const keeper = isRoot && nsenter !== undefined ? await openKeeper(places, { uid: uidOf(run), nsenter }) : undefined;
  const filter = seccompFilter();
  const folder = mkdtempSync(join(tmpdir(), "pawl-fence-"));
  const file = join(folder, "seccomp.bpf");
  if (filter !== undefined) writeFileSync(file, filter, { mode: 0o600 });
  const fence: Fence = {
    kind: "bwrap",
    level: levelOf({ keeper, isRoot, filtered: filter !== undefined }),
    wrap(command, args, inside) {
      const moved = (path: string): string => keeper?.moved(path) ?? path;
      const fd = filter === undefined ? undefined : openSync(file, "r");
      const seccompFd = fd === undefined ? undefined : FIRST_FD;
      const words = bwrapWords(inside, { system, identity, moved, prlimit, seccompFd });
      const [first = bwrap, ...rest] = [...(keeper?.prefix ?? []), bwrap, ...words, command, ...args];
      return { command: first, args: rest, fds: fd === undefined ? [] : [fd] };
    },
    close() {
      keeper?.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  if (works(fence)) return fence;
  fence.close();
  return undefined;
}

export function programAt(name: string): string | undefined {
  return PROGRAM_FOLDERS.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function levelOf({
  keeper,
  isRoot,
  filtered,
}: {
  keeper: Keeper | undefined;
  isRoot: boolean;
  filtered: boolean;
}): string {
  const who = !isRoot ? "your uid" : keeper === undefined ? "root's uid without its rights" : "a uid of its own";
  return `bwrap: own namespaces, ${who}${filtered ? ", system calls filtered" : ""}`;
}

/** Tried for real: a distribution may forbid user namespaces, a container may lack the rights. */
export function works(fence: Fence): boolean {
  const limits = { memoryBytes: 1024 ** 3, processes: 4_096, fileBytes: 1024 ** 2 };
  const inside: Inside = { cwd: "/", places: [], hidden: [], network: "none", limits };
  const { command, args, fds } = fence.wrap("true", [], inside);
  try {
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
    const tried = spawnSync(command, args, {
      stdio: ["ignore", "ignore", "ignore", ...fds],
      env,
      timeout: PROBE_LIMIT_MS,
    });
    return tried.status === 0;
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}
