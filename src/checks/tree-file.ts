/** Files of a tree that is judged, as text, bounded: never through a link that leaves it, never anything but a regular file. */
import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

/** Folders that no one writes by hand; dependencies may lie in a tree that is judged. */
const NOT_WALKED: ReadonlySet<string> = new Set([".git", "node_modules", ".venv", "venv", "__pycache__"]);
const MAX_WALKED = 100_000;

export type TreeFile =
  | { is: "text"; text: string }
  | { is: "missing" }
  /** Words for what it is instead. */
  | { is: "unreadable"; why: string }
  | { is: "too-large"; why: string };

export async function readTreeFile(root: string, path: string, maxBytes: number): Promise<TreeFile> {
  // A tree that is not there must not look like a file that is not.
  const top = await realpath(root);
  let real: string;
  try {
    real = await realpath(join(top, path));
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOENT", "ENOTDIR"].includes(code)) return { is: "missing" };
    return { is: "unreadable", why: code === "ELOOP" ? "is a link that leads to itself" : `cannot be read (${code})` };
  }
  if (!real.startsWith(`${top}${sep}`)) return { is: "unreadable", why: "leads out of the tree" };
  // Without blocking: a named pipe would wait for a writer for ever.
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) return { is: "unreadable", why: "is no regular file" };
    if (stat.size > maxBytes) return { is: "too-large", why: `has ${stat.size} bytes; at most ${maxBytes} are read` };
    return { is: "text", text: await file.readFile("utf8") };
  } finally {
    await file.close();
  }
}

/** Paths of the regular files that match, sorted; at most `max`. Links are not followed. */
export async function treeFiles(root: string, matches: (path: string) => boolean, max: number): Promise<string[]> {
  const found: string[] = [];
  const folders = [""];
  let walked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    walked += entries.length;
    if (walked > MAX_WALKED)
      throw new Error(`the tree has more than ${MAX_WALKED} entries; name the files by a folder`);
    for (const entry of entries) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && !NOT_WALKED.has(entry.name)) folders.push(path);
      else if (entry.isFile() && matches(path)) found.push(path);
    }
    if (found.length > max) throw new Error(`more than ${max} files match`);
  }
  return found.toSorted();
}
