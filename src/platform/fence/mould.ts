/**
 * A mould: a sandbox that bubblewrap has made once, with all that commands only read, and that nobody is in any more. It
 * is a few open namespaces, gone with this process. Each command is given a copy of it and what is its own, in half the time
 * that bubblewrap takes to mount everything anew.
 */
import { spawn, type ChildProcess, type StdioOptions } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, statSync } from "node:fs";
import { json } from "node:stream/consumers";
import type { Readable, Writable } from "node:stream";
import { begun } from "../begun.ts";
import { RUN_TAG, SYSTEM_PATH } from "../environment.ts";
import { fault } from "../faults.ts";
import { EMPTY, SHARED, type Inside } from "./bwrap.ts";
import type { Keeper } from "./keeper.ts";
import { isWithin, type Place } from "./places.ts";

/** Not while a command is being started: it may be the only one. */
const DELAY_MS = 15;
/** Each holds descriptors; who needs more kinds of sandboxes would need others the next time. */
const MAX_MOULDS = 8;
/** Says that all is there, and waits until somebody has taken hold of it. */
const UP = ["/bin/sh", "-c", "echo; read -r _"];
const INFO_FD = 3;
type Stdio = Extract<StdioOptions, readonly unknown[]>;
const OWN: Stdio = ["pipe", "pipe", "ignore", "pipe"];

/** Open files of namespaces. */
export interface Mould {
  readonly owner: number | undefined;
  readonly keeper: number;
  readonly mounts: number;
  readonly inner: number;
  readonly names: number;
}

export interface Moulds {
  /** It does not do here, whatever it was tried with: none like it is made any more. */
  distrust(mould: Mould): void;
  /** One for this, that has been tried. */
  find(inside: Inside): Mould | undefined;
  /** Begins to make one for what is like this, unless there is one. */
  prepare(inside: Inside): void;
  close(): void;
}

interface About {
  run: string;
  keeper: Keeper;
  /** Folders of the system, that are in every sandbox. */
  system: readonly string[];
  /** Bubblewrap's, for a sandbox with these places alone, and with folders to mount something on. */
  words: (inside: Inside, folders: readonly string[]) => string[];
  /** For a command that does nothing, in a copy. */
  trial: (mould: Mould, folders: readonly string[]) => Started;
}

interface Started {
  words: string[];
  fds: number[];
}

/** Of one shape: what was mounted, and the mould, once it is there. */
interface Known {
  seen: string;
  mould?: Mould;
}

export function openMoulds({ run, keeper, system, words, trial }: About): Moulds {
  const known = new Map<string, Known>();
  const making = new Set<Writable>();
  let isOpen = true;
  const drop = (shape: string): void => {
    const { mould } = known.get(shape) ?? {};
    known.delete(shape);
    if (mould !== undefined) letGo(mould);
  };
  const make = async (inside: Inside, parts: Parted): Promise<Mould | undefined> => {
    const { early: places, folders } = parts;
    const asked = words({ ...inside, places, hidden: [], cwd: "/", network: "host", relay: undefined }, folders);
    const child = begin([...asked, ...UP], run);
    const hold = child.stdin as Writable;
    making.add(hold);
    try {
      const mould = await takeHold(child, keeper);
      if (mould === undefined || (await isWhole(() => trial(mould, folders), run))) return mould;
      letGo(mould);
      return undefined;
    } finally {
      making.delete(hold);
      // It ends when it reads the end.
      hold.end();
    }
  };
  return {
    distrust(mould) {
      for (const own of known.values()) {
        if (own.mould !== mould) continue;
        delete own.mould;
        letGo(mould);
      }
    },
    find(inside) {
      const named = nameOf(inside, system);
      const found = named && known.get(named.shape);
      return found?.seen === named?.seen ? found?.mould : undefined;
    },
    prepare(inside) {
      setTimeout(() => {
        const named = nameOf(inside, system);
        if (!isOpen || named === undefined || known.get(named.shape)?.seen === named.seen) return;
        const { shape, seen, parts } = named;
        // What was mounted is another: it would keep what was removed.
        drop(shape);
        if (known.size >= MAX_MOULDS) return;
        const own: Known = { seen };
        known.set(shape, own);
        // Nobody waits for it; until it is there every command is started in the ordinary way.
        make(inside, parts).then(
          (mould) => {
            if (known.get(shape) === own && mould !== undefined) own.mould = mould;
            else if (mould !== undefined) letGo(mould);
          },
          () => undefined,
        );
      }, DELAY_MS).unref();
    },
    close() {
      isOpen = false;
      for (const hold of making) hold.end();
      for (const shape of known.keys()) drop(shape);
    },
  };
}

