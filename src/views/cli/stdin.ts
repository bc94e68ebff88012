/**
 * Standard input as context beside a goal. Many are started with one that is open and that nobody writes to (editors,
 * CI, other programs): unless it was asked for, it is waited for only shortly, and never dropped without a word.
 */
import { fstatSync } from "node:fs";
import { UsageError } from "../../errors.ts";
import { makeLastBytes } from "../../platform/last-bytes.ts";
import { plain } from "../plain.ts";
import { grouped } from "./format.ts";
import { note } from "./output.ts";

/** For the first byte, where nobody asked for it. */
const FIRST_BYTE_WAIT_MS = 3_000;
/** Then it is said that it is waited for. */
const SILENT_WAIT_MS = 3_500;
/** Its end is what counts of a log; the whole is better given as a file. */
const MAX_CONTEXT_BYTES = 16 * 1024;
/** A goal that leaves less has no room for any. */
const MIN_CONTEXT_BYTES = 1024;
/** Whoever sends more does not mean a text for a prompt. */
const MAX_STDIN_BYTES = 64 * 1024 * 1024;
const STDIN_FD = 0;

/** A terminal and /dev/null have nothing to give. */
export function hasInput(): boolean {
  try {
    const stat = fstatSync(STDIN_FD);
    return stat.isFIFO() || stat.isSocket() || stat.isFile();
  } catch {
    return false;
  }
}

/** Says that it waits, where that takes long. */
export async function awaited<T>(reading: Promise<T>): Promise<T> {
  const timer = setTimeout(() => note("pawl: waiting for stdin to end"), SILENT_WAIT_MS);
  try {
    return await reading;
  } finally {
    clearTimeout(timer);
  }
}

/** `maxBytes`: what the goal leaves of a prompt. undefined: there is none. */
export async function readContext({
  isAsked,
  maxBytes,
}: {
  isAsked: boolean;
  maxBytes: number;
}): Promise<string | undefined> {
  if (!isAsked && !hasInput()) return undefined;
  const last = makeLastBytes(Math.min(MAX_CONTEXT_BYTES, Math.max(MIN_CONTEXT_BYTES, maxBytes)));
  const reading = readToEnd((chunk) => last.push(chunk), { firstMs: isAsked ? undefined : FIRST_BYTE_WAIT_MS });
  const bytes = await awaited(reading);
  if (bytes === undefined) {
    const hint = 'pawl run "…" - waits for it, </dev/null says that there is none';
    note(`pawl: nothing came on stdin within ${FIRST_BYTE_WAIT_MS / 1_000} s: going on without it\n      ${hint}`);
    return undefined;
  }
  const end = Buffer.concat(last.parts());
  const kept = last.dropped === 0 ? end : end.subarray(characterStart(end));
  const text = plain(kept.toString("utf8")).trim();
  if (text === "") return undefined;
  if (maxBytes < MIN_CONTEXT_BYTES)
    throw new UsageError("the goal leaves no room for what came on stdin", {
      hint: "put one of them into a file of the repository and name that in the goal",
    });
  const isCut = kept.length < bytes;
  if (isCut)
    note(
      `pawl: the last ${grouped(kept.length)} of ${grouped(bytes)} bytes of stdin are the context: name a file for more`,
    );
  return fenced(text, isCut ? `The first ${grouped(bytes - kept.length)} bytes were left out.\n\n` : "");
}

/** Marked off, so that nothing of it reads as the goal's own words. */
function fenced(text: string, cut: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `### Given on standard input\n\n${cut}${fence}\n${text}\n${fence}`;
}

/** The cut may be inside a character of up to four bytes. */
function characterStart(bytes: Uint8Array): number {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return start;
}

/** How many bytes came; undefined: none within `firstMs`, and it is still open. */
async function readToEnd(
  take: (chunk: Uint8Array) => void,
  { firstMs }: { firstMs: number | undefined },
): Promise<number | undefined> {
  const { stdin } = process;
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<number | undefined>((resolve, reject) => {
      if (firstMs !== undefined) timer = setTimeout(() => resolve(undefined), firstMs);
      stdin.on("data", (chunk: Buffer) => {
        clearTimeout(timer);
        bytes += chunk.length;
        take(chunk);
        if (bytes <= MAX_STDIN_BYTES) return;
        reject(
          new UsageError(`stdin has more than ${grouped(MAX_STDIN_BYTES)} bytes`, {
            hint: "put it into a file of the repository and name that in the goal",
          }),
        );
      });
      stdin.once("end", () => resolve(bytes));
      stdin.once("error", (error) => reject(new UsageError(`stdin cannot be read: ${error.message}`)));
    });
  } finally {
    clearTimeout(timer);
    stdin.removeAllListeners("data").pause();
    // An open one must not keep the process alive.
    if ("unref" in stdin) stdin.unref();
  }
}
