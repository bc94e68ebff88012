/**
 * The fence: what an agent, a check or generated code can reach. A fence turns a command into one that runs inside;
 * whoever starts processes need not know which kind it is.
 */
import { spawnSync } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import { fault } from "./faults.ts";
import { bwrapWords, type Inside } from "./fence/bwrap.ts";
import { watchDisk } from "./fence/disk.ts";
import { findGroups, type Group, type Groups } from "./fence/groups.ts";
import { sizeWords, type Held } from "./fence/held.ts";
import { innerIdentity } from "./fence/identity.ts";
import { openKeeper, PERL, tooSlow, uidOf, type Keeper } from "./fence/keeper.ts";
import { makeLayerFolders, type Layer } from "./fence/layers.ts";
import { inheritedFds, outerWords } from "./fence/outer.ts";
import { isWithin, systemPlaces, type Place, type SystemPlaces } from "./fence/places.ts";
import { seccompFilter } from "./fence/seccomp.ts";
import { openWaitingPool, waiter } from "./fence/waiting.ts";
import type { Became, Becoming, Making, Taken, WaitingPool } from "./fence/waiting.ts";

export type FenceKind = "bwrap" | "docker" | "seatbelt" | "none";

export interface Wrapped {
  command: string;
  args: string[];
  /** To be given to the child from descriptor 3 on, and closed here once it has been started. */
  fds: number[];
  held?: Held;
  /** Instead of starting it: a process that waits inside becomes it. undefined when there is none for this. */
  become?: (request: Becoming) => Became | undefined;
}

export interface Fence {
  readonly kind: FenceKind;
  /** For people and for evidence: how far the process is from the rest of the machine. */
  readonly level: string;
  /** Whether `layer` of a place is heeded. */
  readonly layered: boolean;
  wrap(command: string, args: readonly string[], inside: Inside): Wrapped;
  close(): void;
}

export const noFence: Fence = {
  kind: "none",
  level: "unfenced",
  layered: false,
  wrap: (command, args) => ({ command, args: [...args], fds: [] }),
  close: () => undefined,
};

const FIRST_FD = 3;
/** Never looked for in the PATH: an agent may have put something there. */
const PROGRAM_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
/** A shell's word for a program that wrote too large a file. */
const EXIT_OF_SIGXFSZ = 128 + 25;
/** A machine with far too much to do may take seconds. */
const PROBE_LIMIT_MS = 30_000;

/** Empty ones, below one of the places of a fence; without them it has no layers. */
export interface LayerFolders {
  /** Where one is tried; whoever gives it removes it. */
  trial: string;
  /** Where they are mounted, in a namespace of their own; stays. */
  mounts: string;
}

interface Opening {
  run: string;
  /** Everything any process of the run will be given; as root they are mapped once. */
  places: readonly Place[];
  layers?: LayerFolders;
}

/** undefined when bubblewrap is missing or may not make namespaces here. Rejects when the machine cannot start it now. */
export async function bwrapFence({ run, places, layers }: Opening): Promise<Fence | undefined> {
  const programs = { bwrap: programAt("bwrap"), prlimit: programAt("prlimit"), nsenter: programAt("nsenter") };
  const { bwrap, prlimit, nsenter } = programs;
  if (bwrap === undefined || prlimit === undefined) return undefined;
  refuseLinks(places);
  const isRoot = process.getuid?.() === 0;
  const isKept = nsenter !== undefined && (isRoot || layers !== undefined);
  const uid = isRoot ? uidOf(run) : undefined;
  const keeper = isKept ? await openKeeper(places, { uid, nsenter, mounts: layers?.mounts }) : undefined;
  const filter = seccompFilter();
  const kept = filter === undefined ? undefined : keepOpen(filter);
  let isOpen = true;
  const close = (): void => {
    keeper?.close();
    // A number is given out again: it must not be closed twice.
    if (kept !== undefined && isOpen) closeSync(kept);
    isOpen = false;
  };
  const identity = innerIdentity();
  const parts = {
    bwrap,
    prlimit,
    keeper,
    isRoot,
    identity,
    bash: programAt("bash"),
    system: systemPlaces(),
    // Opened anew for every process: each reads it from its beginning.
    filter: kept === undefined ? undefined : `/proc/self/fd/${kept}`,
  };
  const layered = keeper !== undefined && layers !== undefined && canLayer(keeper, layers.trial);
  // A machine may show control groups and then not let a process into one.
  for (const groups of [findGroups(run), undefined]) {
    const level = levelOf({ keeper, isRoot, filtered: filter !== undefined, grouped: groups !== undefined });
    const inherited = inheritedFds().filter((fd) => filter === undefined || fd !== FIRST_FD);
    const tried = { ...parts, groups, inherited };
    const fence: Fence = {
      kind: "bwrap",
      level,
      layered,
      ...wrapper(tried, undefined),
      close: () => (close(), groups?.sweep()),
    };
    try {
      if (proven.has(level) || works(fence)) {
        proven.add(level);
        return withPool(fence, { run, parts: tried });
      }
    } catch (error) {
      fence.close();
      throw error;
    }
    groups?.sweep();
  }
  close();
  return undefined;
}

