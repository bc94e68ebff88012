/**
 * The files that a program made or changed, by looking at its folder before and after. No link is followed, what is
 * neither a file nor a folder is left out, and a program that makes very many costs no more than a bounded look.
 */
import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { MAX_PRODUCED_FILES, type ProducedFile } from "../../ports/executor.ts";

/** Looked at, folders included. */
const MAX_ENTRIES = 50_000;
const MAX_DEPTH = 64;
const MAX_NAMED = 5;
const BLOCK_BYTES = 512;
/** Repositories are pawl's own matter, at any depth. */
const PASSED_OVER = ".git";

interface Seen {
  bytes: number;
  /** On the disk: a file may have holes. */
  diskBytes: number;
  /** Changes with every change of the file, also with one that puts its times back. */
  mark: string;
}

export interface Listing {
  files: ReadonlyMap<string, Seen>;
  /** Links, sockets, pipes, devices, and names that are no text. */
  others: ReadonlyMap<string, "link" | "special" | "unreadable">;
  isWhole: boolean;
}

export interface Produced {
  /** In the order of their paths. */
  files: ProducedFile[];
  /** Of all of them on the disk, not only those named. */
  bytes: number;
  /** What is not among them, in words. */
  notes: string[];
}

export async function filesIn(folder: string): Promise<Listing> {
  const files = new Map<string, Seen>();
  const others = new Map<string, "link" | "special" | "unreadable">();
  const left = [{ at: "", depth: 0 }];
  let looked = 0;
  let isWhole = true;
  for (let next = left.pop(); next !== undefined && isWhole; next = left.pop()) {
    const { at, depth } = next;
    const entries = await opendir(join(folder, at)).catch(() => undefined);
    if (entries === undefined) {
      others.set(at, "unreadable");
      continue;
    }
    for await (const entry of entries) {
      if (entry.name === PASSED_OVER) continue;
      looked += 1;
      if (looked > MAX_ENTRIES || depth > MAX_DEPTH) {
        isWhole = false;
        break;
      }
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (entry.isDirectory()) left.push({ at: path, depth: depth + 1 });
      else if (entry.isSymbolicLink()) others.set(path, "link");
      else if (!entry.isFile()) others.set(path, "special");
      else {
        const stats = await lstat(join(folder, path), { bigint: true }).catch(() => undefined);
        if (stats === undefined || !stats.isFile()) others.set(path, "unreadable");
        else
          files.set(path, {
            bytes: Number(stats.size),
            diskBytes: Number(stats.blocks) * BLOCK_BYTES,
            mark: [stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":"),
          });
      }
    }
  }
  return { files, others, isWhole };
}

/** Pure. */
export function producedFiles(before: Listing, after: Listing): Produced {
  const changed = [...after.files].filter(([path, { mark }]) => before.files.get(path)?.mark !== mark);
  const all = changed.map(([path, { bytes }]) => ({ path, bytes })).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const beyond = all.length - MAX_PRODUCED_FILES;
  const strange = (what: "link" | "special" | "unreadable", words: string): string[] => {
    const found = [...after.others].filter(([path, is]) => is === what && before.others.get(path) !== is);
    if (found.length === 0) return [];
    const names = found.slice(0, MAX_NAMED).map(([path]) => JSON.stringify(path));
    const more = found.length > MAX_NAMED ? ` and ${found.length - MAX_NAMED} more` : "";
    return [`${words}: ${names.join(", ")}${more}`];
  };
  return {
    files: all.slice(0, MAX_PRODUCED_FILES),
    bytes: changed.reduce((sum, [, { diskBytes }]) => sum + diskBytes, 0),
    notes: [
      ...(beyond > 0 ? [`${beyond} more files are not listed`] : []),
      ...(after.isWhole ? [] : [`there are too many files to look at: over ${MAX_ENTRIES}, or ${MAX_DEPTH} deep`]),
      ...strange("link", "links are left out"),
      ...strange("special", "pipes, sockets and devices are left out"),
      ...strange("unreadable", "could not be read"),
    ],
  };
}
