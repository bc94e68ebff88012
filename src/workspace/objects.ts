/**
 * Commits and refs written without a git process, byte for byte as git writes them: each spawn saved is milliseconds
 * of every iteration. Durable when the function returns.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import { rename, syncDir } from "../platform/files.ts";

export type ObjectFormat = "sha1" | "sha256";

export interface Person {
  name: string;
  email: string;
}

export interface CommitRequest {
  tree: string;
  parents: readonly string[];
  author: Person;
  message: string;
  /** Wall clock, ms since 1970. */
  at: number;
}

export const PAWL: Person = { name: "pawl", email: "pawl@localhost" };
export const EMPTY_TREE: Record<ObjectFormat, string> = {
  sha1: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
  sha256: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
};

const MS_PER_SECOND = 1000;

export function commitBytes({ tree, parents, author, message, at }: CommitRequest): Buffer {
  const seconds = Math.floor(at / MS_PER_SECOND);
  const stamp = (person: Person) => `${cleaned(person.name)} <${cleaned(person.email)}> ${seconds} +0000`;
  const lines = [
    `tree ${tree}`,
    ...parents.map((parent) => `parent ${parent}`),
    `author ${stamp(author)}`,
    `committer ${stamp(PAWL)}`,
    "",
    `${message.replaceAll("\0", "").trimEnd()}\n`,
  ];
  return Buffer.from(lines.join("\n"));
}

/** Writes a loose object where it is missing and returns its name. */
export function writeLoose(
  objects: string,
  { type, body, format }: { type: "commit"; body: Buffer; format: ObjectFormat },
): string {
  const whole = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const oid = createHash(format).update(whole).digest("hex");
  const path = loosePath(objects, oid);
  if (!existsSync(path)) placeLoose(objects, path, (temporary) => writeNew(temporary, deflateSync(whole)));
  return oid;
}

/** Copies loose objects of `from` that `to` lacks; false when one of them is not loose, and then nothing is promised. */
export function copyLoose(oids: Iterable<string>, { from, to }: { from: string; to: string }): boolean {
  for (const oid of oids) {
    const source = loosePath(from, oid);
    const target = loosePath(to, oid);
    if (existsSync(target)) continue;
    if (!existsSync(source)) return false;
    placeLoose(to, target, (temporary) => copySynced(source, temporary));
  }
  return true;
}

/** The body of a loose object, undefined when it is not loose. */
export function readLoose(objects: string, oid: string): { type: string; body: Buffer } | undefined {
  const path = loosePath(objects, oid);
  if (!existsSync(path)) return undefined;
  const whole = inflateSync(readFileSync(path));
  const end = whole.indexOf(0);
  return { type: whole.subarray(0, end).toString("latin1").split(" ")[0] ?? "", body: whole.subarray(end + 1) };
}

/** Names of the entries of a tree object's body; paths as latin1, that is, as bytes. */
export function treeEntries(body: Buffer, format: ObjectFormat): { mode: string; name: string; oid: string }[] {
  const oidBytes = format === "sha1" ? 20 : 32;
  const entries = [];
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(0x20, at);
    const nul = body.indexOf(0, space);
    const end = nul + 1 + oidBytes;
    entries.push({
      mode: body.toString("latin1", at, space),
      name: body.toString("latin1", space + 1, nul),
      oid: body.toString("hex", nul + 1, end),
    });
    at = end;
  }
  return entries;
}

/** Only for pawl's own repository, where the holder of the lane is the only writer of its refs. */
export function writeRef(gitDir: string, { name, oid }: { name: string; oid: string }): void {
  const path = join(gitDir, name);
  if (readRef(gitDir, name) === oid) return;
  makeDirsDurably(dirname(path));
  // A name that ends in .lock is never taken for a ref; one left by a crash is written over.
  rmSync(`${path}.lock`, { force: true });
  writeNew(`${path}.lock`, Buffer.from(`${oid}\n`), 0o600);
  rename(`${path}.lock`, path);
  syncDir(dirname(path));
}

export function readRef(gitDir: string, name: string): string | undefined {
  try {
    return readFileSync(join(gitDir, name), "latin1").trim() || undefined;
  } catch {
    return undefined;
  }
}

export function makeDirsDurably(path: string): void {
  const first = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (first === undefined) return;
  for (let at = path; at.length >= first.length; at = dirname(at)) syncDir(dirname(at));
}

export function writeNew(path: string, content: Uint8Array, mode = 0o444): void {
  const fd = openSync(path, "wx", mode);
  try {
    for (let done = 0; done < content.length;) done += writeSync(fd, content, done);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function copySynced(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  const fd = openSync(to, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function placeLoose(objects: string, path: string, write: (temporary: string) => void): void {
  // git takes files of this name for its own unfinished ones and cleans them up.
  const temporary = join(objects, `tmp_obj_${randomBytes(6).toString("hex")}`);
  write(temporary);
  const dir = dirname(path);
  if (mkdirSync(dir, { recursive: true }) !== undefined) syncDir(objects);
  rename(temporary, path);
  syncDir(dir);
}

function loosePath(objects: string, oid: string): string {
  return join(objects, oid.slice(0, 2), oid.slice(2));
}

/** What git drops from names too; an empty one would be refused. */
function cleaned(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what must go
  return text.replaceAll(/[<>\u0000-\u001f]/g, "").trim() || "unknown";
}
