/** Where things of a workspace lie in pawl's state, and what the private repository's refs are called. */
import { createHash } from "node:crypto";
import { existsSync, realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import { UsageError } from "../errors.ts";

const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;

export interface RepositoryLayout {
  /** One per user repository. */
  root: string;
  privateGit: string;
  /** One empty file for each worktree that pawl made. */
  worktrees: string;
  /** Dependencies that a setup command made, by key. */
  setups: string;
  /** Serialises what runs of one repository share: the `shallow` file, worktrees. */
  lock: string;
}

export interface LaneLayout extends RepositoryLayout {
  dir: string;
  /** A git directory without objects and refs: the frozen settings of this lane. */
  view: string;
  index: string;
  /** HOME of every git and filter process. */
  home: string;
  globalConfig: string;
  /** What `prepare` is about to do, and what it did. */
  preparing: string;
  prepared: string;
  /** Dependency folders as they were before the first turn. */
  dependencies: string;
  /** One folder for each tree that is judged at the same time; see `slotPath`. */
  verify: string;
  nested: string;
  /** Seen by a fenced agent instead of the user's git directory; made by whoever opens the fence. */
  fencedGit: string;
  /** Prefix of this lane's refs. */
  refs: string;
}

export function repositoryLayout({ stateDir, repository }: { stateDir: string; repository: string }): RepositoryLayout {
  const root = join(stateDir, "repos", hashOf(realPath(repository)));
  return {
    root,
    privateGit: join(root, "private.git"),
    worktrees: join(root, "worktrees"),
    setups: join(root, "setups"),
    lock: join(root, "lock"),
  };
}

export function laneLayout(about: { stateDir: string; repository: string; run: string; lane: string }): LaneLayout {
  for (const name of [about.run, about.lane]) {
    if (!SAFE_NAME.test(name) || name.includes("..") || name.endsWith(".lock") || name.endsWith("."))
      throw new UsageError(`"${name}" cannot be a run or lane name`, { hint: "Use letters, digits, '-' and '_'." });
  }
  const repository = repositoryLayout(about);
  const dir = join(repository.root, "runs", about.run, about.lane);
  return {
    ...repository,
    dir,
    view: join(dir, "view"),
    index: join(dir, "index"),
    home: join(dir, "home"),
    globalConfig: join(dir, "home", "gitconfig"),
    preparing: join(dir, "preparing.json"),
    prepared: join(dir, "prepared.json"),
    dependencies: join(dir, "dependencies"),
    verify: join(dir, "verify"),
    nested: join(dir, "nested"),
    fencedGit: join(dir, "fenced.git"),
    refs: `refs/pawl/${about.run}/${about.lane}`,
  };
}

/** Where the n-th verify tree lies, with its index beside it. */
export const slotPath = ({ verify }: LaneLayout, n: number): string => join(verify, String(n));

/** A path that is gone is taken as it is written: specs hold real paths. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : resolve(path);
}

export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
