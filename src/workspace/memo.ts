/**
 * Text files of the workspace that pawl reads and writes back: tasks, notes. An agent can put anything there, so every
 * folder on the way is opened by itself and never through a link.
 */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { TerminalError } from "../errors.ts";
import { writeDurably } from "../platform/files.ts";

const READABLE = 0o644;

/** Parts of a path that stays inside; undefined otherwise. */
function partsOf(path: string): string[] | undefined {
  const parts = normalize(path).split("/");
  return path === "" || path.startsWith("/") || parts.includes("..") || parts[0] === ".git" ? undefined : parts;
}

function isPlainBelow(root: string, folders: readonly string[]): boolean {
  let at = root;
  return folders.every((folder) => {
    at = join(at, folder);
    const found = lstatSync(at, { throwIfNoEntry: false });
    return found === undefined || found.isDirectory();
  });
}

export function readMemo(
  root: string,
  { path, maxBytes }: { path: string; maxBytes: number },
): { text: string; bytes: number } | undefined {
  const parts = partsOf(path);
  if (parts === undefined || !isPlainBelow(root, parts.slice(0, -1))) return undefined;
  let fd: number;
  try {
    fd = openSync(join(root, ...parts), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(fd);
    if (!fstatSync(fd).isFile()) return undefined;
    const buffer = Buffer.alloc(Math.min(size, maxBytes));
    const read = readSync(fd, buffer, 0, buffer.length, 0);
    return { text: buffer.subarray(0, read).toString(), bytes: size };
  } finally {
    closeSync(fd);
  }
}

export function writeMemo(root: string, { path, text }: { path: string; text: string }): void {
  const parts = partsOf(path);
  if (parts === undefined || !isPlainBelow(root, parts.slice(0, -1))) {
    throw new TerminalError(`${path} cannot be written: it is not a plain file inside the workspace`, {
      hint: "Look at what stands there, then resume.",
    });
  }
  const file = join(root, ...parts);
  mkdirSync(dirname(file), { recursive: true });
  writeDurably(file, text, READABLE);
}
