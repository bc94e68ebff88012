/**
 * Worktrees of the user's repository for runs that must not share their directory. They lie beside the repository in
 * `<repository>-worktrees/`; making and removing them is serialised, for git's own commands race.
 */
import { existsSync, mkdirSync, readFileSync, realpathSync, rmdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../errors.ts";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import { isBranchName } from "./branch.ts";
import { inspectRepository } from "./inspect.ts";
import { repositoryLayout } from "./layout.ts";
import { withLock } from "./lock.ts";
import { checkFilters } from "./settings.ts";
import { userGit, type Environment } from "./user-git.ts";
import { copyIncluded } from "./worktree-include.ts";
import { reasonToKeep } from "./worktree-state.ts";

const MAX_NAME_CHARACTERS = 64;
/** Each start checks all files out; of many at once in a large repository the last waits for all others. */
const START_WAIT_MS = 600_000;

export interface WorktreePlace {
  /** Top level of the user's repository. */
  repository: string;
  stateDir: string;
  environment: Environment;
}

export interface Worktree {
  name: string;
  path: string;
  commit: string;
  /** null when detached. */
  branch: string | null;
  /** The run it was made for, where that was said. */
  run: string | undefined;
}

export interface MadeWorktree extends Worktree {
  /** What was not copied into it. */
  warnings: string[];
  /** As if it had never been: for a start that goes no further. */
  undo(): Promise<void>;
}

interface Wish {
  name: string;
  run?: string;
  /** Asked while no other worktree is being made: the branch that shall be its own. Without it HEAD is detached. */
  branch?: () => Promise<string>;
}

export interface Cleaned {
  removed: string[];
  kept: { name: string; why: string }[];
}

/** At HEAD's commit. Its branch is made with it, so that two starts at once never take the same. */
export async function createWorktree({ name, run, branch, ...place }: WorktreePlace & Wish): Promise<MadeWorktree> {
  const checked = checkedName(name);
  const wish = { name: checked, ...(run === undefined ? {} : { run }), ...(branch === undefined ? {} : { branch }) };
  const alone = async <T>(work: () => Promise<T>): Promise<T> =>
    await withLock(repositoryLayout(place).lock, work, { waitMs: START_WAIT_MS });
  const made = await alone(async () => await create(place, wish));
  return { ...made, undo: async () => await alone(async () => await made.undo()) };
}

/** Those that pawl made: the user may keep others in the same place. */
export async function listWorktrees(place: WorktreePlace): Promise<Worktree[]> {
  const { repository, environment } = place;
  const home = homeOf(repository);
  const result = await userGit(["worktree", "list", "--porcelain", "-z"], { cwd: repository, environment });
  const records = result.stdout.toString("utf8").split("\0\0").filter(Boolean);
  const made = records.map(parseRecord).filter(({ path }) => dirname(path) === home);
  return made.flatMap((worktree) => {
    const mark = markOf(place, worktree.name);
    return existsSync(mark) ? [{ ...worktree, run: readFileSync(mark, "utf8").trim() || undefined }] : [];
  });
}

interface Cleaning {
  /** Only these; a name that is none of pawl's is refused. */
  names?: readonly string[];
  force?: boolean;
  /** Why a worktree is still needed, beyond what is in it; not asked with force. */
  needed?: (worktree: Worktree) => Promise<string | undefined>;
}

/** Removes worktrees whose work is safe elsewhere: on a branch, nothing uncommitted, nobody working there. */
export async function cleanWorktrees(request: WorktreePlace & Cleaning): Promise<Cleaned> {
  return await withLock(repositoryLayout(request).lock, async () => await clean(request));
}

async function create(place: WorktreePlace, { name, run = "", branch }: Wish): Promise<MadeWorktree> {
  const { repository, environment } = place;
  const facts = await inspectRepository(repository, { environment });
  if (facts.head.is === "unborn")
    throw new UsageError("a repository without a commit cannot have a worktree", { hint: "Make a first commit." });
  const path = worktreePath(repository, name);
  await checkFilters(repository, environment);
  const own = await branch?.();
  const isNew = own !== undefined && !(await hasBranch(place, own));
  mkdirSync(dirname(path), { recursive: true });
  const { commit } = facts.head;
  const added = await userGit(["worktree", "add", "--quiet", ...whereFrom({ own, isNew, path, commit })], {
    cwd: repository,
    environment,
  });
  const undo = async (): Promise<void> => {
    await remove(place, path);
    rmSync(markOf(place, name), { force: true });
    removeIfEmpty(dirname(path));
    if (!isNew) return;
    await userGit(["update-ref", "-d", `refs/heads/${own}`, commit], { cwd: repository, environment });
  };
  if (added.code !== 0) {
    await undo();
    throw new UsageError(`the worktree could not be made: ${added.stderr.trim()}`, {
      hint: "See `git worktree list`.",
    });
  }
  const warnings = await furnish(place, { name, run, path }).catch(async (error: unknown) => {
    await undo();
    throw notMade(error);
  });
  const made = { name, path: realpathSync(path), commit, branch: own ?? null, run: run === "" ? undefined : run };
  return { ...made, warnings, undo };
}

/** The folder of all worktrees, where this was the only one. */
function removeIfEmpty(dir: string): void {
  try {
    rmdirSync(dir);
  } catch {
    // There are others in it, or it is gone already.
  }
}

async function furnish(
  place: WorktreePlace,
  { name, run, path }: { name: string; run: string; path: string },
): Promise<string[]> {
  makePrivateDir(repositoryLayout(place).worktrees);
  writeDurably(markOf(place, name), run);
  return await copyIncluded(place, path);
}

/** One line of what the system refused. */
export function notMade(error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error)) return error;
  return new UsageError(`the worktree could not be furnished, and is gone again: ${error.message}`, {
    hint: "See to that file, the permissions and the disk space; `.worktreeinclude` names what is copied.",
    cause: error,
  });
}

