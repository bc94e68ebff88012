import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { UsageError } from "../errors.ts";
import { inspectRepository } from "./inspect.ts";

const AT = 1_700_000_000_000;
let place: Scratch;

afterEach(() => place.remove());

async function oneIteration(change: Parameters<typeof openFor>[1] = {}) {
  const workspace = await openFor(place, change);
  const base = await workspace.prepare();
  place.write("by-agent.txt", "work\n");
  const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
  const accepted = await workspace.accept({ tree: judged, message: "did it", at: AT, snapshot: 1 });
  return { base, accepted };
}

describe("a run starts", () => {
  it("on a branch of its own at HEAD, without touching a file", async () => {
    place = scratch();
    const before = place.git("status", "--porcelain=v2");
    const workspace = await openFor(place);
    const base = await workspace.prepare();
    expect(base).toEqual({
      commit: place.git("rev-parse", "main"),
      tree: place.git("rev-parse", "main^{tree}"),
      branch: "main",
      detached: false,
    });
    expect(place.git("symbolic-ref", "HEAD")).toBe("refs/heads/pawl/task");
    expect(place.git("status", "--porcelain=v2")).toBe(before);
  });

  it("in an empty repository without a commit", async () => {
    place = scratch({ empty: true });
    const { base, accepted } = await oneIteration();
    expect(base).toMatchObject({ commit: null, branch: "main", detached: false });
    expect(place.git("rev-list", "--parents", "HEAD")).toBe(accepted.commit);
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
  });

  it("on a detached HEAD", async () => {
    place = scratch();
    place.git("checkout", "-q", "--detach");
    const { base, accepted } = await oneIteration();
    expect(base).toMatchObject({ branch: null, detached: true });
    expect(place.git("rev-parse", "pawl/task")).toBe(accepted.commit);
  });

  it("with a default branch that is not main (row 19)", async () => {
    place = scratch({ init: ["-b", "trunk/ÜÄ"] });
    const { base } = await oneIteration();
    expect(base.branch).toBe("trunk/ÜÄ");
    expect(place.git("log", "--format=%s", "trunk/ÜÄ..pawl/task")).toBe("did it");
  });

  it.each([
    ["older than that of the run before", ["checkout", "-q", "-b", "older", "main~1"]],
    ["of another history", ["checkout", "-q", "--orphan", "apart"]],
  ])("at a commit %s", async (_, switching) => {
    place = scratch();
    place.write("second.txt", "second\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "second");
    await (await openFor(place, { run: "before", branch: "pawl/before" })).prepare();
    place.git("switch", "-q", "main");
    place.git(...switching);
    if (switching.includes("--orphan")) place.git("commit", "-qm", "apart");
    const { base, accepted } = await oneIteration();
    expect(base.commit).toBe(place.git("rev-parse", switching[3] ?? ""));
    expect(place.git("rev-parse", "pawl/task")).toBe(accepted.commit);
    expect(place.git("rev-parse", "pawl/task~1")).toBe(base.commit);
  });

  it("in a linked worktree of the user", async () => {
    place = scratch();
    const linked = join(place.root, "linked");
    place.git("worktree", "add", "-q", "-b", "side", linked);
    const main = place;
    place = { ...place, repo: linked, write: (path, text = "x") => writeFileSync(join(linked, path), text) };
    const { accepted } = await oneIteration();
    expect(main.gitIn(linked, "status", "--porcelain", "-b")).toBe("## pawl/task");
    expect(main.gitIn(linked, "rev-parse", "pawl/task")).toBe(accepted.commit);
    expect(readFileSync(join(main.root, "repo/.git/HEAD"), "utf8").trim()).toBe("ref: refs/heads/main");
  });
});

describe("a dirty tree", () => {
  beforeEach(() => {
    place = scratch();
    place.write("a.txt", "staged\n");
    place.git("add", "a.txt");
    place.write("a.txt", "staged, then changed\n");
    place.write("untracked dir/new.txt", "new\n");
  });

  it("is refused before anything changes, with the names of what is uncommitted", async () => {
    const before = [
      place.git("status", "--porcelain=v2"),
      place.git("for-each-ref"),
      place.git("symbolic-ref", "HEAD"),
    ];
    const workspace = await openFor(place);
    await expect(workspace.prepare()).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringMatching(/"a\.txt", "untracked dir\/new\.txt"/),
      hint: expect.stringContaining("--allow-dirty"),
    });
    expect([
      place.git("status", "--porcelain=v2"),
      place.git("for-each-ref"),
      place.git("symbolic-ref", "HEAD"),
    ]).toEqual(before);
  });

  it("becomes the run's first commit with --allow-dirty, the old index a ref (row 17)", async () => {
    const workspace = await openFor(place, { allowDirty: true });
    const base = await workspace.prepare();
    expect(place.git("log", "--format=%an|%s", "main..pawl/task")).toBe(
      "Ann Öther|Uncommitted changes from before the run",
    );
    expect(base.commit).toBe(place.git("rev-parse", "pawl/task"));
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
    expect(place.git("show", "HEAD:a.txt")).toBe("staged, then changed");
    expect(place.privateGit("show", "refs/pawl/r1/main/user-index:a.txt")).toBe("staged");
    expect(readFileSync(join(place.repo, "untracked dir/new.txt"), "utf8")).toBe("new\n");
    const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(taken).toMatchObject({ tree: base.tree, files: [] });
  });

  it("edited between a start that was cut off and the next: the first commit stays, the edit is a change", async () => {
    const base = await (await openFor(place, { allowDirty: true })).prepare();
    const cut = execFileSync("find", [place.stateDir, "-name", "prepared.json"], { encoding: "utf8" }).trim();
    rmSync(cut);
    place.write("untracked dir/new.txt", "edited since\n");
    const workspace = await openFor(place, { allowDirty: true });
    expect(await workspace.prepare()).toMatchObject({ commit: base.commit, tree: base.tree });
    const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(taken.files.map(({ path }) => path)).toEqual(["untracked dir/new.txt"]);
    expect(place.git("status", "--porcelain", "-b")).toBe('## pawl/task\n M "untracked dir/new.txt"');
  });

  it("is begun with once it is a commit, also where a start was cut off before anything else was done", async () => {
    const index = readFileSync(join(place.repo, ".git/index"));
    const base = await (await openFor(place, { allowDirty: true })).prepare();
    rmSync(execFileSync("find", [place.stateDir, "-name", "prepared.json"], { encoding: "utf8" }).trim());
    place.git("symbolic-ref", "HEAD", "refs/heads/main");
    place.git("branch", "-D", "pawl/task");
    writeFileSync(join(place.repo, ".git/index"), index);
    const workspace = await openFor(place, { allowDirty: true });
    expect(await workspace.prepare()).toMatchObject({ commit: base.commit, tree: base.tree });
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
  });

  it("is left as it is with --no-commit, and is what the run starts from", async () => {
    const status = place.git("status", "--porcelain=v2");
    const workspace = await openFor(place, { allowDirty: true, commit: "none", branch: undefined });
    const base = await workspace.prepare();
    expect(base.commit).toBe(place.git("rev-parse", "main"));
    expect(place.git("status", "--porcelain=v2")).toBe(status);
    expect((await workspace.snapshot(1, { parent: null, message: "m", at: AT })).tree).toBe(base.tree);
  });

  it("is committed to the current branch when that is the policy", async () => {
    const workspace = await openFor(place, { allowDirty: true, commit: "current", branch: undefined });
    await workspace.prepare();
    expect(place.git("log", "-1", "--format=%s", "main")).toBe("Uncommitted changes from before the run");
    expect(place.git("status", "--porcelain", "-b")).toBe("## main");
  });

  it("in a repository without a commit becomes its first", async () => {
    place.remove();
    place = scratch({ empty: true });
    place.write("x.txt");
    const workspace = await openFor(place, { allowDirty: true });
    const base = await workspace.prepare();
    expect(place.git("rev-parse", "pawl/task")).toBe(base.commit);
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
  });
});

