/** A text that a person names on the command line, read whole and bounded; everything wrong with it is a UsageError. */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { UsageError } from "../errors.ts";

interface About {
  /** For people: "the goal". */
  what: string;
  maxBytes: number;
  /** Thrown where nothing is in it. */
  empty?: UsageError;
}

/** Also from a pipe, as `-f <(command)` gives one. */
export function readTextFile(path: string, about: About): string {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    if (fstatSync(fd).isDirectory()) throw new UsageError(`${about.what} cannot be read: ${path} is a directory`);
    return textOf(readUpTo(fd, about.maxBytes + 1), { ...about, path });
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    const why = isMissing ? `there is no file ${path}` : (cause as Error).message;
    throw new UsageError(`${about.what} cannot be read: ${why}`, { cause });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** All of standard input, or as much as shows that it is too long. */
export async function readTextStdin(about: About): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > about.maxBytes) break;
  }
  return textOf(Buffer.concat(chunks), { ...about, path: "stdin" });
}

/** What a file says of its size is not believed: one of the system's own may be endless. */
export function readUpTo(fd: number, maxBytes: number): Buffer {
  const parts: Buffer[] = [];
  for (let left = maxBytes; left > 0;) {
    const part = Buffer.allocUnsafe(Math.min(left, PART_BYTES));
    const read = readSync(fd, part, 0, part.length, null);
    if (read === 0) break;
    parts.push(part.subarray(0, read));
    left -= read;
  }
  return Buffer.concat(parts);
}
const PART_BYTES = 256 * 1024;

/** Refuses what is too long, empty or no text. */
function textOf(bytes: Uint8Array, { what, maxBytes, path, empty }: About & { path: string }): string {
  if (bytes.length > maxBytes) {
    throw new UsageError(`${what} has more than ${maxBytes} bytes (${path})`, {
      hint: "put the details into a file of the repository and name it",
    });
  }
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new UsageError(`${what} is no text: ${path} is not UTF-8`, { cause });
  }
  if (text.includes("\0")) throw new UsageError(`${what} is no text: ${path} holds NUL bytes`);
  if (text.trim() === "") throw empty ?? new UsageError(`${what} is empty (${path})`);
  return text;
}
