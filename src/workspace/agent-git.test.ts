/** An agent that uses git itself, well or badly: its work counts, nothing is lost, and nobody has to clean up. */
import { spawn } from "node:child_process";
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import type { Accepted, Workspace } from "../ports.ts";

const AT = 1_700_000_000_000;
let place: Scratch;
let workspace: Workspace;

beforeEach(async () => {
  place = scratch();
  workspace = await openFor(place);
  await workspace.prepare();
  place.write("first.txt", "1\n");
  await iterate(1);
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

async function iterate(n: number): Promise<Accepted> {
  const taken = await workspace.snapshot(n, { parent: n === 1 ? null : n - 1, message: `s${n}`, at: AT + n });
  return await workspace.accept({ tree: taken.judged, message: `iteration ${n}`, at: AT + n, snapshot: n });
}
const subjects = () => place.git("log", "--format=%s", "main..pawl/task").split("\n");
const isClean = () => place.git("status", "--porcelain", "-b") === "## pawl/task";

describe("an agent that uses git itself", () => {
  it("commits on the branch: its commits are adopted as parents", async () => {
    place.write("second.txt", "2\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "by the agent");
    place.write("third.txt", "3\n");
    const tip = place.git("rev-parse", "HEAD");
    const accepted = await iterate(2);
    expect(accepted).toMatchObject({ adopted: [tip], warnings: [] });
    expect(subjects()).toEqual(["iteration 2", "by the agent", "iteration 1"]);
    expect(isClean()).toBe(true);
    place.write("fourth.txt", "4\n");
    expect((await iterate(3)).adopted).toEqual([]);
    expect(place.git("fsck", "--full", "--strict", "--no-dangling")).toBe("");
    expect(place.privateGit("fsck", "--full", "--strict", "--no-dangling")).toBe("");
  });

  it("commits everything: the branch simply moves on, with nothing to add", async () => {
    place.write("second.txt", "2\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "by the agent");
    const accepted = await iterate(2);
    expect(accepted.commit).toBe(place.git("rev-parse", "pawl/task"));
    expect(subjects()).toEqual(["by the agent", "iteration 1"]);
  });

  it("merges another branch: the merge is adopted", async () => {
    place.git("branch", "old", "main");
    place.git("checkout", "-q", "old");
    place.write("side.txt", "s\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "side");
    place.git("checkout", "-q", "pawl/task");
    place.git("merge", "-q", "--no-edit", "old");
    place.write("second.txt");
    const accepted = await iterate(2);
    expect(accepted.conflict).toBeUndefined();
    expect(accepted.adopted).toHaveLength(2);
    expect(place.privateGit("fsck", "--full", "--no-dangling")).toBe("");
    place.write("third.txt");
    expect((await iterate(3)).conflict).toBeUndefined();
    expect(isClean()).toBe(true);
  });

  it("resets the branch back, also to before the base: the run's commits are on it again", async () => {
    place.git("reset", "-q", "--hard", "main");
    place.write("second.txt", "2\n");
    const accepted = await iterate(2);
    expect(accepted.conflict).toBeUndefined();
    expect(subjects()).toEqual(["iteration 2", "iteration 1"]);
    expect(place.git("ls-tree", "--name-only", "HEAD")).not.toContain("first.txt");
    expect(isClean()).toBe(true);
  });

  it("deletes the branch and switches away: the branch is back and HEAD on it", async () => {
    place.git("checkout", "-q", "main");
    place.git("branch", "-D", "pawl/task");
    place.git("reflog", "expire", "--expire=now", "--all");
    place.git("gc", "-q", "--prune=now");
    place.write("second.txt", "2\n");
    const accepted = await iterate(2);
    expect(accepted.warnings.join()).toContain("deleted");
    expect(subjects()).toEqual(["iteration 2", "iteration 1"]);
    expect(isClean()).toBe(true);
    expect(place.git("fsck", "--full", "--no-dangling")).toBe("");
  });

  it("commits on a branch of its own: that branch and HEAD are left, the work is on the run's branch", async () => {
    place.git("checkout", "-q", "-b", "feature");
    place.write("second.txt", "2\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "on feature");
    const accepted = await iterate(2);
    expect(accepted.warnings.join()).toContain("refs/heads/feature");
    expect(place.git("show", "pawl/task:second.txt")).toBe("2");
    expect(place.git("log", "-1", "--format=%s", "feature")).toBe("on feature");
    expect(place.git("symbolic-ref", "HEAD")).toBe("refs/heads/feature");
  });

  it("detaches HEAD at a known commit: HEAD is put back", async () => {
    place.git("checkout", "-q", "--detach");
    place.write("second.txt", "2\n");
    expect((await iterate(2)).warnings).toEqual([]);
    expect(isClean()).toBe(true);
  });

  it("rewrites the branch: both versions are kept and a person must look", async () => {
    place.write("second.txt", "2\n");
    place.git("add", "-A");
    place.git("commit", "-q", "--amend", "-m", "amended");
    const tip = place.git("rev-parse", "HEAD");
    const accepted = await iterate(2);
    expect(accepted).toMatchObject({ commit: null, conflict: "salvage/conflict-2" });
    expect(place.git("rev-parse", "pawl/task")).toBe(tip);
    expect(place.privateGit("show", "refs/pawl/r1/main/salvage/conflict-2:second.txt")).toBe("2");
    expect(place.privateGit("rev-parse", "refs/pawl/r1/main/lost/conflict-2")).toBe(tip);
    expect(place.privateGit("fsck", "--full", "--no-dangling")).toBe("");
  });

  it("puts another branch where the run's was: both works are kept and a person must look", async () => {
    place.git("checkout", "-q", "main");
    place.git("branch", "-D", "pawl/task");
    place.git("branch", "pawl/task/sub");
    place.write("second.txt", "2\n");
    expect(await iterate(2)).toMatchObject({ commit: null, conflict: "salvage/conflict-2" });
  });

  it("packs refs, prunes and repacks: nothing is noticed", async () => {
    place.git("pack-refs", "--all", "--prune");
    place.git("gc", "-q", "--prune=now");
    place.write("second.txt", "2\n");
    expect(await iterate(2)).toMatchObject({ warnings: [], adopted: [] });
    expect(isClean()).toBe(true);
  });

  it("changes the repository's settings: nothing of it counts", async () => {
    place.git("config", "core.autocrlf", "true");
    place.git("config", "core.excludesFile", "/dev/zero");
    writeFileSync(join(place.repo, ".git/info/exclude"), "*\n");
    place.write("second.txt", "2\n");
    const accepted = await iterate(2);
    expect(accepted.conflict).toBeUndefined();
    expect(place.git("show", "HEAD:second.txt")).toBe("2");
  });

  it("stages things its own way: the index is the run's again", async () => {
    place.git("rm", "-q", "--cached", "a.txt");
    place.write("second.txt", "2\n");
    await iterate(2);
    expect(isClean()).toBe(true);
    expect(place.git("ls-files")).toContain("a.txt");
  });

  it("stages content that no file has any more: it is kept under a ref, and said", async () => {
    place.write("a.txt", "staged\n");
    place.git("add", "a.txt");
    place.write("a.txt", "on disk\n");
    const { warnings } = await iterate(2);
    expect(warnings).toEqual([expect.stringContaining('"a.txt" was staged with content that the work has not')]);
    expect(place.privateGit("show", "refs/pawl/r1/main/lost/index-2:a.txt")).toBe("staged");
    expect(isClean()).toBe(true);
    place.write("a.txt", "on disk again\n");
    place.git("status");
    expect((await iterate(3)).warnings).toEqual([]);
  });

  it("tracks an ignored file by force, and untracks one: both count as with git", async () => {
    place.write("made.log", "wanted\n");
    place.git("add", "-f", "made.log");
    place.git("commit", "-qm", "by the agent");
    place.write("made.log", "wanted, changed\n");
    expect((await iterate(2)).warnings).toEqual([]);
    expect(place.git("show", "pawl/task:made.log")).toBe("wanted, changed");
    place.git("rm", "-q", "--cached", "made.log");
    await iterate(3);
    expect(place.git("ls-tree", "--name-only", "pawl/task")).not.toContain("made.log");
    expect(readFileSync(join(place.repo, "made.log"), "utf8")).toBe("wanted, changed\n");
  });

  it("or a person commits after the snapshot: that the judged tree is without it is said", async () => {
    place.write("second.txt", "2\n");
    const taken = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    place.write("fix.txt", "by a person\n");
    place.git("add", "fix.txt");
    place.git("commit", "-qm", "by a person");
    const tip = place.git("rev-parse", "HEAD");
    const accepted = await workspace.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 2 });
    expect(accepted).toMatchObject({ adopted: [tip], warnings: [expect.stringContaining('"fix.txt"')] });
    expect(place.git("status", "--porcelain")).toBe("?? fix.txt");
  });

  it("makes the branch a link to the user's: that one does not move", async () => {
    const before = place.git("rev-parse", "main");
    place.git("symbolic-ref", "refs/heads/pawl/task", "refs/heads/main");
    place.write("second.txt", "2\n");
    await iterate(2);
    expect(place.git("rev-parse", "main")).toBe(before);
    expect(place.git("show", "pawl/task:second.txt")).toBe("2");
  });

  it("puts a commit on the branch that is not whole: the work is kept and a person must look", async () => {
    const nothing = "1".repeat(40);
    place.write("tree", `100644 blob ${nothing}\thollow\n`);
    const tree = place.git("-c", "alias.hollow=!git mktree --missing < tree", "hollow");
    rmSync(join(place.repo, "tree"));
    place.git("update-ref", "HEAD", place.git("commit-tree", "-p", "HEAD", "-m", "hollow", tree));
    place.write("second.txt", "2\n");
    expect(await iterate(2)).toMatchObject({ commit: null, conflict: "salvage/conflict-2" });
    expect(place.privateGit("show", "refs/pawl/r1/main/salvage/conflict-2:second.txt")).toBe("2");
  });

  it("leaves a rebase in progress: HEAD and the index are left to it, the work is on the branch", async () => {
    place.write("second.txt", "2\n");
    await iterate(2);
    place.git("-c", "sequence.editor=sed -i -e s/^pick/edit/", "rebase", "-q", "-i", "HEAD~1");
    place.write("third.txt", "3\n");
    expect((await iterate(3)).warnings).toEqual([expect.stringContaining("a rebase is in progress")]);
    expect(place.git("status", "--porcelain", "-b")).toBe("## HEAD (no branch)\n?? third.txt");
    expect(place.git("show", "pawl/task:third.txt")).toBe("3");
  });

  it("deletes HEAD: it is on the run's branch again", async () => {
    place.git("checkout", "-q", "--detach");
    place.git("update-ref", "-d", "HEAD");
    expect(existsSync(join(place.repo, ".git/HEAD"))).toBe(false);
    place.write("second.txt", "2\n");
    expect((await iterate(2)).warnings).toEqual(["HEAD was deleted; it is on pawl/task again"]);
    expect(isClean()).toBe(true);
  });

  it("leaves a merge in progress: that is said", async () => {
    writeFileSync(join(place.repo, ".git/MERGE_HEAD"), `${place.git("rev-parse", "main")}\n`);
    place.write("second.txt", "2\n");
    expect((await iterate(2)).warnings).toEqual([expect.stringContaining("a merge is in progress")]);
  });
});

describe("an agent that takes the repository away", () => {
  const losesNothing = async () => {
    place.write("second.txt", "2\n");
    const taken = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    expect(taken.files.map(({ path }) => path)).toEqual(["second.txt"]);
    const accepted = await workspace.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 2 });
    expect(accepted).toMatchObject({ commit: null, conflict: "salvage/conflict-2" });
    expect(place.privateGit("show", "refs/pawl/r1/main/salvage/conflict-2:second.txt")).toBe("2");
    await workspace.restore(1, { salvage: "1", at: AT });
    expect(existsSync(join(place.repo, "second.txt"))).toBe(false);
    expect(readFileSync(join(place.repo, "first.txt"), "utf8")).toBe("1\n");
    return accepted.warnings.join();
  };

  it("deletes .git", async () => {
    rmSync(join(place.repo, ".git"), { recursive: true });
    expect(await losesNothing()).toContain("deleted");
  });

  it("replaces .git with a file that points elsewhere", async () => {
    const elsewhere = join(place.root, "elsewhere.git");
    renameSync(join(place.repo, ".git"), elsewhere);
    writeFileSync(join(place.repo, ".git"), `gitdir: ${elsewhere}\n`);
    const refs = () => place.gitIn(place.root, `--git-dir=${elsewhere}`, "for-each-ref");
    const before = refs();
    expect(await losesNothing()).toContain("replaced");
    expect(refs()).toBe(before);
  });

  it("leads objects or refs out of the repository by links", async () => {
    const outside = join(place.root, "outside");
    mkdirSync(outside);
    rmSync(join(place.repo, ".git/refs/heads/pawl"), { recursive: true });
    symlinkSync(outside, join(place.repo, ".git/refs/heads/pawl"));
    expect(await losesNothing()).toContain("leads out");
    expect(existsSync(join(outside, "task"))).toBe(false);
  });

  it("breaks the repository's config", async () => {
    writeFileSync(join(place.repo, ".git/config"), "[core]\n\trepositoryformatversion = 99\n");
    expect(await losesNothing()).toContain("git cannot use the repository");
  });

  it("deletes the whole workspace: an empty one, and it can be restored", async () => {
    rmSync(place.repo, { recursive: true });
    const taken = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    expect(taken.tree).toBe("4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    await workspace.restore(1, { salvage: "1", at: AT });
    expect(readFileSync(join(place.repo, "first.txt"), "utf8")).toBe("1\n");
    rmSync(place.repo, { recursive: true });
    const later = await openFor(place);
    expect((await later.snapshot(3, { parent: 1, message: "m", at: AT })).tree).toBe(taken.tree);
  });
});

describe("lock files that a dead git left in the user's repository", () => {
  it("are removed: of the index, the branch and HEAD (F10)", async () => {
    place.git("checkout", "-q", "--detach");
    const locks = [
      "index.lock",
      "HEAD.lock",
      "ORIG_HEAD.lock",
      "config.lock",
      "packed-refs.lock",
      "refs/heads/pawl/task.lock",
    ].map((name) => join(place.repo, ".git", name));
    for (const lock of locks) writeFileSync(lock, "half");
    place.write("second.txt", "2\n");
    expect((await iterate(2)).warnings).toEqual([]);
    expect(isClean()).toBe(true);
    expect(locks.filter((lock) => existsSync(lock))).toEqual([]);
  });

  it("are removed also where the branch has nothing to be moved to", async () => {
    place.write("second.txt", "2\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "by the agent, killed at its end");
    const locks = ["HEAD.lock", "refs/heads/pawl/task.lock"].map((name) => join(place.repo, ".git", name));
    for (const lock of locks) writeFileSync(lock, "half");
    await iterate(2);
    expect(locks.filter((lock) => existsSync(lock))).toEqual([]);
  });

  it("stay while a git works there: the index is left alone, and that is said", async () => {
    const holder = spawn("git", ["cat-file", "--batch"], { cwd: place.repo, stdio: ["pipe", "ignore", "ignore"] });
    const closed = new Promise((resolve) => holder.once("close", resolve));
    try {
      writeFileSync(join(place.repo, ".git/index.lock"), "half");
      place.write("second.txt", "2\n");
      const accepted = await iterate(2);
      expect(accepted.commit).toBe(place.git("rev-parse", "pawl/task"));
      expect(accepted.warnings.join()).toContain("another git holds the index");
      expect(existsSync(join(place.repo, ".git/index.lock"))).toBe(true);
    } finally {
      holder.stdin.end();
      await closed;
    }
  });

  it("stay while a program of any name has them open, as one with a git of its own does", async () => {
    const lock = join(place.repo, ".git/index.lock");
    const held = openSync(lock, "wx");
    try {
      place.write("second.txt", "2\n");
      expect((await iterate(2)).warnings.join()).toContain("another git holds the index");
      expect(existsSync(lock)).toBe(true);
    } finally {
      closeSync(held);
    }
    place.write("third.txt", "3\n");
    expect((await iterate(3)).warnings).toEqual([]);
    expect([isClean(), existsSync(lock)]).toEqual([true, false]);
  });
});
