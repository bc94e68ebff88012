/**
 * Instruction files of the base for the agent's system prompt: read once from the base commit, before the first turn,
 * so that an agent cannot rewrite its own instructions, and kept for whoever drives the run again.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import { userGit } from "../workspace/user-git.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const FILES = ["CLAUDE.md", "AGENTS.md"] as const;
const MAX_FILE_BYTES = 32 * 1024;
const REGULAR_FILE = /^100\d{3} blob ([0-9a-f]+)\t(.+)$/;

interface Request {
  /** Where they are kept, in the run's own directory. */
  file: string;
  /** Keeps them there, durably; before the first turn. */
  keep: boolean;
  repository: string;
  /** null: the repository has no commit yet. */
  commit: string | null;
  env: Environment;
}

export async function frozenInstructions({ file, keep, repository, commit, env }: Request): Promise<string> {
  if (existsSync(file)) return readFileSync(file, "utf8");
  const text = commit === null ? "" : await readOnce(commit, { cwd: repository, environment: env });
  if (!keep) return text;
  makePrivateDir(dirname(file));
  writeDurably(file, text);
  return text;
}

/** Begins to read them, so that they are there when the agent is started. A failure is told then. */
export function readAhead({ repository, commit, env }: Pick<Request, "repository" | "commit" | "env">): void {
  if (commit !== null) readOnce(commit, { cwd: repository, environment: env }).catch(() => undefined);
}

/** A commit never changes, and who starts an agent ahead asks twice. */
let last: { commit: string; cwd: string; text: Promise<string> } | undefined;

function readOnce(commit: string, place: { cwd: string; environment: Environment }): Promise<string> {
  if (last?.commit === commit && last.cwd === place.cwd) return last.text;
  const mine = { commit, cwd: place.cwd, text: readFrom(commit, place) };
  last = mine;
  mine.text.catch(() => {
    if (last === mine) last = undefined;
  });
  return mine.text;
}

/** A link is left out: what it points to is read under its own name, or is none of ours. */
async function readFrom(commit: string, place: { cwd: string; environment: Environment }): Promise<string> {
  const listed = (await userGit(["ls-tree", "--full-tree", commit, ...FILES], place)).stdout.toString("utf8");
  const found = listed.split("\n").flatMap((line) => {
    const [, oid, name] = REGULAR_FILE.exec(line) ?? [];
    return oid === undefined || name === undefined ? [] : [{ oid, name }];
  });
  const parts: string[] = [];
  for (const { oid, name } of found) {
    const content = (await userGit(["cat-file", "blob", oid], place)).stdout;
    const text = content.subarray(0, MAX_FILE_BYTES).toString("utf8").trim();
    const cut = content.length > MAX_FILE_BYTES ? `\n[… cut: ${content.length} bytes]` : "";
    if (text !== "") parts.push(`# ${name} of this repository\n\n${text}${cut}`);
  }
  return parts.join("\n\n");
}
