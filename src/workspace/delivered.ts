/**
 * What has become of a delivered commit in the user's repository, for whoever does not take the record's word: is it
 * there, is it what its name says, and do branches hold it. Objects are hashed anew, for git itself believes a file's name.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TerminalError } from "../errors.ts";
import { branchTip } from "./handover.ts";
import { pipe, type Git } from "./git.ts";
import { initPrivateRepository, parseCommit } from "./private-repository.ts";
import { laneOf, type RunPlace } from "./runs.ts";

const MAX_HOLDERS = 5;

export interface Delivered {
  /** `forged`: an object of it is missing or is not what its name says. */
  is: "whole" | "missing" | "forged";
  /** Of the commit, where it can be read. */
  tree: string | undefined;
  branch:
    | { is: "at" }
    /** It went on from there. */
    | { is: "ahead"; tip: string; commits: number }
    /** It was set to something that does not hold the commit. */
    | { is: "elsewhere"; tip: string }
    | { is: "gone" };
  /** Branches and tags that hold it; a few. */
  heldBy: string[];
}

interface Asked {
  commit: string;
  branch: string | null;
  /** Where the run began: objects from before are not looked at. */
  base: string | null;
}

/** TerminalError when the user's repository is not where it was. */
export async function delivered(place: RunPlace, { commit, branch, base }: Asked): Promise<Delivered> {
  const lane = laneOf(place);
  const { commonDir } = lane.prepared;
  // The git directory of a worktree goes with it; branches are in the common one.
  const user = lane.user.at({ gitDir: commonDir, commonDir: undefined });
  if ((await user.run(["rev-parse", "--git-dir"])).code !== 0)
    throw new TerminalError(`${commonDir} is no git repository any more`, { hint: "Put the repository back." });
  const read = await user.run(["cat-file", "commit", commit]);
  const there = read.code === 0;
  const tip = branch === null ? undefined : await branchTip({ ...lane, user }, branch);
  return {
    is: !there
      ? "missing"
      : (await isWhole(user, { commit, base, format: lane.prepared.objectFormat }))
        ? "whole"
        : "forged",
    tree: there ? parseCommit(read.stdout.toString("utf8")).tree : undefined,
    branch: tip === undefined ? { is: "gone" } : await stand(user, { commit, tip }),
    heldBy: there ? await holders(user, commit) : [],
  };
}

async function stand(user: Git, { commit, tip }: { commit: string; tip: string }): Promise<Delivered["branch"]> {
  if (tip === commit) return { is: "at" };
  const holds = (await user.run(["merge-base", "--is-ancestor", commit, tip])).code === 0;
  if (!holds) return { is: "elsewhere", tip };
  const commits = Number(await user.need(["rev-list", "--count", `${commit}..${tip}`]));
  return { is: "ahead", tip, commits };
}

async function holders(user: Git, commit: string): Promise<string[]> {
  const args = ["for-each-ref", `--count=${MAX_HOLDERS}`, "--format=%(refname:short)", `--contains=${commit}`];
  const found = await user.run([...args, "refs/heads", "refs/tags", "refs/remotes"]);
  return found.stdout.toString("utf8").split("\n").filter(Boolean);
}

/** Everything since the base through `index-pack`, which names objects by their content; then each must be there. */
async function isWhole(
  user: Git,
  { commit, base, format }: { commit: string; base: string | null; format: "sha1" | "sha256" },
): Promise<boolean> {
  const range = `${commit}\n${base === null ? "" : `^${base}\n`}`;
  const listed = await user.run(["rev-list", "--objects", "--no-object-names", "--stdin"], { input: range });
  if (listed.code !== 0) return false;
  const place = mkdtempSync(join(tmpdir(), "pawl-rehash-"));
  try {
    const gitDir = join(place, "git");
    initPrivateRepository({ privateGit: gitDir }, format);
    const anew = user.at({ gitDir, sync: "none" });
    const args = ["pack-objects", "-q", "--stdout", "--revs", "--no-reuse-delta"];
    await pipe({ git: user, args, input: range }, { git: anew, args: ["index-pack", "--stdin"] });
    const found = await anew.need(["cat-file", "--batch-check"], { input: listed.stdout });
    return !found.split("\n").some((line) => line.endsWith(" missing"));
  } catch (error) {
    // An object that cannot be read or inflated.
    if (error instanceof TerminalError) return false;
    throw error;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