interface Added {
  own: string | undefined;
  isNew: boolean;
  path: string;
  commit: string;
}

function whereFrom({ own, isNew, path, commit }: Added): string[] {
  if (own === undefined) return ["--detach", "--", path, commit];
  return isNew ? ["-b", own, "--", path, commit] : ["--", path, own];
}

async function hasBranch({ repository, environment }: WorktreePlace, name: string): Promise<boolean> {
  const args = ["rev-parse", "-q", "--verify", `refs/heads/${name}`];
  return (await userGit(args, { cwd: repository, environment })).code === 0;
}

function parseRecord(record: string): Omit<Worktree, "run"> {
  const lines = record.split("\0");
  const valueOf = (key: string) => lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
  const path = valueOf("worktree") ?? "";
  const branch = valueOf("branch")?.replace(/^refs\/heads\//, "") ?? null;
  return { name: basename(path), path, commit: valueOf("HEAD") ?? "", branch };
}

/** Only this one: `prune` would also drop what the user has on a disk that is not mounted now. */
async function remove({ repository, environment }: WorktreePlace, path: string): Promise<void> {
  rmSync(path, { recursive: true, force: true });
  await userGit(["worktree", "remove", "--force", "--", path], { cwd: repository, environment });
}

function markOf(place: WorktreePlace, name: string): string {
  return join(repositoryLayout(place).worktrees, name);
}

async function clean({ names, force = false, needed, ...place }: WorktreePlace & Cleaning): Promise<Cleaned> {
  const result: Cleaned = { removed: [], kept: [] };
  const all = await listWorktrees(place);
  const unknown = names?.find((asked) => !all.some(({ name }) => name === asked));
  if (unknown !== undefined)
    throw new UsageError(`pawl made no worktree called ${JSON.stringify(unknown)} here`, {
      hint: "`pawl worktrees list` shows them.",
    });
  for (const worktree of all) {
    if (names?.includes(worktree.name) === false) continue;
    const why = (await reasonToKeep(place, { worktree, force })) ?? (force ? undefined : await needed?.(worktree));
    if (why !== undefined) {
      result.kept.push({ name: worktree.name, why });
      continue;
    }
    await remove(place, worktree.path);
    rmSync(markOf(place, worktree.name), { force: true });
    result.removed.push(worktree.name);
  }
  return result;
}

/** Where a worktree of that name will be; UsageError when there is one, or can be none. */
export function worktreePath(repository: string, name: string): string {
  const path = join(homeOf(repository), checkedName(name));
  if (!existsSync(path)) return path;
  throw new UsageError(`the worktree ${path} exists already`, {
    hint: "Give another name, or remove it with `pawl worktrees clean`.",
  });
}

function homeOf(repository: string): string {
  const real = realpathSync(repository);
  return join(dirname(real), `${basename(real)}-worktrees`);
}

function checkedName(name: string): string {
  if (isBranchName(name) && !name.includes("/") && name.length <= MAX_NAME_CHARACTERS) return name;
  throw new UsageError(`${JSON.stringify(name)} cannot be a worktree's name`, { hint: "Use letters, digits and '-'." });
}
