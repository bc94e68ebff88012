/** What a person does to the repository between two turns, or while nobody drives: a run goes on with its own work, or not at all. */
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, specFor, type Scratch } from "../../test/fixtures/repository.ts";
import type { Workspace } from "../ports.ts";
import { restoreRun } from "./runs.ts";
import { createWorktree } from "./worktrees.ts";

const AT = 1_700_000_000_000;
let place: Scratch;
let workspace: Workspace;

beforeEach(async () => {
  place = scratch();
  place.git("branch", "other");
  place.write("later.txt", "on main alone\n");
  place.git("add", "-A");
  place.git("commit", "-qm", "later");
  workspace = await openFor(place);
  await workspace.prepare();
  place.write("first.txt", "1\n");
  await iterate(1);
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

async function iterate(n: number) {
  const taken = await workspace.snapshot(n, { parent: n === 1 ? null : n - 1, message: `s${n}`, at: AT + n });
  return await workspace.accept({ tree: taken.judged, message: `iteration ${n}`, at: AT + n, snapshot: n });
}
const look = (n: number) => workspace.snapshot(n, { parent: n - 1, message: "look", at: AT + n, by: "user" });
const fsck = () => place.git("fsck", "--full", "--strict", "--no-dangling");

describe("a workspace that was led to other work between turns", () => {
  it.each([
    ["another branch", ["switch", "-q", "other"], "other"],
    ["the base", ["switch", "-q", "main"], "main"],
    ["a commit", ["switch", "-q", "--detach", "other"], undefined],
  ])("is not taken for a change of the work: at %s", async (_, switching, name) => {
    place.git(...switching);
    const at = name ?? place.git("rev-parse", "HEAD");
    await expect(look(2)).rejects.toMatchObject({
      name: "TerminalError",
      message: `the workspace is at ${at}, but the work of run r1 is on pawl/task`,
      hint: expect.stringContaining("git switch pawl/task"),
    });
    place.git("switch", "-q", "pawl/task");
    expect(await look(2)).toMatchObject({ fileCount: 0 });
    place.write("second.txt");
    expect(await iterate(3)).toMatchObject({ warnings: [] });
    expect(place.git("log", "--format=%s", "main..pawl/task")).toBe("iteration 3\niteration 1");
  });

  it("is refused before the run is driven on, as wrong use, unless a turn may have led it there", async () => {
    place.git("switch", "-q", "other");
    await workspace.ready?.("within");
    await expect(workspace.ready?.("between")).rejects.toMatchObject({
      name: "UsageError",
      message: "the workspace is at other, but the work of run r1 is on pawl/task",
      hint: expect.stringContaining("git switch pawl/task"),
    });
    place.git("switch", "-q", "pawl/task");
    await workspace.ready?.("between");
    place.git("reset", "-q", "--hard", "other");
    place.git("commit", "-q", "--allow-empty", "-m", "other work");
    await expect(workspace.ready?.("between")).rejects.toMatchObject({
      name: "UsageError",
      hint: expect.stringContaining("git switch -C pawl/task"),
    });
  });

  it("is told without what a hostile HEAD says", async () => {
    writeFileSync(join(place.repo, ".git/HEAD"), "ref: refs/heads/\u001b[2Jgone\n");
    await expect(look(2)).rejects.toThrow("the workspace is at another place, but");
  });

  it("is where it was when HEAD is at the same commit without the branch", async () => {
    place.git("switch", "-q", "--detach");
    expect(await look(2)).toMatchObject({ fileCount: 0 });
  });

  it("by the agent in its turn is no news after that was handed over", async () => {
    place.git("switch", "-q", "-c", "mine", "other");
    place.write("mine.txt");
    place.git("add", "-A");
    place.git("commit", "-qm", "mine");
    expect((await iterate(2)).warnings).toEqual([
      expect.stringMatching(/HEAD was moved to refs\/heads\/mine and is left there/),
    ]);
    expect(await look(3)).toMatchObject({ fileCount: 0 });
    place.git("switch", "-q", "main");
    await expect(look(4)).rejects.toThrow("the workspace is at main");
  });

  it("whose branch was deleted can be brought back", async () => {
    place.git("switch", "-q", "main");
    place.git("branch", "-qD", "pawl/task");
    await expect(look(2)).rejects.toMatchObject({
      hint: expect.stringContaining("pawl restore r1 --at N --branch pawl/task"),
    });
    await restoreRun({ ...kept(), at: 1, branch: "pawl/task" });
    place.git("switch", "-q", "pawl/task");
    expect(await look(2)).toMatchObject({ fileCount: 0 });
    place.write("second.txt");
    expect((await iterate(3)).conflict).toBeUndefined();
    expect(place.git("ls-tree", "--name-only", "pawl/task")).toContain("first.txt");
  });
});

describe("a branch that was rewritten between turns", () => {
  it("by commits on top of the work goes on from them", async () => {
    place.write("mine.txt", "of a person\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "mine");
    place.git("commit", "-q", "--allow-empty", "-m", "mine, too");
    expect(await look(2)).toMatchObject({ fileCount: 1, files: [{ path: "mine.txt" }] });
    place.write("second.txt");
    expect(await iterate(3)).toMatchObject({ warnings: [] });
    expect(place.git("log", "--format=%s", "main..pawl/task")).toBe("iteration 3\nmine, too\nmine\niteration 1");
    expect(fsck()).toBe("");
  });

  it("with the same files in another commit is built upon", async () => {
    place.git("commit", "-q", "--amend", "-m", "better words");
    expect(await look(2)).toMatchObject({ fileCount: 0 });
    place.write("second.txt");
    expect((await iterate(3)).conflict).toBeUndefined();
    expect(place.git("log", "--format=%s", "main..pawl/task")).toBe("iteration 3\nbetter words");
    expect(fsck()).toBe("");
    expect(place.privateGit("fsck", "--full", "--strict", "--no-dangling")).toBe("");
  });

  it("onto other work is refused before anything is paid for", async () => {
    place.git("switch", "-q", "main");
    place.write("newer.txt");
    place.git("add", "-A");
    place.git("commit", "-qm", "newer");
    const delivered = place.git("rev-parse", "pawl/task");
    place.git("switch", "-q", "pawl/task");
    place.git("rebase", "-q", "main");
    await expect(look(2)).rejects.toMatchObject({
      message: expect.stringContaining("does not go on from the work of run r1"),
      hint: expect.stringContaining(`git switch -C pawl/task ${delivered}`),
    });
    place.git("switch", "-q", "-C", "pawl/task", delivered);
    expect(await look(2)).toMatchObject({ fileCount: 0 });
  });
});

const kept = () => ({ spec: specFor(place.repo), run: "r1", lane: "main", stateDir: place.stateDir });

describe("a repository that has lost the run's base", () => {
  beforeEach(() => {
    place.git("switch", "-q", "main");
    place.git("commit", "-q", "--amend", "-m", "later, amended");
    place.git("branch", "-qD", "pawl/task");
    place.git("reflog", "expire", "--expire=now", "--all");
    place.git("gc", "-q", "--prune=now");
  });

  it("gets no branch with holes: the work is kept, and a person must look", async () => {
    place.git("symbolic-ref", "HEAD", "refs/heads/pawl/task");
    place.write("second.txt");
    const { conflict, conflictReason } = await iterate(2);
    expect(conflict).toContain("salvage/conflict-2");
    expect(conflictReason).toContain("the commit that the work is based on");
    expect(place.git("branch", "--list", "pawl/task")).toBe("");
    place.git("switch", "-q", "-f", "main");
    expect(fsck()).toBe("");
  });

  it("gets the work back as a branch without that history", async () => {
    expect(await restoreRun({ ...kept(), at: 1, branch: "saved" })).toMatchObject({ branch: "saved", alone: true });
    expect(place.git("rev-list", "--count", "saved")).toBe("1");
    expect(place.git("show", "saved:first.txt")).toBe("1");
    expect(fsck()).toBe("");
  });
});

describe("a worktree that was removed", () => {
  it("leaves its work to be made a branch, and is not made anew", async () => {
    const { path } = await createWorktree({
      repository: place.repo,
      stateDir: place.stateDir,
      environment: place.environment,
      name: "gone",
    });
    const run = await openFor(place, { run: "r2", path, branch: "pawl/gone" });
    await run.prepare();
    const { judged } = await run.snapshot(1, { parent: null, message: "m", at: AT });
    await run.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
    await run.close();
    place.git("worktree", "remove", "--force", path);
    rmSync(join(place.repo, ".git/worktrees/gone"), { recursive: true, force: true });
    const at = { ...kept(), spec: { ...specFor(place.repo), path }, run: "r2", at: 1 as const };
    await expect(restoreRun(at)).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("is gone"),
    });
    expect(existsSync(path)).toBe(false);
    expect(await restoreRun({ ...at, branch: "back" })).toMatchObject({ branch: "back", alone: false });
    expect(fsck()).toBe("");
  });
});

describe("a fenced agent, which cannot have done it,", () => {
  const apart = async (): Promise<void> => {
    await workspace.close();
    workspace = await openFor(place, { isApart: true });
  };

  it("gets no files of another branch for its own, in a turn or after one that was cut off", async () => {
    await apart();
    place.git("switch", "-q", "main");
    place.write("mine.txt");
    const taken = workspace.snapshot(2, { parent: 1, message: "s2", at: AT + 2, by: "agent" });
    await expect(taken).rejects.toThrow("the workspace is at main, but the work of run r1 is on pawl/task");
    await expect(workspace.ready?.("within")).rejects.toThrow("the workspace is at main");
    place.git("switch", "-q", "pawl/task");
    await workspace.ready?.("within");
    expect(await iterate(2)).toMatchObject({ warnings: [] });
  });

  it("does not lead a person back who went elsewhere while the work was judged", async () => {
    await apart();
    place.write("second.txt");
    const taken = await workspace.snapshot(2, { parent: 1, message: "s2", at: AT + 2, by: "agent" });
    place.git("stash", "-q", "-u");
    place.git("switch", "-q", "main");
    const { warnings } = await workspace.accept({ tree: taken.judged, message: "i2", at: AT + 2, snapshot: 2 });
    expect(warnings).toEqual(["HEAD was moved to refs/heads/main and is left there; the work is on pawl/task"]);
    expect([place.git("branch", "--show-current"), place.git("status", "--porcelain")]).toEqual(["main", ""]);
    await expect(look(3)).rejects.toThrow("the workspace is at main");
  });

  it("does not take back what a person committed on the branch from another worktree", async () => {
    await apart();
    const other = join(place.root, "beside");
    place.git("worktree", "add", "-q", "--detach", other, "pawl/task");
    for (const name of ["first.txt", "theirs.txt"]) writeFileSync(join(other, name), "of a person\n");
    place.gitIn(other, "add", "-A");
    place.gitIn(other, "commit", "-qm", "theirs");
    const theirs = place.gitIn(other, "rev-parse", "HEAD");
    place.gitIn(other, "update-ref", "refs/heads/pawl/task", theirs);
    place.write("first.txt", "of the agent\n");
    const taken = await workspace.snapshot(2, { parent: 1, message: "s2", at: AT + 2, by: "agent" });
    const accepted = await workspace.accept({ tree: taken.judged, message: "i2", at: AT + 2, snapshot: 2 });
    expect(accepted.conflict).toBeDefined();
    expect(place.git("rev-parse", "pawl/task")).toBe(theirs);
  });
});
