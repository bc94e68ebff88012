/**
 * The home and the temporary files of fenced checks: new for every command, so that nothing which code under test
 * leaves there (settings, start-up files, caches) decides about a later check, whose own tree may be clean.
 */
import { rmSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { makePrivateDir } from "../platform/files.ts";
import { removeAround } from "../workspace/dependencies.ts";

export interface Scratch {
  /** What a fence must be able to reach; below it lies what `fresh` gives. */
  readonly root: string;
  /** Empty folders; those given before are removed meanwhile. Checks run one at a time. */
  fresh(): { home: string; temporary: string };
  /** Removes everything. */
  close(): Promise<void>;
}

export function openScratch(root: string): Scratch {
  // A killed driver leaves some.
  rmSync(root, { recursive: true, force: true });
  makePrivateDir(root);
  let n = 0;
  let removing: Promise<void> = Promise.resolve();
  return {
    root,
    fresh() {
      const last = join(root, String(n));
      if (n > 0) removing = removing.then(() => removeFolder(last));
      n += 1;
      const [home, temporary] = [join(root, String(n), "home"), join(root, String(n), "tmp")];
      for (const folder of [home, temporary]) makePrivateDir(folder);
      return { home, temporary };
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
