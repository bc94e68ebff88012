/**
 * pawl's own repository beside the user's. It borrows nothing: what it holds was copied in through `index-pack`, which
 * re-hashes every object, so neither the user's `gc` nor an agent's forged object can reach a snapshot.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import { makePrivateDir, writeDurably } from "../platform/files.ts";
import { pipe, type Git } from "./git.ts";
import type { LaneLayout } from "./layout.ts";
import { withLock } from "./lock.ts";
import { readLoose, readRef, writeRef, type ObjectFormat } from "./objects.ts";

/** The base of the run before: what it shares with the next base is not copied again. */
const LAST_BASE = "refs/pawl-last-base";
/** Fails where something of the commit that follows is missing. */
const ALL_OF = ["rev-list", "--objects", "--quiet", "--no-walk"];

export function initPrivateRepository(lane: Pick<LaneLayout, "privateGit">, format: ObjectFormat): void {
  const git = lane.privateGit;
  for (const dir of ["objects/info", "objects/pack", "refs/heads", "info"]) makePrivateDir(join(git, dir));
  if (existsSync(join(git, "HEAD"))) return;
  const extension = format === "sha1" ? "" : "[extensions]\n\tobjectformat = sha256\n";
  const version = format === "sha1" ? 0 : 1;
  writeDurably(join(git, "config"), `[core]\n\trepositoryformatversion = ${version}\n\tbare = true\n${extension}`);
  writeDurably(join(git, "HEAD"), "ref: refs/heads/none\n");
}

/** `view` names the lane's git with the private objects; `userObjects` is only ever read through `pack-objects`. */
interface CopyPlaces {
  lane: LaneLayout;
  view: Git;
  privateGit: Git;
  userObjects: string;
}

/** One commit with its whole tree, without its history. `isBase`: the next run's base will probably share much with it. */
export async function copyCommit(commit: string, places: CopyPlaces, { isBase = true } = {}): Promise<void> {
  const { lane } = places;
  if ((await whyIncomplete(commit, places)) === undefined) return await cutHistory([commit], lane);
  await cutHistory([commit], lane);
  const before = isBase ? readRef(lane.privateGit, LAST_BASE) : undefined;
  let why = before === undefined ? "" : await copyOne(commit, { beside: before, places }).catch(String);
  // The base before may be gone from the user's repository.
  if (why !== undefined) why = await copyOne(commit, { places });
  if (why !== undefined)
    throw new TerminalError(
      `the repository's commit ${commit} is not whole: an object is missing or does not match its name (${why})`,
      {
        hint: "Run `git fsck` in the repository; in a partial clone fetch all files first.",
      },
    );
  if (!isBase) return;
  // Runs of one repository that begin at the same time all write it.
  await withLock(lane.lock, async () => await writeRef(lane.privateGit, { name: LAST_BASE, oid: commit }));
}

/**
 * Without what it shares with a commit that is here. That one's history is cut too: it may be a later one, which would
 * reach this. Returns why it is not whole.
 */
async function copyOne(
  commit: string,
  { beside, places }: { beside?: string; places: CopyPlaces },
): Promise<string | undefined> {
  const have = beside === undefined ? [] : [beside];
  const lines = [...[commit, ...have].map((one) => `--shallow ${one}`), commit, ...have.map((one) => `^${one}`)];
  await copyPack(`${lines.join("\n")}\n`, places);
  return await whyIncomplete(commit, places);
}

/** Every commit of `tip` that `known` does not reach, with trees and files. */
export async function copyHistory({ tip, known }: { tip: string; known: string }, places: CopyPlaces): Promise<void> {
  await copyPack(`${tip}\n^${known}\n`, places, ["--revs", "--thin"]);
}

/** Objects by name. */
export async function copyObjects(oids: readonly string[], places: CopyPlaces): Promise<void> {
  if (oids.length > 0) await copyPack(`${oids.join("\n")}\n`, places, []);
}

async function copyPack(input: string, places: CopyPlaces, how = ["--revs", "--thin", "--shallow"]): Promise<void> {
  await pipe(
    { git: places.view.at({ objects: places.userObjects }), args: ["pack-objects", "-q", "--stdout", ...how], input },
    { git: places.privateGit, args: ["index-pack", "--stdin", "--fix-thin"] },
  );
}

/** In git's words; undefined when all of it is there. */
async function whyIncomplete(commit: string, { lane, privateGit }: CopyPlaces): Promise<string | undefined> {
  if (readRef(lane.privateGit, LAST_BASE) === commit) return undefined;
  if (isEmpty(lane.privateGit)) return "nothing is there";
  const { code, stderr } = await privateGit.run([...ALL_OF, commit]);
  return code === 0 ? undefined : stderr.trim() || `git ended with ${code}`;
}

/** Whether a repository has this commit with all its files. */
export async function isWhole(commit: string, git: Git): Promise<boolean> {
  return (await git.run([...ALL_OF, commit])).code === 0;
}

/** As it was made: a git need not be asked. */
function isEmpty(gitDir: string): boolean {
  const objects = join(gitDir, "objects");
  return readdirSync(objects).length === 2 && readdirSync(join(objects, "pack")).length === 0;
}

/** Tells git that these commits' parents are not here on purpose. */
export async function cutHistory(commits: readonly string[], lane: LaneLayout): Promise<void> {
  const path = join(lane.privateGit, "shallow");
  const known = () => new Set(existsSync(path) ? readFileSync(path, "latin1").split("\n").filter(Boolean) : []);
  if (commits.every((commit) => known().has(commit))) return;
  await withLock(lane.lock, () => {
    writeDurably(path, [...new Set([...known(), ...commits])].map((commit) => `${commit}\n`).join(""));
  });
}

/** Parents and tree of a commit of the private repository. */
export async function readCommit(oid: string, privateGit: Git): Promise<CommitHead & { message: string }> {
  const loose = readLoose(join(privateGit.place.gitDir, "objects"), oid);
  const text = loose?.body.toString("utf8") ?? (await privateGit.need(["cat-file", "commit", oid]));
  return { ...parseCommit(text), message: text.slice(text.indexOf("\n\n") + 2) };
}

interface CommitHead {
  tree: string;
  parents: string[];
}

export function parseCommit(text: string): CommitHead {
  const head = text.slice(0, text.indexOf("\n\n")).split("\n");
  const valuesOf = (key: string) =>
    head.filter((line) => line.startsWith(`${key} `)).map((l) => l.slice(key.length + 1));
  return { tree: valuesOf("tree")[0] ?? "", parents: valuesOf("parent") };
}
