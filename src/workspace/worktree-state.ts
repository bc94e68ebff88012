/** What is in a worktree that a person would miss: somebody at work, commits on no branch, uncommitted changes. */
import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openGit, type Git } from "./git.ts";
import { inspectRepository, type RepositoryFacts } from "./inspect.ts";
import { laneLayout } from "./layout.ts";
import { workspaceHolder } from "./lock.ts";
import { indexNumbers } from "./numbers.ts";
import { look, NO_CAPS, scan } from "./scan.ts";
import { writeNeutralView } from "./settings.ts";
import { trustedPath, userGit, type Environment } from "./user-git.ts";
import { copyIndex } from "./user-index.ts";
import type { Worktree, WorktreePlace } from "./worktrees.ts";

/** Counting stops here: for people, "at least" is enough. */
const MAX_COUNTED_FILES = 200_000;

export interface WorktreeState {
  /** pid of the driver that works in it. */
  inUse: number | undefined;
  /** Why it would not be removed without force; undefined when its work is safe elsewhere. */
  unsaved: string | undefined;
  locked: boolean;
  bytes: number;
  /** There was too much to count it all. */
  atLeast: boolean;
}

export async function stateOf(place: WorktreePlace, worktree: Worktree): Promise<WorktreeState> {
  const [locked, unsaved] = await Promise.all([isLocked(place, worktree), unsavedIn(place, worktree)]);
  return { inUse: holderOf(place, worktree), unsaved, locked, ...sizeOf(worktree.path) };
}

export async function reasonToKeep(
  place: WorktreePlace,
  { worktree, force }: { worktree: Worktree; force: boolean },
): Promise<string | undefined> {
  if (await isLocked(place, worktree)) return "it is locked; see `git worktree unlock`";
  if (!existsSync(worktree.path)) return undefined;
  const pid = holderOf(place, worktree);
  if (pid !== undefined) return `pid ${pid} works in it`;
  return force ? undefined : await unsavedIn(place, worktree);
}

function holderOf({ stateDir }: WorktreePlace, { path }: Worktree): number | undefined {
  return workspaceHolder({ path, stateDir })?.pid;
}

async function unsavedIn(place: WorktreePlace, worktree: Worktree): Promise<string | undefined> {
  if (!existsSync(worktree.path)) return undefined;
  if (worktree.branch === null && !(await isOnBranch(place, worktree.commit))) return "its commit is on no branch";
  const facts = await inspectRepository(worktree.path, { environment: place.environment });
  if (facts.inProgress !== null) return `a ${facts.inProgress} is in progress`;
  return await uncommittedIn(worktree, { facts, environment: place.environment });
}

function sizeOf(path: string): { bytes: number; atLeast: boolean } {
  let bytes = 0;
  let files = 0;
  const folders = [path];
  for (let dir = folders.pop(); dir !== undefined; dir = folders.pop()) {
    for (const entry of readable(dir)) {
      const child = join(dir, entry.name);
      if (entry.isDirectory()) folders.push(child);
      else bytes += lstatSync(child, { throwIfNoEntry: false })?.size ?? 0;
      if ((files += 1) >= MAX_COUNTED_FILES) return { bytes, atLeast: true };
    }
  }
  return { bytes, atLeast: false };
}

function readable(dir: string) {
  try {
    return readdirSync(dir, { withFileTypes: true });
  } catch {
    return [];
  }
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
