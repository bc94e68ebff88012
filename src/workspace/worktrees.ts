/**
 * Worktrees of the user's repository for runs that must not share their directory. They lie beside the repository in
 * `<repository>-worktrees/`; making and removing them is serialised, for git's own commands race.
 */
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../errors.ts";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import { isBranchName } from "./branch.ts";
import { openGit, type Git } from "./git.ts";
import { inspectRepository, type RepositoryFacts } from "./inspect.ts";
import { laneLayout, repositoryLayout } from "./layout.ts";
import { withLock, workspaceHolder } from "./lock.ts";
import { indexNumbers } from "./numbers.ts";
import { look, NO_CAPS, scan } from "./scan.ts";
import { checkFilters, writeNeutralView } from "./settings.ts";
import { trustedPath, userGit, type Environment } from "./user-git.ts";
import { copyIndex } from "./user-index.ts";

const INCLUDE_FILE = ".worktreeinclude";
const MAX_NAME_CHARACTERS = 64;

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
}

export interface Cleaned {
  removed: string[];
  kept: { name: string; why: string }[];
}

/** Detached at HEAD's commit: the run makes its own branch. */
export async function createWorktree({ name, ...place }: WorktreePlace & { name: string }): Promise<Worktree> {
  const checked = checkedName(name);
  return await withLock(repositoryLayout(place).lock, async () => await create(place, checked));
}

/** Those that pawl made: the user may keep others in the same place. */
export async function listWorktrees(place: WorktreePlace): Promise<Worktree[]> {
  const { repository, environment } = place;
  const home = homeOf(repository);
  const result = await userGit(["worktree", "list", "--porcelain", "-z"], { cwd: repository, environment });
  const records = result.stdout.toString("utf8").split("\0\0").filter(Boolean);
  const made = records.map(parseRecord).filter(({ path }) => dirname(path) === home);
  return made.filter(({ name }) => existsSync(markOf(place, name)));
}

/** Removes worktrees whose work is safe elsewhere: on a branch, nothing uncommitted, nobody working there. */
export async function cleanWorktrees({
  names,
  force = false,
  ...place
}: WorktreePlace & { names?: readonly string[]; force?: boolean }): Promise<Cleaned> {
  const wanted = (name: string) => names === undefined || names.includes(name);
  return await withLock(repositoryLayout(place).lock, async () => await clean(place, { wanted, force }));
}

async function create(place: WorktreePlace, name: string): Promise<Worktree> {
  const { repository, environment } = place;
  const facts = await inspectRepository(repository, { environment });
  if (facts.head.is === "unborn")
    throw new UsageError("a repository without a commit cannot have a worktree", { hint: "Make a first commit." });
  const path = join(homeOf(repository), name);
  if (existsSync(path))
    throw new UsageError(`the worktree ${path} exists already`, {
      hint: "Give another name, or remove it with `pawl worktrees clean`.",
    });
  await checkFilters(repository, environment);
  mkdirSync(dirname(path), { recursive: true });
  const added = await userGit(["worktree", "add", "--quiet", "--detach", "--", path, facts.head.commit], {
    cwd: repository,
    environment,
  });
  if (added.code !== 0) {
    await remove(place, path);
    throw new UsageError(`the worktree could not be made: ${added.stderr.trim()}`, {
      hint: "See `git worktree list`.",
    });
  }
  makePrivateDir(repositoryLayout(place).worktrees);
  writeDurably(markOf(place, name), "");
  await copyIncluded(place, path);
  return { name, path: realpathSync(path), commit: facts.head.commit, branch: null };
}

