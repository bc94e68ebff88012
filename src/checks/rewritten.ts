/**
 * Tests that were rewritten while they ran: what a check writes goes to a layer of its own, where it can be looked at
 * afterwards. Code under test that is loaded by one test, or built before all, could make another say what it likes, and
 * put it back: so every test file in the layer counts, whatever it holds in the end. What a check touches on the base,
 * too, is its own way.
 */
import { lstat, readdir } from "node:fs/promises";
import { join, relative } from "node:path";

/** Written by one check; who writes more is not followed. */
const MAX_ENTRIES = 200_000;
const MAX_FOUND = 20;
/** What is run; data and snapshots may be tests' own to write. */
const CODE = /\.(?:[cm]?[jt]sx?|vue|svelte|py|go|rs|rb|php|java|kt|cs|exs?|sh|bats)$/i;

interface Where {
  /** The tree without what was written. */
  tree: string;
  isTest: (path: string) => boolean;
}

/** Paths of the tree's test files that were written to, or are gone, in `written`. Never rejects. */
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
      else if (before === "folder") found.push(...(await testsBelow(path, { tree, isTest })));
      else if (before === "file" && CODE.test(path) && isTest(path)) found.push(path);
    }
  }
  return found;
}

/** Of a folder that is gone, or has become something else. */
async function testsBelow(folder: string, { tree, isTest }: Where): Promise<string[]> {
  const entries = await readdir(join(tree, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && CODE.test(entry.name))
    .map((entry) => relative(tree, join(entry.parentPath, entry.name)))
    .filter(isTest)
    .slice(0, MAX_FOUND);
}

async function kindOf(path: string): Promise<"file" | "folder" | "other" | "none"> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return "none";
  return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
}
