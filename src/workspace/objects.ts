/**
 * Commits and refs written without a git process, byte for byte as git writes them: each spawn saved is milliseconds
 * of every iteration. Durable when the function returns.
 */
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
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

/** Writes a commit as a loose object where it is missing and returns its name. */
export async function writeCommit(
  objects: string,
  { body, format }: { body: Buffer; format: ObjectFormat },
): Promise<string> {
  const whole = withHeader(body);
  const oid = createHash(format).update(whole).digest("hex");
  const path = loosePath(objects, oid);
  if (!existsSync(path)) await placeLoose(objects, { path, content: deflateSync(whole) });
  return oid;
}

export function commitName(body: Buffer, format: ObjectFormat): string {
  return createHash(format).update(withHeader(body)).digest("hex");
}

function withHeader(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`commit ${body.length}\0`), body]);
}

/** Copies loose objects that `to` lacks; false when one is not loose in `from`, and then nothing is promised. */
export async function copyLoose(oids: Iterable<string>, { from, to }: { from: string; to: string }): Promise<boolean> {
  const missing = [...oids].filter((oid) => !existsSync(loosePath(to, oid)));
  if (!missing.every((oid) => existsSync(loosePath(from, oid)))) return false;
  const copy = async (oid: string) =>
    await placeLoose(to, { path: loosePath(to, oid), content: await readFile(loosePath(from, oid)) });
  await Promise.all(missing.map(copy));
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
export async function writeRef(gitDir: string, { name, oid }: { name: string; oid: string }): Promise<void> {
  const path = join(gitDir, name);
  if (readRef(gitDir, name) === oid) return;
  makeDirsDurably(dirname(path));
  // A name that ends in .lock is never taken for a ref; one left by a crash is written over.
  rmSync(`${path}.lock`, { force: true });
  await writeSynced(`${path}.lock`, { content: Buffer.from(`${oid}\n`), mode: 0o600 });
  rename(`${path}.lock`, path);
  await syncDirectory(dirname(path));
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

async function placeLoose(objects: string, { path, content }: { path: string; content: Uint8Array }): Promise<void> {
  // git takes files of this name for its own unfinished ones and cleans them up.
  const temporary = join(objects, `tmp_obj_${randomBytes(6).toString("hex")}`);
  await writeSynced(temporary, { content, mode: 0o444 });
  const dir = dirname(path);
  const isNew = mkdirSync(dir, { recursive: true }) !== undefined;
  rename(temporary, path);
  await Promise.all([syncDirectory(dir), isNew ? syncDirectory(objects) : undefined]);
}

/** Off the main thread: several at once cost the disk little more than one. */
async function writeSynced(path: string, { content, mode }: { content: Uint8Array; mode: number }): Promise<void> {
  const file = await open(path, "wx", mode);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const dir = await open(path, "r");
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

function loosePath(objects: string, oid: string): string {
  return join(objects, oid.slice(0, 2), oid.slice(2));
}

/** What git drops from names too; an empty one would be refused. */
function cleaned(text: string): string {
  // eslint-disable-next-line no-control-regex -- control characters are exactly what must go
  return text.replaceAll(/[<>\u0000-\u001f]/g, "").trim() || "unknown";
}
