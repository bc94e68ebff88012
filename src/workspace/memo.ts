/**
 * Text files of the workspace that pawl reads and writes back: tasks, notes, knowledge. An agent can put anything there
 * and change it at any moment, so every folder on the way is opened by itself, inside the one before and never through
 * a link.
 */
import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readSync } from "node:fs";
import { join, normalize } from "node:path";
import { TerminalError } from "../errors.ts";
import { writeDurably } from "../platform/files.ts";

const READABLE = 0o644;
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

interface Place {
  folders: string[];
  name: string;
}

/** Of a path that stays inside; undefined otherwise. */
function placeOf(path: string): Place | undefined {
  const parts = normalize(path).split("/");
  const name = parts.at(-1);
  if (name === undefined || name === "" || name === "." || path.startsWith("/") || path.includes("\0"))
    return undefined;
  if (parts.some((part) => part === ".." || part.toLowerCase() === ".git")) return undefined;
  return { folders: parts.slice(0, -1), name };
}

/** A path that means the opened folder itself, whatever its name leads to by now; only Linux can say that. */
const via = (fd: number, path: string): string => (process.platform === "linux" ? `/proc/self/fd/${fd}` : path);

/** Does `work` in the folder, which is made where it is missing and `make` says so. */
function inFolder<T>(
  root: string,
  { folders, make }: { folders: readonly string[]; make: boolean },
  work: (folder: string) => T,
): T {
  let path = root;
  let fd = openSync(root, O_RDONLY | O_DIRECTORY);
  try {
    for (const folder of folders) {
      const below = join(via(fd, path), folder);
      if (make && lstatSync(below, { throwIfNoEntry: false }) === undefined) mkdirSync(below);
      const next = openSync(below, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      closeSync(fd);
      fd = next;
      path = join(path, folder);
    }
    return work(via(fd, path));
  } finally {
    closeSync(fd);
  }
}

interface ReadRequest {
  path: string;
  maxBytes: number;
  /** The last bytes instead of the first. */
  tail?: boolean;
}

export function readMemo(
  root: string,
  { path, maxBytes, tail = false }: ReadRequest,
): { text: string; bytes: number } | undefined {
  const place = placeOf(path);
  if (place === undefined) return undefined;
  let fd: number;
  try {
    fd = inFolder(root, { folders: place.folders, make: false }, (folder) =>
      openSync(join(folder, place.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
    );
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) return undefined;
    const { size } = found;
    const length = Math.min(size, maxBytes);
    const bytes = readBytes(fd, { from: tail ? size - length : 0, length });
    const text = wholeCharacters(bytes, { tail }).toString();
    // A byte that is no text becomes a character of three.
    const decoded = Buffer.byteLength(text);
    if (decoded <= maxBytes) return { text, bytes: size };
    return { text: cutTo(text, { maxBytes, tail }), bytes: Math.max(size, decoded) };
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function cutTo(text: string, { maxBytes, tail }: { maxBytes: number; tail: boolean }): string {
  const bytes = Buffer.from(text);
  return wholeCharacters(tail ? bytes.subarray(-maxBytes) : bytes.subarray(0, maxBytes), { tail }).toString();
}

/** Fewer where the file has become shorter meanwhile. */
function readBytes(fd: number, { from, length }: { from: number; length: number }): Buffer {
  const buffer = Buffer.alloc(length);
  let done = 0;
  for (let read = -1; read !== 0 && done < length; done += read)
    read = readSync(fd, buffer, done, length - done, from + done);
  return buffer.subarray(0, done);
}

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x80 && byte < 0xc0;
const MAX_CHARACTER_BYTES = 4;

/** Without the piece of a character at the end that was cut. */
function wholeCharacters(bytes: Buffer, { tail }: { tail: boolean }): Buffer {
  if (tail) {
    let start = 0;
    while (start < MAX_CHARACTER_BYTES && isContinuation(bytes[start])) start += 1;
    return bytes.subarray(start);
  }
  let lead = bytes.length - 1;
  while (lead > bytes.length - MAX_CHARACTER_BYTES && isContinuation(bytes[lead])) lead -= 1;
  const first = bytes[lead] ?? 0;
  const needed = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return lead + needed > bytes.length ? bytes.subarray(0, Math.max(0, lead)) : bytes;
}

export function writeMemo(root: string, { path, text }: { path: string; text: string }): void {
  const place = placeOf(path);
  if (place === undefined) throw refused(path, "it is not a path inside the workspace");
  try {
    inFolder(root, { folders: place.folders, make: true }, (folder) => {
      const file = join(folder, place.name);
      // A rename never follows a link; this only keeps what is no text file from being replaced by one.
      const there = lstatSync(file, { throwIfNoEntry: false });
      if (there !== undefined && !there.isFile()) throw refused(path, "what stands there is no plain file");
      writeDurably(file, text, READABLE);
    });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ELOOP" || code === "ENOTDIR") throw refused(path, "a folder on the way is no plain folder");
    throw error;
  }
}

const refused = (path: string, why: string): TerminalError =>
  new TerminalError(`${path} cannot be written: ${why}`, { hint: "Look at what stands there, then resume." });
