/**
 * Submodules in the verify tree: the link in a judged tree is replaced by the files of the commit it names, so that
 * checks see what a clone with submodules would. Objects are copied from the submodule's repository and re-hashed.
 */
import { existsSync, realpathSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { TerminalError } from "../errors.ts";
import type { Git } from "./git.ts";
import { placesOf, type Lane } from "./lane.ts";
import { copyCommit } from "./private-repository.ts";
import { look, shown, type RawPath } from "./scan.ts";
import { isWithin, userGit, type Environment } from "./user-git.ts";

/** Where the objects of a submodule were before the first turn; null when it was never fetched here. */
export interface Submodule {
  path: RawPath;
  objects: string | null;
}

const LINK = "160000";
const MAX_DEPTH = 8;

interface Finding {
  workspace: string;
  commonDir: string;
  environment: Environment;
}

/** Also those inside of checked-out ones. */
export async function findSubmodules(links: readonly RawPath[], about: Finding): Promise<Submodule[]> {
  const found: Submodule[] = [];
  const names = links.length === 0 ? new Map<RawPath, string>() : await namesByPath(about);
  for (const queue = links.map((path) => ({ path, depth: 1 })); queue.length > 0;) {
    const { path = "", depth = 1 } = queue.shift() ?? {};
    const objects = await checkedOut(path, about);
    found.push({ path, objects: objects ?? fetched(names.get(path), about) ?? null });
    const inner = objects === undefined || depth >= MAX_DEPTH ? [] : await linksBelow(path, about);
    queue.push(...inner.map((below) => ({ path: below, depth: depth + 1 })));
  }
  return found;
}

async function linksBelow(path: RawPath, { workspace, environment }: Finding): Promise<RawPath[]> {
  const cwd = join(workspace, Buffer.from(path, "latin1").toString("utf8"));
  const listed = await userGit(["ls-files", "-z", "-s"], { cwd, environment });
  return linksOf(listed.stdout).map((link) => `${path}/${link.path}`);
}

/** For people, before anything is spent. */
export function missingWords(submodules: readonly Submodule[]): string[] {
  const missing = submodules.filter(({ objects }) => objects === null).map(({ path }) => shown(path));
  if (missing.length === 0) return [];
  return [
    `checks do not see the files of ${missing.join(", ")}: not fetched here; \`git submodule update --init\` before the next run helps`,
  ];
}

async function checkedOut(path: RawPath, { workspace, environment }: Finding): Promise<string | undefined> {
  if (look(workspace, `${path}/.git`) === undefined) return undefined;
  const cwd = join(workspace, Buffer.from(path, "latin1").toString("utf8"));
  if (!existsSync(cwd)) return undefined;
  const found = await userGit(["rev-parse", "--git-common-dir"], { cwd, environment });
  return found.code === 0 ? objectsIn(resolve(cwd, found.stdout.toString("utf8").trimEnd())) : undefined;
}

/** In a worktree submodules are not checked out, but the repository may hold them. */
function fetched(name: string | undefined, { commonDir }: Finding): string | undefined {
  if (name === undefined) return undefined;
  const modules = join(commonDir, "modules");
  const dir = resolve(modules, name);
  return isWithin(dir, modules) ? objectsIn(dir) : undefined;
}

function objectsIn(gitDir: string): string | undefined {
  const objects = join(gitDir, "objects");
  return existsSync(objects) ? realpathSync(objects) : undefined;
}

async function namesByPath({ workspace, environment }: Finding): Promise<Map<RawPath, string>> {
  const args = [
    "config",
    "-z",
    "--no-includes",
    "-f",
    ".gitmodules",
    "--get-regexp",
    String.raw`^submodule\..*\.path$`,
  ];
  const listed = (await userGit(args, { cwd: workspace, environment })).stdout.toString("latin1");
  const pairs = listed.split("\0").flatMap((entry): [RawPath, string][] => {
    const [key = "", path] = entry.split("\n", 2);
    return path === undefined ? [] : [[path, key.slice("submodule.".length, -".path".length)]];
  });
  return new Map(pairs);
}

export interface Composed {
  /** What is written to disk for the judged tree. */
  tree: string;
  /** Links whose files are not there. */
  missing: RawPath[];
}

/** Remembers the last one: a tree is checked by several checks in a row. */
export function withSubmodules(lane: Lane): (tree: string) => Promise<Composed> {
  const { submodules = [] } = lane.prepared;
  let last: { of: string; composed: Composed } | undefined;
  return async (tree) => {
    if (submodules.length === 0) return { tree, missing: [] };
    if (last?.of !== tree) last = { of: tree, composed: await compose(lane, { tree, submodules }) };
    return last.composed;
  };
}

async function compose(
  lane: Lane,
  { tree, submodules }: { tree: string; submodules: readonly Submodule[] },
): Promise<Composed> {
  const index = join(lane.layout.dir, "submodules.index");
  for (const left of [index, `${index}.lock`]) rmSync(left, { force: true });
  const git = lane.view.at({ index, sync: "few" });
  await git.need(["read-tree", tree]);
  const missing = new Set<RawPath>();
  // The files of one may hold links to others.
  for (
    let next: Link | undefined;
    (next = (await linksIn(git)).find(({ path }) => !missing.has(path))) !== undefined;
  ) {
    const { path, commit } = next;
    const objects = submodules.find((one) => one.path === path)?.objects ?? null;
    if (objects === null || !(await isCopied(lane, { commit, objects }))) {
      missing.add(path);
      continue;
    }
    await git.need(["update-index", "--force-remove", "-z", "--stdin"], { input: Buffer.from(`${path}\0`, "latin1") });
    const name = Buffer.from(path, "latin1").toString("utf8");
    await git.need(["read-tree", `--prefix=${name}/`, `${commit}^{tree}`]);
  }
  return { tree: await git.need(["write-tree"]), missing: [...missing] };
}

interface Link {
  path: RawPath;
  commit: string;
}

async function linksIn(git: Git): Promise<Link[]> {
  return linksOf((await git.run(["ls-files", "-z", "-s"])).stdout);
}

function linksOf(listed: Buffer): Link[] {
  return listed
    .toString("latin1")
    .split("\0")
    .filter((line) => line.startsWith(`${LINK} `))
    .map((line) => ({ path: line.slice(line.indexOf("\t") + 1), commit: line.split(" ")[1] ?? "" }));
}

/** A commit that is not whole, or not there, is not shown; on a full disk that is told. */
async function isCopied(lane: Lane, { commit, objects }: { commit: string; objects: string }): Promise<boolean> {
  try {
    await copyCommit(commit, { ...placesOf(lane), userObjects: objects }, { isBase: false });
    return true;
  } catch (error) {
    if (error instanceof TerminalError) return false;
    throw error;
  }
}
