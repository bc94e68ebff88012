/**
 * Tests that were rewritten while they ran: what a check writes goes to a layer of its own, where it can be looked at
 * afterwards. Code under test that is loaded by one test, or built before all, could make another say what it likes.
 */
import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Written by one check; who writes more is not followed. */
const MAX_ENTRIES = 200_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_FOUND = 20;
/** What is run; data and snapshots may be tests' own to write. */
const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|rb|php|java|kt|cs|exs?|sh|bats)$/i;

interface Where {
  /** The tree without what was written. */
  tree: string;
  isTest: (path: string) => boolean;
}

/** Paths of the tree's test files that are other ones, or gone, in `written`. Never rejects. */
export async function rewrittenTests(written: string, { tree, isTest }: Where): Promise<string[]> {
  const found: string[] = [];
  const folders = [""];
  let seen = 0;
  for (const folder of folders) {
    for (const name of await readdir(join(written, folder)).catch(() => [])) {
      if ((seen += 1) > MAX_ENTRIES || found.length >= MAX_FOUND) return found;
      const path = join(folder, name);
      const [before, after] = await Promise.all([kindOf(join(tree, path)), kindOf(join(written, path))]);
      // What lies in a folder that the tree lacks stands for nothing in it.
      if (before === "folder" && after === "folder") folders.push(path);
      else if (before === "file" && CODE.test(path) && isTest(path) && !(await isSame(path, { written, tree })))
        found.push(path);
    }
  }
  return found;
}

async function kindOf(path: string): Promise<"file" | "folder" | "other" | "none"> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return "none";
  return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
}

/** A file that was only touched is there, too. */
async function isSame(path: string, { written, tree }: { written: string; tree: string }): Promise<boolean> {
  try {
    const files = [join(written, path), join(tree, path)];
    const stats = await Promise.all(files.map((file) => lstat(file)));
    if (stats.some((one) => !one.isFile() || one.size > MAX_BYTES)) return false;
    const [one, other] = await Promise.all(files.map((file) => readFile(file)));
    return one !== undefined && other !== undefined && one.equals(other);
  } catch {
    return false;
  }
}
