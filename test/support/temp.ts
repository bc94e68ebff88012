/** Folders and repositories that live as long as the test file that imports this, and waiting without guessing. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { atFileEnd } from "./file-end.ts";
import { commitAll, initRepository, onceUnlocked } from "./init-repository.ts";

const made: string[] = [];
const WAIT_LIMIT_MS = 120_000;
const WAIT_POLL_MS = 10;
const REMOVE_TRIES = 50;
const REMOVE_AGAIN_MS = 100;

atFileEnd(async () => {
  for (const path of made.splice(0)) await remove(path);
});

/** What a killed program left running may still write there for a moment. */
async function remove(path: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      return rmSync(path, { recursive: true, force: true });
    } catch (error) {
      if (tries === REMOVE_TRIES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, REMOVE_AGAIN_MS));
  }
}

/** For compiled code: shared by all tests, so that each start of the CLI does not compile it anew. */
export const CACHE_HOME = join(import.meta.dirname, "../../.cache");
/** NODE_COMPILE_CACHE of programs that get an environment of their own and, unlike the CLI, look for no such place. */
export const COMPILED = join(CACHE_HOME, "compiled");

export function tempDir(name = "test"): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), `pawl-${name}-`)));
  made.push(path);
  return path;
}

export function writeFiles(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
}

export interface TempRepository {
  readonly path: string;
  /** Runs git there, without this machine's or user's settings; returns what it printed, trimmed. */
  git(...args: string[]): string;
  /** Writes files and commits everything; returns the commit. */
  commit(message: string, files?: Readonly<Record<string, string>>): string;
}

/** With one commit of `files`; without any when they are undefined. */
export function tempRepository(files?: Readonly<Record<string, string>>, { branch = "main" } = {}): TempRepository {
  const path = tempDir("repository");
  // Where `--worktree` works.
  made.push(`${path}-worktrees`);
  const home = tempDir("home");
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, GIT_CONFIG_NOSYSTEM: "1", LC_ALL: "C" };
  const place = { cwd: path, env, encoding: "utf8", maxBuffer: 64 * 1024 * 1024, stdio: "pipe" } as const;
  const git = (...args: string[]) => onceUnlocked(() => execFileSync("git", args, place)).trim();
  const repository = {
    path,
    git,
    commit(message: string, changed: Readonly<Record<string, string>> = {}) {
      writeFiles(path, changed);
      return commitAll(message, { cwd: path, env });
    },
  };
  initRepository(path, { branch, user: { name: "Test", email: "test@example.invalid" } });
  if (files !== undefined) repository.commit("base", files);
  return repository;
}

interface Waited {
  what?: string;
  limitMs?: number;
  /** What was there instead, told when it never comes. */
  seen?: () => string | Promise<string>;
}

/** Resolves with the first answer that is not false or undefined; rejects when none comes in time. */
export async function waitFor<T>(
  predicate: () => T | Promise<T>,
  { what = "the condition", limitMs = WAIT_LIMIT_MS, seen }: Waited = {},
): Promise<Exclude<T, false | undefined>> {
  const until = performance.now() + limitMs;
  for (;;) {
    const answer = await predicate();
    if (answer !== false && answer !== undefined) return answer as Exclude<T, false | undefined>;
    if (performance.now() > until) throw new Error(`waited ${limitMs} ms for ${what}${(await seen?.()) ?? ""}`);
    await new Promise((resolve) => setTimeout(resolve, WAIT_POLL_MS));
  }
}