/** Levels that this process has seen at work: what is tried does not depend on the run or its places. */
const proven = new Set<string>();

/** A fence that was tried, with the next command's sandbox made ahead of time where that can be. */
function withPool(fence: Fence, { run, parts }: { run: string; parts: Parts }): Fence {
  if (!existsSync(PERL)) return fence;
  const wordsFd = parts.filter === undefined ? FIRST_FD : FIRST_FD + 1;
  const pool = openWaitingPool({ run, wordsFd, make: (inside) => madeAhead(inside, { parts, wordsFd }) });
  return { ...fence, ...wrapper(parts, pool), close: () => (pool.close(), fence.close()) };
}

interface MadeAhead extends Making {
  group: Group | undefined;
  /** Where the layer of each place will be, by its folder. */
  rooms: ReadonlyMap<string, string>;
}

/** The ordinary way to a command that waits, with nothing yet where layers will be. */
function madeAhead(inside: Inside, { parts, wordsFd }: { parts: Parts; wordsFd: number }): MadeAhead {
  refuseLinks(inside.places);
  const rooms = new Map<string, string>();
  const release = (group: Group | undefined): void => {
    group?.release();
    for (const at of rooms.values()) parts.keeper?.leave(at);
  };
  let group: Group | undefined;
  try {
    for (const { layer } of inside.places) {
      if (layer === undefined) continue;
      rooms.set(layer.folder, parts.keeper?.room() ?? "");
      makeLayerFolders(layer.folder);
    }
    group = parts.groups?.make(inside.limits);
    const placeAt = ({ layer }: Place): string | undefined => layer && rooms.get(layer.folder);
    const before = { group, placeAt, kept: wordsFd, entered: rooms.size > 0 };
    const { outer, fenced, fds } = wordsOf({ ...inside, cwd: "/" }, { parts, ...before });
    return { words: [...outer, ...fenced, ...waiter(wordsFd)], fds, group, rooms, release: () => release(group) };
  } catch (error) {
    release(group);
    throw error;
  }
}

/** Tried for real: the file system below may not be one that can lie under a layer, or take what is written. */
function canLayer(keeper: Keeper, folder: string): boolean {
  const lower = join(folder, "lower");
  try {
    mkdirSync(lower);
    keeper.layer({ lower: [lower], folder }).release();
    return true;
  } catch {
    return false;
  }
}

