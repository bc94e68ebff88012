/** A person who uses git in the very moment of a hand-over: no commit takes work back, whoever is first. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { waitFor } from "../../test/support/temp.ts";
import type { Accepted, Workspace } from "../ports.ts";

const AT = 1_700_000_000_000;
const ROUNDS = 8;

/**
 * Waits in a tight loop until that file is another one or the other file is there, then commits what is staged; again
 * where git says that the branch has moved under its hands.
 */
const COMMITTER = `
  const { statSync, existsSync } = require("node:fs");
  const { spawnSync } = require("node:child_process");
  const [file, end] = process.argv.slice(1);
  const seen = () => statSync(file, { throwIfNoEntry: false })?.ino;
  const before = seen();
  process.stdout.write("ready");
  while (seen() === before && !existsSync(end));
  for (let tries = 0; tries < 20; tries += 1)
    if (spawnSync("git", ["commit", "-q", "--allow-empty", "-m", "a person's"]).status === 0) break;
`;

let place: Scratch;
let workspace: Workspace;
let lock: string;
beforeEach(async () => {
  place = scratch();
  workspace = await openFor(place);
  await workspace.prepare();
  lock = join(place.repo, ".git/index.lock");
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

async function snapshot(n: number): Promise<string> {
  return (await workspace.snapshot(n, { parent: n === 1 ? null : n - 1, message: `s${n}`, at: AT + n })).judged;
}
const accept = (n: number, tree: string): Promise<Accepted> =>
  workspace.accept({ tree, message: `work ${n}`, at: AT + n, snapshot: n });

/** The first iteration, and the files of the second. */
async function twoIterations(): Promise<string> {
  place.write("work-1.txt", "1\n");
  await accept(1, await snapshot(1));
  place.write("work-2.txt", "2\n");
  return await snapshot(2);
}

/** Hands over while that git holds the index; the gate it waits at opens once the index is waited for. */
async function acceptBeside(
  args: readonly string[],
  { tree, env = {} }: { tree: string; env?: Record<string, string> },
): Promise<Accepted> {
  const git = spawn("git", args, { cwd: place.repo, env: { ...place.environment, ...env }, stdio: "ignore" });
  const closed = once(git, "close");
  await waitFor(() => existsSync(lock));
  const accepting = accept(2, tree);
  await waitFor(() => existsSync(join(place.repo, ".git/index.pawl-r1")));
  writeFileSync(gate(), "");
  expect(await closed).toEqual([0, null]);
  return await accepting;
}
const gate = (): string => join(place.root, "gate");
const atGate = (then: string): string =>
  `sh -c ': >${place.root}/waits; until [ -e ${gate()} ]; do sleep 0.02; done; ${then}' -`;

describe("a commit as soon as", () => {
  it.each([
    ["the branch moves", "refs/heads/pawl/task"],
    ["the index is there", "index"],
  ])("%s takes none of the work back", async (_, name) => {
    const end = join(place.root, "end");
    for (let n = 1; n <= ROUNDS; n += 1) {
      place.write(`work-${n}.txt`, `${n}\n`);
      const tree = await snapshot(n);
      const args = ["-e", COMMITTER, join(place.repo, ".git", name), end];
      const env = place.environment;
      const committer = spawn(process.execPath, args, { cwd: place.repo, env, stdio: ["ignore", "pipe", "ignore"] });
      const closed = once(committer, "close");
      await once(committer.stdout, "data");
      const accepted = await accept(n, tree);
      writeFileSync(end, "");
      await closed;
      rmSync(end);
      expect(accepted.conflict).toBeUndefined();
      expect(place.git("ls-tree", "--name-only", "pawl/task")).toContain(`work-${n}.txt`);
    }
    const subjects = place.git("log", "--format=%s", "main..pawl/task").split("\n");
    expect(subjects.filter((subject) => subject === "a person's")).toHaveLength(ROUNDS);
    expect(place.git("log", "--diff-filter=D", "--format=%s", "main..pawl/task")).toBe("");
    expect(place.git("fsck", "--no-dangling")).toBe("");
  });
});

describe("while work is handed over", () => {
  it("nobody stages, unstages or commits between the index and the branch", async () => {
    const tree = await twoIterations();
    const index = join(place.repo, ".git/index");
    const before = statSync(index).ino;
    // The branch has to be waited for while a git lives that may have locked it.
    const holder = spawn("git", ["cat-file", "--batch"], { cwd: place.repo, stdio: ["pipe", "ignore", "ignore"] });
    const ref = join(place.repo, ".git/refs/heads/pawl/task.lock");
    writeFileSync(ref, "");
    const accepting = accept(2, tree);
    try {
      await waitFor(() => statSync(index).ino !== before);
      for (const args of [["reset"], ["add", "-A"], ["commit", "-am", "mine"]])
        expect(() => place.git(...args)).toThrow("index.lock");
    } finally {
      rmSync(ref);
      holder.stdin.end();
    }
    expect(await accepting).toMatchObject({ branch: "pawl/task", warnings: [] });
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
    expect(existsSync(lock)).toBe(false);
  });

  it("who stages without a pause does not keep the index from being that of the work", async () => {
    const tree = await twoIterations();
    const end = join(place.root, "end");
    const env = { ...place.environment, end };
    const loop = 'printf ready; until [ -e "$end" ]; do git update-index --force-write-index; done';
    const stager = spawn("sh", ["-c", loop], { cwd: place.repo, env, stdio: ["ignore", "pipe", "ignore"] });
    const closed = once(stager, "close");
    await once(stager.stdout, "data");
    const accepted = await accept(2, tree);
    writeFileSync(end, "");
    await closed;
    expect(accepted).toMatchObject({ branch: "pawl/task", warnings: [] });
    expect(place.git("diff", "--cached", "--name-only")).toBe("");
  });

  it("what was staged is told of and kept also when the branch stays locked", async () => {
    const tree = await twoIterations();
    place.write("notes.txt", "staged\n");
    place.git("add", "notes.txt");
    place.write("notes.txt", "edited since\n");
    const holder = spawn("git", ["cat-file", "--batch"], { cwd: place.repo, stdio: ["pipe", "ignore", "ignore"] });
    writeFileSync(join(place.repo, ".git/refs/heads/pawl/task.lock"), "");
    const { conflict, warnings } = await accept(2, tree);
    holder.stdin.end();
    expect(conflict).toBe("salvage/conflict-2");
    expect(warnings.join("\n")).toMatch(/"notes.txt" was staged .* kept as lost\/index-2\n.*cannot lock ref/s);
    expect(place.privateGit("show", "refs/pawl/r1/main/lost/index-2:notes.txt")).toBe("staged");
    expect(existsSync(lock)).toBe(false);
  });

  it("a commit on the detached HEAD that the agent left gets onto the branch", async () => {
    await twoIterations();
    place.git("checkout", "-q", "--detach");
    const tree = await snapshot(2);
    place.write("a.txt", "a person's\n");
    await acceptBeside(["commit", "-qa"], { tree, env: { GIT_EDITOR: atGate("echo mine >$1") } });
    expect(place.git("log", "--format=%s", "pawl/task").split("\n")).toContain("mine");
  });

  it("a switch to another branch that takes its time has its own index", async () => {
    await workspace.close();
    workspace = await openFor(place, { isApart: true });
    await workspace.prepare();
    const tree = await twoIterations();
    place.git("config", "filter.slow.smudge", atGate("cat"));
    place.git("config", "filter.slow.clean", "cat");
    const tip = place.git("commit-tree", "-m", "other", "-p", "main", otherTree());
    place.git("update-ref", "refs/heads/other", tip);
    writeFileSync(join(place.repo, ".git/info/attributes"), "other.txt filter=slow\n");
    const { warnings } = await acceptBeside(["switch", "-q", "other"], { tree });
    expect(warnings.join()).toContain("HEAD was moved to refs/heads/other");
    expect(readFileSync(join(place.repo, ".git/HEAD"), "utf8")).toContain("refs/heads/other");
    expect(place.git("diff", "--cached", "--name-only")).toBe("");
  });
});

describe("while a run starts from what is uncommitted", () => {
  const DIRTY = { allowDirty: true, run: "r2", branch: "pawl/other" };
  let later: Workspace;
  beforeEach(async () => {
    place.write("a.txt", "edited\n");
    place.git("add", "a.txt");
    place.write("unstaged.txt");
    later = await openFor(place, DIRTY);
  });
  afterEach(async () => await later.close());

  it.each([
    ["a branch of its own", {}, "pawl/other"],
    ["the current one", { commit: "current" as const }, "pawl/task"],
  ])("nobody stages or commits between the index and %s", async (_, change, branch) => {
    later = await openFor(place, { ...DIRTY, ...change });
    const index = join(place.repo, ".git/index");
    const before = statSync(index).ino;
    const holder = spawn("git", ["cat-file", "--batch"], { cwd: place.repo, stdio: ["pipe", "ignore", "ignore"] });
    const ref = join(place.repo, `.git/refs/heads/${branch}.lock`);
    writeFileSync(ref, "");
    const preparing = later.prepare();
    try {
      await waitFor(() => statSync(index).ino !== before);
      for (const args of [["reset"], ["add", "-A"], ["commit", "-qm", "mine"]])
        expect(() => place.git(...args)).toThrow("index.lock");
    } finally {
      rmSync(ref);
      holder.stdin.end();
    }
    await preparing;
    expect(place.git("status", "--porcelain", "-b")).toBe(`## ${branch}`);
    expect(place.git("show", "--stat", "--format=%s")).toMatch(/^Uncommitted changes.*a\.txt.*unstaged\.txt/s);
    expect(existsSync(lock)).toBe(false);
  });

  it("what is staged meanwhile is kept and told of", async () => {
    place.git("config", "filter.slow.clean", atGate("cat"));
    writeFileSync(join(place.repo, ".git/info/attributes"), "unstaged.txt filter=slow\n");
    const preparing = later.prepare();
    await waitFor(() => existsSync(join(place.root, "waits")));
    place.write("late.txt", "staged\n");
    place.git("add", "late.txt");
    place.write("late.txt", "edited since\n");
    writeFileSync(gate(), "");
    await preparing;
    const { warnings } = await later.snapshot(0, { parent: null, message: "base", at: AT, by: "user" });
    expect(warnings.join()).toMatch(/"late.txt" was staged .* kept as lost\/index-start/);
    expect(place.privateGit("show", "refs/pawl/r2/main/lost/index-start:late.txt")).toBe("staged");
  });

  it("a switch to another branch meanwhile ends it, and nothing has changed", async () => {
    place.git("config", "filter.slow.clean", atGate("cat"));
    writeFileSync(join(place.repo, ".git/info/attributes"), "unstaged.txt filter=slow\n");
    const preparing = later.prepare();
    const refused = expect(preparing).rejects.toMatchObject({
      name: "UsageError",
      message: expect.stringContaining("HEAD"),
    });
    await waitFor(() => existsSync(join(place.root, "waits")));
    place.git("switch", "-q", "main");
    writeFileSync(gate(), "");
    await refused;
    expect(place.git("status", "--porcelain", "-b")).toBe("## main\nM  a.txt\n?? unstaged.txt");
  });

  it("an index that somebody holds is left, which is told", async () => {
    const holder = openSync(lock, "wx");
    await later.prepare();
    closeSync(holder);
    const { warnings } = await later.snapshot(0, { parent: null, message: "base", at: AT, by: "user" });
    expect(warnings.join()).toContain("another git holds the index");
  });
});

/** The base's, and a file of its own. */
function otherTree(): string {
  const blob = place.git("hash-object", "-w", "a.txt");
  const lines = `${place.git("ls-tree", "main")}\n100644 blob ${blob}\tother.txt\n`;
  return execFileSync("git", ["mktree"], { cwd: place.repo, input: lines, encoding: "utf8" }).trim();
}