describe("a place that cannot be worked in is refused with a reason", () => {
  beforeEach(() => {
    place = scratch();
  });
  const inspect = (dir: string) => inspectRepository(dir, { environment: place.environment });

  it("not a repository, a missing directory, a bare one, inside .git", async () => {
    await expect(inspect(place.home)).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("not in a git repository"),
    });
    await expect(inspect(join(place.root, "none"))).rejects.toThrow("does not exist");
    place.gitIn(place.root, "init", "-q", "--bare", "bare.git");
    await expect(inspect(join(place.root, "bare.git"))).rejects.toThrow("bare repository");
    await expect(inspect(join(place.repo, ".git"))).rejects.toThrow("inside a .git directory");
  });

  it("another user's repository, with the command that lets git work in it", async () => {
    const git = execFileSync("/bin/sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
    const [bin, mine] = [join(place.root, "bin"), join(place.root, "it's mine")];
    mkdirSync(bin);
    // As git's own tests make a repository another user's without being root.
    const other = `#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec ${git} "$@"\n`;
    writeFileSync(join(bin, "git"), other, { mode: 0o755 });
    place.gitIn(place.root, "init", "-q", mine);
    mkdirSync(join(mine, "sub"));
    const environment = { ...place.environment, PATH: `${bin}:${place.environment["PATH"] ?? ""}` };
    const look = () => inspectRepository(join(mine, "sub"), { environment });
    const refused = await look().catch((error: unknown) => error as UsageError);
    expect(refused).toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("belongs to another user"),
      hint: expect.stringContaining("git config --global --add safe.directory "),
    });
    execFileSync("/bin/sh", ["-c", refused instanceof UsageError ? (refused.hint ?? "") : ""], { env: environment });
    expect(await look()).toMatchObject({ topLevel: mine });
  });

  it("an unmerged file without a merge, as a stash that does not fit leaves it", async () => {
    place.write("a.txt", "stashed\n");
    place.git("stash", "-q");
    place.write("a.txt", "other\n");
    place.git("commit", "-qam", "other");
    expect(() => place.git("stash", "pop")).toThrow();
    await expect((await openFor(place, { allowDirty: true })).prepare()).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining('"a.txt" in'),
    });
    expect(place.git("stash", "list")).not.toBe("");
  });

  it("a path with a line break, which git's answers cannot be told apart from", async () => {
    const dir = join(place.root, "two\nlines");
    place.gitIn(place.root, "init", "-q", dir);
    await expect(inspect(dir)).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("line break"),
    });
  });

  it("a merge or rebase in progress", async () => {
    writeFileSync(join(place.repo, ".git/MERGE_HEAD"), `${place.git("rev-parse", "HEAD")}\n`);
    await expect((await openFor(place)).prepare()).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("a merge is in progress"),
    });
    rmSync(join(place.repo, ".git/MERGE_HEAD"));
  });

  it("a branch that exists already at another commit, a branch name that is none, no current branch", async () => {
    place.git("commit", "-q", "--allow-empty", "-m", "elsewhere");
    place.git("branch", "pawl/task");
    place.git("reset", "-q", "--hard", "HEAD^");
    await expect((await openFor(place)).prepare()).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("exists already"),
    });
    await expect((await openFor(place, { run: "r2", branch: "a..b" })).prepare()).rejects.toThrow(
      "cannot be a branch name",
    );
    place.git("checkout", "-q", "--detach");
    await expect((await openFor(place, { run: "r3", commit: "current", branch: undefined })).prepare()).rejects.toThrow(
      "detached",
    );
    expect(existsSync(join(place.stateDir, "repos"))).toBe(true);
  });

  it("a state directory inside the workspace", async () => {
    const inside = { ...place, stateDir: join(place.repo, "state") };
    await expect((await openFor(inside)).prepare()).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("inside the workspace"),
    });
    expect(existsSync(inside.stateDir)).toBe(false);
  });

  it("inspection tells branch, commit, worktree and shallowness", async () => {
    const facts = await inspect(join(place.repo, "dir"));
    expect(facts).toMatchObject({
      topLevel: place.repo,
      linkedWorktree: false,
      shallow: false,
      objectFormat: "sha1",
      inProgress: null,
    });
    expect(facts.head).toEqual({
      is: "branch",
      branch: "main",
      commit: place.git("rev-parse", "HEAD"),
      tree: place.git("rev-parse", "HEAD^{tree}"),
    });
  });
});