/** A file without a name: nothing of it is left, however this process ends. */
function keepOpen(bytes: Uint8Array): number {
  const folder = mkdtempSync(join(tmpdir(), "pawl-fence-"));
  try {
    const file = join(folder, "seccomp.bpf");
    writeFileSync(file, bytes, { mode: 0o600 });
    return openSync(file, "r");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Parts {
  bwrap: string;
  prlimit: string;
  keeper: Keeper | undefined;
  isRoot: boolean;
  system: SystemPlaces;
  identity: ReturnType<typeof innerIdentity>;
  bash: string | undefined;
  /** File with the program. */
  filter: string | undefined;
  groups: Groups | undefined;
  /** Passed on by this process, to be closed. */
  inherited: readonly number[];
}

/** Without a pool every command is started when it is wanted. */
function wrapper(parts: Parts, pool: WaitingPool<MadeAhead> | undefined): Pick<Fence, "wrap"> {
  const { keeper, groups } = parts;
  return {
    wrap(command, args, inside) {
      refuseLinks(inside.places);
      const { next } = inside;
      const taken = next === undefined ? undefined : pool?.take(inside);
      if (next !== undefined) pool?.prepare(next, inside);
      try {
        const layers = keeper === undefined ? [] : mountLayers(inside.places, { keeper, rooms: taken?.made.rooms });
        const group = taken === undefined ? groups?.make(inside.limits) : taken.made.group;
        const placeAt = (place: Place): string | undefined => layers.find((one) => one.place === place)?.layer.at;
        const about = { parts, group, placeAt, kept: undefined, entered: layers.length > 0 };
        const { outer, fenced, fds } = wordsOf(inside, about);
        const [first = "", ...rest] = [...outer, ...fenced, command, ...args];
        const { cwd } = inside;
        const become =
          taken === undefined ? {} : { become: (one: Becoming) => taken.become([command, ...args], { ...one, cwd }) };
        return { command: first, args: rest, fds, held: hold(inside, { group, layers, taken }), ...become };
      } catch (error) {
        taken?.dismiss();
        taken?.made.release();
        throw error;
      }
    },
  };
}

interface Around {
  parts: Parts;
  group: Group | undefined;
  /** Where a place is in the keeper's namespace, if it is a layer. */
  placeAt: (place: Place) => string | undefined;
  /** A descriptor that the command is given. */
  kept: number | undefined;
  /** Whether an ordinary user's keeper has something to show. */
  entered: boolean;
}

/** What stands before a command: outside, and from bubblewrap on. */
function wordsOf(inside: Inside, { parts, group, placeAt, kept, entered }: Around) {
  const { bwrap, prlimit, keeper, isRoot, system, identity, filter, groups, inherited } = parts;
  const prefix = keeper !== undefined && (isRoot || entered) ? keeper.prefix : [];
  const limits = groups?.isWhole === true ? inside.limits : undefined;
  const close = inherited.filter((fd) => fd !== kept);
  const outer = [...outerWords({ doors: group?.doors ?? [], close, bash: parts.bash, limits }), ...prefix];
  const moved = (place: Place): string => placeAt(place) ?? keeper?.moved(place.path) ?? place.path;
  const fds = filter === undefined ? [] : [openSync(filter, "r")];
  const seccompFd = filter === undefined ? undefined : FIRST_FD;
  const inner = limits === undefined ? prlimit : undefined;
  const fenced = [bwrap, ...bwrapWords(inside, { system, identity, moved, prlimit: inner, seccompFd })];
  return { outer, fenced, fds };
}

interface Layered {
  place: Place;
  layer: Layer;
}

interface Mounting {
  keeper: Keeper;
  /** Where some of them are to be, by their folder. */
  rooms: ReadonlyMap<string, string> | undefined;
}

function mountLayers(places: readonly Place[], { keeper, rooms }: Mounting): Layered[] {
  return places.flatMap((place) => {
    if (place.layer === undefined) return [];
    const { over, folder } = place.layer;
    return [{ place, layer: keeper.layer({ lower: [place.path, ...over], folder, at: rooms?.get(folder) }) }];
  });
}

interface Holding {
  group: Group | undefined;
  layers: readonly Layered[];
  taken: Taken<MadeAhead> | undefined;
}

function hold({ places, limits }: Inside, { group, layers, taken }: Holding): Held {
  const writable = places.filter(({ access }) => access === "write");
  const folders = writable.map((place) => layers.find((one) => one.place === place)?.layer.written ?? place.path);
  const disk = limits.diskBytes === undefined ? undefined : watchDisk({ folders, maxBytes: limits.diskBytes });
  return {
    breaches: (end) => [
      ...(group?.breaches() ?? []),
      ...(end?.exitCode === EXIT_OF_SIGXFSZ ? [`a file met its limit of ${sizeWords(limits.fileBytes)}`] : []),
    ],
    tooMuch: disk?.tooMuch ?? new Promise(() => undefined),
    written: layers[0]?.layer.written,
    release() {
      disk?.close();
      taken?.dismiss();
      group?.release();
      for (const { layer } of layers) layer.release();
    },
  };
}

/**
 * What is inside wrote a link where a place will be opened from: it would choose itself what it sees. Only below
 * writable places can that be.
 */
function refuseLinks(places: readonly Place[]): void {
  const writable = places.filter(({ access }) => access === "write");
  for (const { path } of places) {
    const around = writable.find((other) => other.path !== path && isWithin(path, other.path));
    if (around === undefined || !existsSync(path)) continue;
    if (realpathSync(path) === join(realpathSync(around.path), path.slice(around.path.length))) continue;
    throw new TerminalError(`${path} has become a link to somewhere else`, { hint: "Look at it, and remove it." });
  }
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
  grouped,
}: {
  keeper: Keeper | undefined;
  isRoot: boolean;
  filtered: boolean;
  grouped: boolean;
}): string {
  const who = !isRoot ? "your uid" : keeper === undefined ? "root's uid without its rights" : "a uid of its own";
  return `bwrap: own namespaces, ${who}${filtered ? ", system calls filtered" : ""}${grouped ? ", limits on the whole" : ""}`;
}

/** Tried for real: a distribution may forbid user namespaces, a container may lack the rights. */
export function works(fence: Fence): boolean {
  const limits = { memoryBytes: 1024 ** 3, processes: 4_096, fileBytes: 1024 ** 2 };
  const inside: Inside = { cwd: "/", places: [], hidden: [], network: "none", limits };
  const { command, args, fds, held } = fence.wrap("true", [], inside);
  try {
    const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
    fault("spawn");
    const tried = spawnSync(command, args, {
      stdio: ["ignore", "ignore", "ignore", ...fds],
      env,
      timeout: PROBE_LIMIT_MS,
    });
    const { error }: { error?: NodeJS.ErrnoException } = tried;
    // The machine could not start it now; that says nothing of the fence, and a weaker one must not take its place.
    if (error?.code === "ETIMEDOUT") throw tooSlow("bubblewrap", PROBE_LIMIT_MS);
    if (error !== undefined && error.code !== "ENOENT") throw error;
    return tried.status === 0;
  } finally {
    for (const fd of fds) closeSync(fd);
    held?.release();
  }
}