export interface Parted {
  /** In the mould. */
  early: Place[];
  /** This command's own, in order. */
  late: Place[];
  /** Where these are mounted, as far as they are folders of the mould's. */
  folders: string[];
}

/**
 * What is written, and what lies on it or on memory that is new for each, is a command's own. undefined where that would
 * lie differently than in the order of the places.
 */
export function parted({ places }: Pick<Inside, "places">): Parted | undefined {
  const parts: Parted = { early: [], late: [], folders: [] };
  const over = [...EMPTY, SHARED];
  for (const place of places) {
    const { path, access, at = path, layer } = place;
    const isLow = over.some((one) => isWithin(at, one));
    if (!isLow && access === "read" && layer === undefined) {
      if (over.some((one) => isWithin(one, at))) return undefined;
      parts.early.push(place);
      continue;
    }
    if (!isLow) {
      if (layer === undefined && statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
      parts.folders.push(at);
    }
    parts.late.push(place);
    over.push(at);
  }
  return parts;
}

interface Named {
  shape: string;
  /** Folders are mounted once: one that was removed and made again since is another. A mount keeps its number from others. */
  seen: string;
  parts: Parted;
}

function nameOf(inside: Inside, system: readonly string[]): Named | undefined {
  const parts = parted(inside);
  if (parts === undefined) return undefined;
  try {
    const shape = parts.early.map(({ path, at }) => [path, at]);
    const seen = [...system, ...parts.early.map(({ path }) => path)].map((path) => {
      const { dev, ino } = statSync(path);
      return [dev, ino];
    });
    return { shape: JSON.stringify([shape, parts.folders]), seen: seen.join(), parts };
  } catch {
    // A place is gone: the ordinary way will say so.
    return undefined;
  }
}

function begin([command = "", ...args]: readonly string[], run: string, stdio: Stdio = OWN): ChildProcess {
  fault("spawn");
  const env = { PATH: SYSTEM_PATH, [RUN_TAG]: run };
  const child = begun(spawn(command, args, { stdio, env, cwd: "/", detached: true }));
  child.on("error", () => undefined);
  child.unref();
  for (const stream of child.stdio) {
    stream?.on("error", () => undefined);
    (stream as unknown as { unref(): void } | null)?.unref();
  }
  return child;
}

/** undefined: it has ended before it was whole. */
async function takeHold(child: ChildProcess, keeper: Keeper): Promise<Mould | undefined> {
  const up = once(child.stdout as Readable, "data").then(() => true);
  const isUp = await Promise.race([up, once(child, "exit").then(() => false)]);
  if (!isUp) return undefined;
  const { "child-pid": pid } = (await json(child.stdio[INFO_FD] as Readable)) as { "child-pid": number };
  const of = (name: string): string => `/proc/${pid}/ns/${name}`;
  const { user, mount } = keeper.namespaces;
  const taken: number[] = [];
  const open = (path: string): number => {
    const fd = openSync(path, "r");
    taken.push(fd);
    return fd;
  };
  try {
    const ofKeeper = { owner: user === undefined ? undefined : open(user), keeper: open(mount) };
    return { ...ofKeeper, mounts: open(of("mnt")), inner: open(of("user")), names: open(of("uts")) };
  } catch (error) {
    for (const fd of taken) closeSync(fd);
    throw error;
  }
}

function letGo({ owner, ...rest }: Mould): void {
  for (const fd of [owner, ...Object.values(rest)]) if (fd !== undefined) closeSync(fd);
}

/** Tried for real before anything depends on it. */
async function isWhole(trial: () => Started, run: string): Promise<boolean> {
  const { words, fds } = trial();
  try {
    const child = begin(words, run, ["ignore", "ignore", "ignore", ...fds]);
    const [code] = (await once(child, "exit")) as [number | null];
    return code === 0;
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}
