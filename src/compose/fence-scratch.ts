/**
 * The home and the temporary files of fenced checks: new for every command, so that nothing which code under test
 * leaves there (settings, start-up files, caches) decides about a later check, whose own tree may be clean.
 */
import { readdirSync, rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makePrivateDir } from "../platform/files.ts";
import type { Wrapped } from "../platform/fence.ts";
import { removeAround } from "../workspace/dependencies.ts";

export interface Scratch {
  /** What a fence must be able to reach; below it lies what `fresh` gives. */
  readonly root: string;
  /** Empty, for what is mounted in a namespace of its own. */
  readonly mounts: string;
  fresh(): Fresh;
  /** Removes everything. */
  close(): Promise<void>;
}

export interface Fresh {
  home: string;
  temporary: string;
  /** For what is written over the judged files. */
  layer: string;
  /** They are removed in a while, at the end at the latest. Repeatable. */
  drop: () => void;
}

/** Not before the command that is being started has been. */
const PREPARE_DELAY_MS = 2;
/** After the last command began: not while others follow at once. */
const REMOVE_DELAY_MS = 100;
/** After the first was dropped: commands that follow each other so soon cannot fill a disk meanwhile. */
const REMOVE_LIMIT_MS = 2_000;

export function openScratch(root: string): Scratch {
  // A killed driver leaves some.
  removeAround(Buffer.from(root), []);
  const mounts = join(root, "mounts");
  makePrivateDir(mounts);
  let n = 0;
  let isOpen = true;
  let next: Omit<Fresh, "drop"> | undefined;
  let removing: Promise<void> = Promise.resolve();
  let dropped: { folders: string[]; since: number; timer: NodeJS.Timeout | undefined } | undefined;
  const remove = (): void => {
    const { folders = [] } = dropped ?? {};
    dropped = undefined;
    for (const folder of folders) removing = removing.then(() => removeUsed(folder));
  };
  const removeLater = (): void => {
    if (dropped === undefined) return;
    clearTimeout(dropped.timer);
    const limit = dropped.since + REMOVE_LIMIT_MS - performance.now();
    dropped.timer = setTimeout(remove, Math.max(0, Math.min(REMOVE_DELAY_MS, limit))).unref();
  };
  const make = (): Omit<Fresh, "drop"> => {
    n += 1;
    const at = (name: string): string => join(root, String(n), name);
    const made = { home: at("home"), temporary: at("tmp"), layer: at("layer") };
    for (const folder of Object.values(made)) makePrivateDir(folder);
    return made;
  };
  /** While the command runs: the one after it need not wait. */
  const prepare = (): void => {
    if (!isOpen || next !== undefined) return;
    try {
      next = make();
    } catch {
      // A full disk, say; whoever needs one is told.
    }
  };
  return {
    root,
    mounts,
    fresh() {
      const made = next ?? make();
      next = undefined;
      setTimeout(prepare, PREPARE_DELAY_MS).unref();
      removeLater();
      const folder = dirname(made.home);
      let isDropped = false;
      const drop = (): void => {
        if (isDropped) return;
        isDropped = true;
        dropped ??= { folders: [], since: performance.now(), timer: undefined };
        dropped.folders.push(folder);
        removeLater();
      };
      return { ...made, drop };
    },
    async close() {
      isOpen = false;
      clearTimeout(dropped?.timer);
      await removing;
      await removeFolder(root);
    },
  };
}

/** Most commands leave nothing there: then it takes this thread a fifth of what it would take several, in many steps. */
async function removeUsed(folder: string): Promise<void> {
  const isEmpty = (path: string): boolean => readdirSync(path).length === 0;
  try {
    if (["home", "tmp", "layer/upper"].every((name) => isEmpty(join(folder, name))))
      return rmSync(folder, { recursive: true, force: true });
  } catch {
    // Then it is done step by step.
  }
  await removeFolder(folder);
}

/** Also what is in folders that nobody may write: module caches are made so. What cannot be removed stays. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await readdir(path).then(
      () => removeAround(Buffer.from(path), []),
      () => undefined,
    );
  }
}

/** Everything of a command goes with it. */
export function withDrop({ held, ...wrapped }: Wrapped, drop: () => void): Wrapped {
  return {
    ...wrapped,
    held: {
      breaches: (end) => held?.breaches(end) ?? [],
      tooMuch: held?.tooMuch ?? new Promise(() => undefined),
      written: held?.written,
      unfit: (end) => held?.unfit?.(end),
      release() {
        held?.release();
        drop();
      },
    },
  };
}
