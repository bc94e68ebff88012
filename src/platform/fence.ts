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
  readFileSync,
  realpathSync,
} from "node:fs";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import { fault } from "./faults.ts";
import type { Inside } from "./fence/bwrap.ts";
import { COPY, COPY_ENV } from "./fence/copy.ts";
import { watchDisk } from "./fence/disk.ts";
import { findGroups, type Group } from "./fence/groups.ts";
import { sizeWords, type Held } from "./fence/held.ts";
import { innerIdentity } from "./fence/identity.ts";
import { openKeeper, tooSlow, uidOf, type Keeper } from "./fence/keeper.ts";
import { findingIn, layersOf, type Layered } from "./fence/layered.ts";
import type { LayerRequest } from "./fence/layers.ts";
import { mostIn, within, type Most } from "./fence/limits.ts";
import { openMoulds, type Moulds } from "./fence/mould.ts";
import { fileWithoutName } from "./fence/nameless.ts";
import { inheritedFds } from "./fence/outer.ts";
import { isWithin, systemPlaces, type Place } from "./fence/places.ts";
import { seccompFilter } from "./fence/seccomp.ts";
import { toldBy, toldIn, type Telling } from "./fence/telling.ts";
import { openWaitingPool } from "./fence/waiting.ts";
import type { Became, Becoming, Kind, Making, Taken, WaitingPool } from "./fence/waiting.ts";
import { bwrapped, copyRest, copyStart, mouldWords, trialWords, type Parts } from "./fence/words.ts";
import { withCalls } from "./perl.ts";

export type FenceKind = "bwrap" | "docker" | "seatbelt" | "none";

