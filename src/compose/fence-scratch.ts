/**
 * The home and the temporary files of fenced checks: new for every command, so that nothing which code under test
 * leaves there (settings, start-up files, caches) decides about a later check, whose own tree may be clean.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makePrivateDir } from "../platform/files.ts";
import { removeAround } from "../workspace/dependencies.ts";

export interface Scratch {
  /** What a fence must be able to reach; below it lies what `fresh` gives. */
  readonly root: string;
  fresh(): Fresh;
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

export function openScratch(root: string): Scratch {
  // A killed driver leaves some.
  removeAround(Buffer.from(root), []);
  makePrivateDir(root);
  let n = 0;
  let removing: Promise<void> = Promise.resolve();
  return {
    root,
    fresh() {
      n += 1;
      const folder = join(root, String(n));
      const [home, temporary, layer] = [join(folder, "home"), join(folder, "tmp"), join(folder, "layer")];
      for (const made of [home, temporary, layer]) makePrivateDir(made);
      let isDropped = false;
      const drop = (): void => {
        if (!isDropped) removing = removing.then(() => removeFolder(folder));
        isDropped = true;
      };
      return { home, temporary, layer, drop };
    },
    async close() {
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
