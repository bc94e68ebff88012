/** The files that come with a question: looked at before anything begins, copied into the workspace when it does. */
import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { basename } from "node:path";
import { UsageError } from "../../errors.ts";
import { readUpTo } from "../../platform/text-file.ts";
import type { SolveFile } from "../../spec/solve.ts";
import type { ScratchFile } from "../../workspace/scratch.ts";

const MB = 1024 * 1024;
const MAX_FILE_BYTES = 64 * MB;
const MAX_ALL_BYTES = 256 * MB;
const MAX_FILES = 100;
const MAX_HEAD_BYTES = 400;
const MAX_HEAD_LINES = 5;
/** What pawl writes there itself. */
const OWN_NAMES = /^(answer\.(txt|json)|solution\.\w+|steps|pawl.*|\.pawl-.*)$/i;
/** By these it would decide what checks see of everything else. */
const GIT_NAMES = /^\.git(ignore|attributes|modules)?$/i;

export type GivenFile = SolveFile & ScratchFile;

export function givenFiles(paths: readonly string[]): GivenFile[] {
  if (paths.length > MAX_FILES)
    throw new UsageError(`${paths.length} files are too many: at most ${MAX_FILES}`, {
      hint: "pack them into one archive",
    });
  const files = paths.map(read);
  const sum = files.reduce((all, { bytes }) => all + bytes, 0);
  if (sum > MAX_ALL_BYTES)
    throw new UsageError(`the files have ${sayBytes(sum)} together: at most ${sayBytes(MAX_ALL_BYTES)}`);
  for (const { path, from } of files) {
    const other = files.find((one) => one.path === path && one.from !== from);
    if (other !== undefined)
      throw new UsageError(`two files are called ${path}: ${other.from} and ${from}`, { hint: "rename one of them" });
  }
  return [...new Map(files.map((file) => [file.path, file])).values()];
}

function read(from: string): GivenFile {
  const path = basename(from);
  if (OWN_NAMES.test(path))
    throw new UsageError(`--file ${from}: pawl writes a file of that name itself`, { hint: "rename it" });
  if (GIT_NAMES.test(path)) throw new UsageError(`--file ${from}: it has a meaning for git`, { hint: "rename it" });
  const bytes = contentOf(from);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { path, from, bytes: bytes.length, sha256, head: headOf(bytes) };
}

function contentOf(from: string): Buffer {
  let fd: number;
  try {
    // Opening a pipe that nobody writes to must not hang.
    fd = openSync(from, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const why = code === "ENOENT" ? "there is no such file" : code === "EACCES" ? "it may not be read" : String(code);
    throw new UsageError(`--file ${from}: ${why}`, { cause });
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile())
      throw new UsageError(`--file ${from}: it is a ${found.isDirectory() ? "directory" : "special file"}`, {
        hint: "name each file; --file may be repeated",
      });
    if (found.size > MAX_FILE_BYTES)
      throw new UsageError(`--file ${from}: ${sayBytes(found.size)} are too many: at most ${sayBytes(MAX_FILE_BYTES)}`);
    const bytes = readUpTo(fd, MAX_FILE_BYTES + 1);
    if (bytes.length <= MAX_FILE_BYTES) return bytes;
    throw new UsageError(`--file ${from}: more than ${sayBytes(MAX_FILE_BYTES)}`);
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`--file ${from}: it cannot be read: ${(cause as NodeJS.ErrnoException).code}`, { cause });
  } finally {
    closeSync(fd);
  }
}

/** Nothing of what is no text. */
function headOf(bytes: Buffer): string {
  const first = bytes.subarray(0, MAX_HEAD_BYTES);
  const text = first.toString().replace(/\uFFFD+$/, "");
  if (first.includes(0) || text.includes("\uFFFD")) return "";
  return text.split("\n").slice(0, MAX_HEAD_LINES).join("\n");
}

const sayBytes = (bytes: number): string => `${(bytes / MB).toFixed(1)} MB`;
