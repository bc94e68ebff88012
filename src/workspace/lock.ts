/**
 * Exclusive locks that survive a crash of their holder. A lock is a chain of files, each made whole by `link`, which
 * fails when the name exists: the first is the lock, and the successor of a dead holder is named after that holder's
 * nonce. Who is at the end of the chain that starts at the lock holds it, so a dead holder is succeeded exactly once.
 */
import { randomBytes } from "node:crypto";
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TerminalError, UsageError } from "../errors.ts";
import { makePrivateDir } from "../platform/files.ts";
import { currentOwner, isAlive } from "../platform/owner.ts";
import type { Owner } from "../ports.ts";
import { hashOf, realPath } from "./layout.ts";

const LOCK_WAIT_MS = 60_000;
const LOCK_POLL_MS = 15;
/** What a file system answers that gives a file one name only (vfat, some network mounts). */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

interface Holder extends Owner {
  nonce: string;
}

export interface Lock {
  release(): void;
}

/** One driver per workspace. UsageError naming the living holder. */
export function lockWorkspace({ path, stateDir, owner }: { path: string; stateDir: string; owner: Owner }): Lock {
  const dir = join(stateDir, "locks");
  makePrivateDir(dir);
  const taken = tryLock(join(dir, `${hashOf(realPath(path))}.lock`), owner);
  if ("release" in taken) return taken;
  throw new UsageError(`another pawl (pid ${taken.holder.pid} on ${taken.holder.host}) is working in ${path}`, {
    hint: "Wait for it, stop it with `pawl stop`, or use `--worktree`.",
  });
}

/** Who holds the workspace now, if a living process does. */
export function workspaceHolder({ path, stateDir }: { path: string; stateDir: string }): Owner | undefined {
  const last = chain(join(stateDir, "locks", `${hashOf(realPath(path))}.lock`)).at(-1)?.holder;
  return last !== undefined && isAlive(last) ? last : undefined;
}

/** For short work that several processes of pawl share. */
export async function withLock<T>(
  path: string,
  work: () => T | Promise<T>,
  { waitMs = LOCK_WAIT_MS }: { waitMs?: number } = {},
): Promise<T> {
  makePrivateDir(dirname(path));
  for (let waited = 0; waited < waitMs; waited += LOCK_POLL_MS) {
    const taken = tryLock(path, currentOwner());
    if (!("release" in taken)) {
      await sleep(LOCK_POLL_MS);
      continue;
    }
    try {
      return await work();
    } finally {
      taken.release();
    }
  }
  throw new TerminalError(`${path} is held by another pawl for more than ${waitMs / 1000} s`, {
    hint: "See which pawl processes are alive with `pawl runs`.",
  });
}

function tryLock(path: string, owner: Owner): Lock | { holder: Owner } {
  const me: Holder = { ...owner, nonce: randomBytes(12).toString("hex") };
  const draft = `${path}.${me.nonce}.new`;
  writeFileSync(draft, JSON.stringify(me), { mode: 0o600, flag: "wx" });
  try {
    for (;;) {
      const last = chain(path).at(-1);
      if (last !== undefined && isAlive(last.holder)) return { holder: last.holder };
      const mine = last === undefined ? path : successor(path, last.holder);
      if (!linkNew(draft, mine)) continue;
      // A link made after a look that was too old is not on the chain any more and holds nothing.
      if (chain(path).at(-1)?.holder.nonce === me.nonce) return { release: () => release(path, me) };
      rmSync(mine, { force: true });
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The lock goes first: from then on it is free, and what is left of the chain leads nowhere. */
function release(path: string, me: Holder): void {
  const links = chain(path);
  if (links.at(-1)?.holder.nonce !== me.nonce) return;
  for (const link of links) rmSync(link.path, { force: true });
}

function chain(path: string): { path: string; holder: Holder }[] {
  const links = [];
  for (let at = path; existsSync(at);) {
    const holder = readHolder(at);
    if (holder === undefined) break;
    links.push({ path: at, holder });
    at = successor(path, holder);
  }
  return links;
}

function readHolder(path: string): Holder | undefined {
  let text;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    // Released between the look and the read.
    return undefined;
  }
  try {
    return JSON.parse(text) as Holder;
  } catch {
    // Torn by a power loss, so its holder is gone.
    return { ...currentOwner(), boot: "before", nonce: "torn" };
  }
}

function successor(path: string, { nonce }: Holder): string {
  return `${path}.after-${nonce}`;
}

function linkNew(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (!NO_LINKS.includes(code)) throw error;
    throw new UsageError(`${dirname(to)} is on a file system without hard links, which pawl's locks are made of`, {
      hint: "Set PAWL_HOME to a directory on another file system.",
    });
  }
}