export interface Wrapped {
  command: string;
  args: string[];
  /** Beside what the command is given. */
  env?: Readonly<Record<string, string>>;
  /** To be given to the child from descriptor 3 on, and closed here once it has been started. */
  fds: number[];
  held?: Held;
  /** Instead of starting it: a process that waits becomes it. undefined when it cannot. */
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

/** Never looked for in the PATH: an agent may have put something there. */
const PROGRAM_FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
const LIMITS = "/proc/self/limits";
/** A shell's word for a program that wrote too large a file. */
const EXIT_OF_SIGXFSZ = 128 + 25;
/** A machine with far too much to do may take seconds. */
const PROBE_LIMIT_MS = 30_000;

/** Empty ones, below one of the places of a fence, that stay until it is closed; without them it has no layers. */
export interface LayerFolders {
  /** Where they are tried. */
  trial: string;
  /** Where they are mounted, in a namespace of their own. */
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
  const kept = filter === undefined ? undefined : fileWithoutName(filter);
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
    copy: withCalls(COPY),
    filter: kept === undefined ? undefined : `/proc/self/fd/${kept}`,
  };
  const layered = keeper !== undefined && layers !== undefined && canLayer(keeper, layers.trial);
  // A machine may show control groups and then not let a process into one.
  for (const groups of [findGroups(run), undefined]) {
    const level = levelOf({ keeper, isRoot, filtered: filter !== undefined, grouped: groups !== undefined });
    const tried = { ...parts, groups, inherited: inheritedFds() };
    const fence: Fence = {
      kind: "bwrap",
      level,
      layered,
      ...wrapper(tried),
      close: () => (close(), groups?.sweep()),
    };
    try {
      if (proven.has(level) || works(fence)) {
        proven.add(level);
        return withMoulds(fence, { run, parts: tried, trial: layered ? layers.trial : undefined });
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

interface Tried {
  run: string;
  parts: Parts;
  /** Where layers are tried; undefined where there are none. */
  trial: string | undefined;
}

/** A fence that was tried, with what repeated commands have in common made ahead of time where that can be. */
function withMoulds(fence: Fence, { run, parts, trial }: Tried): Fence {
  const { keeper, copy } = parts;
  if (keeper === undefined || copy === undefined) return fence;
  const moulds = openMoulds({
    run,
    keeper,
    system: parts.system.places.map(({ path }) => path),
    words: (inside, folders) => mouldWords(inside, { parts, folders }),
    trial(mould, folders) {
      const layer = trial === undefined ? undefined : keeper.partsOf(layerIn(trial));
      return trialWords({ parts, mould, folders, layer });
    },
  });
  const pool = openWaitingPool({ run, make: (kind) => waitingIn(kind, parts) });
  const close = (): void => {
    pool.close();
    moulds.close();
    fence.close();
  };
  return { ...fence, ...wrapper(parts, { pool, moulds }), close };
}

interface Waiting extends Making {
  group: Group | undefined;
}

function waitingIn({ mould, limits }: Kind, parts: Parts): Waiting {
  const group = parts.groups?.make(limits);
  const release = (): void => group?.release();
  try {
    return { ...copyStart({ parts, mould, group, waits: true }), group, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** A new one below it. */
function layerIn(trial: string): LayerRequest {
  const folder = mkdtempSync(join(trial, "layer-"));
  const lower = join(folder, "lower");
  mkdirSync(lower);
  return { lower: [lower], folder };
}

/** Tried for real: the file system below may not be one that can lie under a layer, or take what is written. */
function canLayer(keeper: Keeper, trial: string): boolean {
  try {
    keeper.layer(layerIn(trial)).release();
    return true;
  } catch {
    return false;
  }
}

interface Ahead {
  pool: WaitingPool<Waiting>;
  moulds: Moulds;
}

/** With nothing made ahead of time every command is started by bubblewrap. */
function wrapper(parts: Parts, ahead?: Ahead): Pick<Fence, "wrap"> {
  const { keeper, groups } = parts;
  return {
    wrap(command, args, asked) {
      refuseLinks(asked.places);
      const limits = within(asked.limits, mostHere());
      const inside = { ...asked, limits };
      const { isRepeated = false } = inside;
      const mould = isRepeated ? ahead?.moulds.find(inside) : undefined;
      const taken = mould && ahead?.pool.take({ mould, limits });
      if (mould !== undefined) ahead?.pool.prepare({ mould, limits });
      else if (isRepeated) ahead?.moulds.prepare(inside);
      try {
        const isCopy = mould !== undefined;
        const layers = keeper === undefined ? [] : layersOf(inside.places, { keeper, isCopy });
        const group = taken === undefined ? groups?.make(limits) : taken.made.group;
        const about = { parts, group, ...findingIn(layers) };
        // Once nothing can be refused any more: it watches the disk from then on.
        const held = (told: Telling): Held => hold(inside, { group, layers, taken, ...told });
        if (mould === undefined) {
          const status = fileWithoutName();
          try {
            const { words, fds } = bwrapped(inside, { ...about, status });
            return { ...asCommand([...words, command, ...args]), fds, held: held(toldIn(status)) };
          } catch (error) {
            closeSync(status);
            throw error;
          }
        }
        const { words, fds } = copyStart({ parts, group, mould, waits: false });
        const rest = [...copyRest(inside, about), command, ...args];
        const distrust = { mould: () => ahead?.moulds.distrust(mould), pool: () => ahead?.pool.close() };
        const become = taken === undefined ? {} : { become: (one: Becoming) => taken.become(rest, one) };
        return {
          ...asCommand([...words, ...rest]),
          env: COPY_ENV,
          fds,
          held: held(toldBy({ isTaken: taken !== undefined, distrust })),
          ...become,
        };
      } catch (error) {
        taken?.dismiss();
        taken?.made.release();
        throw error;
      }
    },
  };
}

const asCommand = ([command = "", ...args]: readonly string[]) => ({ command, args });

interface Holding extends Telling {
  group: Group | undefined;
  layers: readonly Layered[];
  taken: Taken<Waiting> | undefined;
}

function hold({ places, limits }: Inside, { group, layers, taken, unfit, close }: Holding): Held {
  const writable = places.filter(({ access }) => access === "write");
  const folders = writable.map((place) => layers.find((one) => one.place === place)?.layer.written ?? place.path);
  const disk = limits.diskBytes === undefined ? undefined : watchDisk({ folders, maxBytes: limits.diskBytes });
  let isHeld = true;
  return {
    breaches: (end) => [
      ...(group?.breaches() ?? []),
      ...(end?.exitCode === EXIT_OF_SIGXFSZ ? [`a file met its limit of ${sizeWords(limits.fileBytes)}`] : []),
    ],
    tooMuch: disk?.tooMuch ?? new Promise(() => undefined),
    written: layers[0]?.layer.written,
    unfit,
    release() {
      if (isHeld) close?.();
      isHeld = false;
      disk?.close();
      taken?.dismiss();
      group?.release();
      for (const { layer } of layers) if ("release" in layer) layer.release();
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

let most: Most | undefined;
/** Nobody else changes them. */
const mostHere = (): Most => (most ??= mostIn(existsSync(LIMITS) ? readFileSync(LIMITS, "utf8") : ""));

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
