/**
 * The home and the temporary files of fenced checks: new for every command, so that nothing which code under test
 * leaves there (settings, start-up files, caches) decides about a later check, whose own tree may be clean.
 */
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
  /** What `fresh` will give next. Throws when it cannot be made. */
  upcoming(): Omit<Fresh, "drop">;
  /** Removes everything. */
  close(): Promise<void>;
}

export interface Fresh {
  home: string;
  temporary: string;
  /** For what is written over the judged files. */
  layer: string;
  /** Begins to remove them; nothing waits for it but the end. Repeatable. */
  drop: () => void;
}

/** Not before the command that is being started has been. */
const PREPARE_DELAY_MS = 2;

export function openScratch(root: string): Scratch {
  // A killed driver leaves some.
  removeAround(Buffer.from(root), []);
  const mounts = join(root, "mounts");
  makePrivateDir(mounts);
  let n = 0;
  let isOpen = true;
  let next: Omit<Fresh, "drop"> | undefined;
  let removing: Promise<void> = Promise.resolve();
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
    upcoming: () => (next ??= make()),
    fresh() {
      const made = next ?? make();
      next = undefined;
      setTimeout(prepare, PREPARE_DELAY_MS).unref();
      const folder = dirname(made.home);
      let isDropped = false;
      const drop = (): void => {
        if (!isDropped) removing = removing.then(() => removeFolder(folder));
        isDropped = true;
      };
      return { ...made, drop };
    },
    async close() {
      isOpen = false;
      await removing;
      await removeFolder(root);
    },
  };
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
      release() {
        held?.release();
        drop();
      },
    },
  };
}