function parseRecord(record: string): Worktree {
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

async function clean(
  place: WorktreePlace,
  { wanted, force }: { wanted: (name: string) => boolean; force: boolean },
): Promise<Cleaned> {
  const result: Cleaned = { removed: [], kept: [] };
  for (const worktree of await listWorktrees(place)) {
    if (!wanted(worktree.name)) continue;
    const why = await reasonToKeep(place, { worktree, force });
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

async function reasonToKeep(
  place: WorktreePlace,
  { worktree, force }: { worktree: Worktree; force: boolean },
): Promise<string | undefined> {
  if (await isLocked(place, worktree)) return "it is locked; see `git worktree unlock`";
  if (!existsSync(worktree.path)) return undefined;
  const holder = workspaceHolder({ path: worktree.path, stateDir: place.stateDir });
  if (holder !== undefined) return `pid ${holder.pid} works in it`;
  if (force) return undefined;
  if (worktree.branch === null && !(await isOnBranch(place, worktree.commit))) return "its commit is on no branch";
  const facts = await inspectRepository(worktree.path, { environment: place.environment });
  if (facts.inProgress !== null) return `a ${facts.inProgress} is in progress`;
  return await uncommittedIn(worktree, { facts, environment: place.environment });
}

/** git would keep it as well. */
async function isLocked({ repository, environment }: WorktreePlace, { path }: Worktree): Promise<boolean> {
  const result = await userGit(["worktree", "list", "--porcelain", "-z"], { cwd: repository, environment });
  const records = result.stdout.toString("utf8").split("\0\0");
  const lines = records.map((record) => record.split("\0")).find(([first]) => first === `worktree ${path}`) ?? [];
  return lines.some((line) => line === "locked" || line.startsWith("locked "));
}

async function isOnBranch({ repository, environment }: WorktreePlace, commit: string): Promise<boolean> {
  const found = await userGit(["for-each-ref", "--count=1", `--contains=${commit}`, "refs/heads/", "refs/remotes/"], {
    cwd: repository,
    environment,
  });
  return found.code === 0 && found.stdout.length > 0;
}

/** An agent wrote here, so no filter is run; what merely looks changed is kept. */
async function uncommittedIn(
  { path, commit }: Worktree,
  { facts, environment }: { facts: RepositoryFacts; environment: Environment },
): Promise<string | undefined> {
  const home = mkdtempSync(join(tmpdir(), "pawl-clean-"));
  try {
    const layout = laneLayout({ stateDir: home, repository: path, run: "clean", lane: "main" });
    writeNeutralView(layout, { facts, environment });
    copyIndex(join(facts.gitDir, "index"), layout.index);
    const git = openGit({
      gitDir: layout.view,
      workTree: path,
      objects: join(facts.commonDir, "objects"),
      index: layout.index,
      home: layout.home,
      globalConfig: layout.globalConfig,
      path: trustedPath(environment, path),
    });
    const found = await scan(git, NO_CAPS);
    const different = found.update.length + found.drop.length + found.nested.length + found.warnings.length;
    if (different > 0 || (await indexNumbers(git, commit, { counted: false })).changes.length > 0)
      return "it has uncommitted changes";
    // Their commits and changes are nowhere else.
    return (await hasSubmodule(git, path)) ? "a submodule is checked out in it" : undefined;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

async function hasSubmodule(git: Git, root: string): Promise<boolean> {
  const listed = (await git.run(["ls-files", "-z", "-s"])).stdout.toString("latin1").split("\0");
  const links = listed.filter((line) => line.startsWith("160000 ")).map((line) => line.slice(line.indexOf("\t") + 1));
  return links.some((link) => look(root, `${link}/.git`) !== undefined);
}

/** Ignored files that `.worktreeinclude` names (its syntax is that of .gitignore); links are not followed. */
async function copyIncluded({ repository, environment }: WorktreePlace, path: string): Promise<void> {
  const include = join(repository, INCLUDE_FILE);
  if (lstatSync(include, { throwIfNoEntry: false })?.isFile() !== true) return;
  const ignored = ["ls-files", "-z", "-o", "-i"];
  const [named, all] = await Promise.all([
    userGit([...ignored, `--exclude-from=${include}`], { cwd: repository, environment }),
    userGit([...ignored, "--exclude-standard"], { cwd: repository, environment }),
  ]);
  const names = (result: { stdout: Buffer }) => result.stdout.toString("utf8").split("\0").filter(Boolean);
  const allowed = new Set(names(all));
  for (const name of names(named)) {
    if (!allowed.has(name) || lstatSync(join(repository, name), { throwIfNoEntry: false })?.isFile() !== true) continue;
    mkdirSync(dirname(join(path, name)), { recursive: true });
    cpSync(join(repository, name), join(path, name), { errorOnExist: false, force: false });
  }
}

function homeOf(repository: string): string {
  const real = realpathSync(repository);
  return join(dirname(real), `${basename(real)}-worktrees`);
}

function checkedName(name: string): string {
  if (isBranchName(name) && !name.includes("/") && name.length <= MAX_NAME_CHARACTERS) return name;
  throw new UsageError(`${JSON.stringify(name)} cannot be a worktree's name`, { hint: "Use letters, digits and '-'." });
}
