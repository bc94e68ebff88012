/**
 * The user's branches, tags, notes and stash, read without a git process: folders that did not change since the last
 * look are not read again, so a look costs microseconds.
 */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const OID = /^[0-9a-f]{40}([0-9a-f]{24})?$/;
const ROOTS = ["refs/heads", "refs/tags", "refs/notes"];
const STASH = "refs/stash";
const PACKED_LINE = /^([0-9a-f]{40,64}) (refs\/(?:(?:heads|tags|notes)\/.*|stash))$/gm;
/** A folder that changed this short ago may change again within the same tick of its time stamp. */
const RACY_MS = 50;
const NS_PER_MS = 1_000_000n;
/** Beyond it nobody is told of deleted refs: reading them would take longer than the rest of a snapshot. */
const MAX_REFS = 50_000;

interface Folder {
  mark: string;
  refs: [string, string][];
  folders: string[];
}

/** What was read before; give the same one to every look. */
export interface RefCache {
  folders: Map<string, Folder>;
  packed?: { mark: string; refs: Map<string, string> };
}

/** By name; undefined where they are kept in another way, or are too many. */
export function readRefs(commonDir: string, cache: RefCache): Map<string, string> | undefined {
  if (existsSync(join(commonDir, "reftable"))) return undefined;
  const refs = new Map(packedRefs(commonDir, cache));
  const queue = [...ROOTS];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const folder = folderOf(commonDir, { name, cache });
    for (const [ref, oid] of folder.refs) refs.set(ref, oid);
    queue.push(...folder.folders);
    if (refs.size > MAX_REFS) return undefined;
  }
  const stash = looseOid(join(commonDir, STASH));
  if (stash !== undefined) refs.set(STASH, stash);
  return refs;
}

function packedRefs(commonDir: string, cache: RefCache): Map<string, string> {
  const path = join(commonDir, "packed-refs");
  const mark = markOf(path);
  if (mark === undefined) return new Map();
  if (mark !== "" && cache.packed?.mark === mark) return cache.packed.refs;
  try {
    const found = readFileSync(path, "utf8").matchAll(PACKED_LINE);
    const refs = new Map([...found].map(([, oid = "", name = ""]) => [name, oid]));
    cache.packed = { mark, refs };
    return refs;
  } catch {
    return new Map();
  }
}

function folderOf(commonDir: string, { name, cache }: { name: string; cache: RefCache }): Folder {
  const path = join(commonDir, name);
  const mark = markOf(path);
  const before = cache.folders.get(name);
  if (before !== undefined && mark !== "" && before.mark === mark) return before;
  const folder: Folder = { mark: mark ?? "", refs: [], folders: [] };
  for (const entry of entriesOf(path)) {
    const child = `${name}/${entry.name}`;
    if (entry.isDirectory()) folder.folders.push(child);
    const oid = entry.isFile() && !entry.name.endsWith(".lock") ? looseOid(join(commonDir, child)) : undefined;
    if (oid !== undefined) folder.refs.push([child, oid]);
  }
  cache.folders.set(name, folder);
  return folder;
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** "" when it changed too lately to be trusted; undefined when there is nothing. */
function markOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (BigInt(Date.now()) - stats.mtimeNs / NS_PER_MS < RACY_MS) return "";
  return `${stats.ino}:${stats.size}:${stats.mtimeNs}`;
}

function looseOid(path: string): string | undefined {
  try {
    const text = readFileSync(path, "latin1").trim();
    return OID.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}
