/** How much changed between a tree and the index or another tree, from one git process. */
import type { FileChange } from "../events.ts";
import { gitFailed, type Git, type GitResult } from "./git.ts";
import type { RawPath } from "./scan.ts";

/** Facts stay small; counts are of all files. */
const MAX_LISTED_FILES = 200;
const MAX_NUMBERS_BYTES = 512 * 1024 * 1024;

export interface Numbers {
  files: FileChange[];
  fileCount: number;
  added: number;
  removed: number;
  /** Every changed path (bytes) with its new blob; null when it is gone or no blob. */
  changes: { path: RawPath; blob: string | null; isNew: boolean }[];
}

export const NO_NUMBERS: Numbers = { files: [], fileCount: 0, added: 0, removed: 0, changes: [] };

const NAMES = ["-z", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-renames"];
const HOW = [...NAMES, "--numstat"];

/** What git shows for an unmerged path: no version of it is the one. */
export function isNoObject(oid: string): boolean {
  return /^0+$/.test(oid);
}

interface IndexOptions {
  /** Else names only, which needs no file's content. */
  counted?: boolean;
  /** Files that are only to be added (`git add -N`): to git they are empty ones, and in no tree that is written. */
  toBeAdded?: "empty" | "absent";
}

export async function indexNumbers(
  git: Git,
  fromTree: string,
  { counted = true, toBeAdded = "empty" }: IndexOptions = {},
): Promise<Numbers> {
  const how = [...(toBeAdded === "absent" ? ["--ita-invisible-in-index"] : []), ...(counted ? HOW : NAMES)];
  return await numbers(git, ["diff-index", "--cached", "--ignore-submodules=none", ...how, fromTree, "--"]);
}

export async function treeNumbers(
  git: Git,
  { from, to }: { from: string; to: string },
  { maxFiles = MAX_LISTED_FILES } = {},
): Promise<Numbers> {
  return await numbers(git, ["diff-tree", "-r", ...HOW, from, to, "--"], maxFiles);
}

async function numbers(git: Git, args: readonly string[], maxFiles = MAX_LISTED_FILES): Promise<Numbers> {
  const result: GitResult = await git.run(args, { maxBytes: MAX_NUMBERS_BYTES });
  if (result.code !== 0) throw gitFailed(args, result);
  return parseNumbers(result.stdout.toString("latin1"), maxFiles);
}

/** Raw records (`:modes oids status NUL path NUL`) first, then `added TAB removed TAB path NUL`. */
function parseNumbers(text: string, maxFiles: number): Numbers {
  const tokens = text.split("\0");
  const changes = new Map<string, FileChange>();
  const all: Numbers["changes"] = [];
  let added = 0;
  let removed = 0;
  for (let at = 0; at < tokens.length - 1; at += 1) {
    const token = tokens[at] ?? "";
    if (token.startsWith(":")) {
      const path = tokens[(at += 1)] ?? "";
      const [, mode = "", , oid = "", status = ""] = token.split(" ");
      changes.set(path, { path: Buffer.from(path, "latin1").toString("utf8"), status, added: 0, removed: 0 });
      all.push({ path, blob: status === "D" || mode === "160000" ? null : oid, isNew: status === "A" });
      continue;
    }
    const [plus = "", minus = "", ...rest] = token.split("\t");
    const change = changes.get(rest.join("\t"));
    // Binary files have "-" for both.
    const counts = { added: Number(plus) || 0, removed: Number(minus) || 0 };
    if (change !== undefined) Object.assign(change, counts);
    added += counts.added;
    removed += counts.removed;
  }
  return {
    files: [...changes.values()].slice(0, maxFiles),
    fileCount: changes.size,
    added,
    removed,
    changes: all,
  };
}
