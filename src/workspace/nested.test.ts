import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import type { Workspace } from "../ports.ts";
import { createWorktree } from "./worktrees.ts";

const AT = 1_700_000_000_000;
let place: Scratch;

beforeEach(() => {
  place = scratch();
});
afterEach(() => place.remove());

const nestedRefs = () =>
  place.privateGit("for-each-ref", "--format=%(refname)", "refs/pawl/r1/main/nested").split("\n").filter(Boolean);

describe("a repository inside the workspace", () => {
  it("made by the agent is kept under refs of its own, and said", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    const inner = join(place.repo, "sub dir/inner");
    mkdirSync(inner, { recursive: true });
    place.gitIn(inner, "init", "-q");
    writeFileSync(join(inner, "work.txt"), "inner work\n");
    mkdirSync(join(inner, "deeper"));
    place.gitIn(join(inner, "deeper"), "init", "-q");
    writeFileSync(join(inner, "deeper/more.txt"), "deep work\n");
    const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(taken.warnings).toHaveLength(2);
    expect(taken.warnings[0]).toContain('"sub dir/inner" is a repository of its own');
    const contents = nestedRefs()
      .filter((ref) => ref.endsWith("/snap/1"))
      .map((ref) => place.privateGit("ls-tree", "-r", "--name-only", ref));
    expect(contents.toSorted()).toEqual(["more.txt", "work.txt"]);
    expect(place.privateGit("ls-tree", "-r", "--name-only", taken.tree)).not.toContain("inner");
  });

  it("that stands where a restored file belongs is moved aside, whole", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    rmSync(join(place.repo, "dir"), { recursive: true });
    await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    mkdirSync(join(place.repo, "dir"));
    place.gitIn(join(place.repo, "dir"), "init", "-q");
    writeFileSync(join(place.repo, "dir/own.txt"), "own\n");
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(readFileSync(join(place.repo, "dir/b.txt"), "utf8")).toBe("two\n");
    expect(readFileSync(join(place.repo, "dir.salvage-1/own.txt"), "utf8")).toBe("own\n");
    expect(existsSync(join(place.repo, "dir.salvage-1/.git/HEAD"))).toBe(true);
  });

  it("runs nothing that its own settings name", async () => {
    const canary = join(place.root, "canary");
    const workspace = await openFor(place);
    await workspace.prepare();
    const inner = join(place.repo, "inner");
    mkdirSync(inner);
    place.gitIn(inner, "init", "-q");
    for (const key of ["filter.x.clean", "filter.x.process", "filter.x.smudge", "core.fsmonitor"])
      place.gitIn(inner, "config", key, `touch ${canary}; cat`);
    writeFileSync(join(inner, ".gitattributes"), "* filter=x\n");
    writeFileSync(join(inner, "f.txt"), "x\n");
    const taken = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    await workspace.accept({ tree: taken.judged, message: "m", at: AT, snapshot: 1 });
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(nestedRefs().some((ref) => ref.endsWith("/snap/1"))).toBe(true);
    expect(existsSync(canary)).toBe(false);
  });

  it("too large for a snapshot is said, not dropped in silence", async () => {
    const workspace = await openFor(place, { maxSnapshotBytes: 100 });
    await workspace.prepare();
    const inner = join(place.repo, "inner");
    mkdirSync(inner);
    place.gitIn(inner, "init", "-q");
    writeFileSync(join(inner, "big"), "x".repeat(101));
    const { warnings } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(warnings.join()).toMatch(/"inner" is only on disk: 101 bytes/);
  });
});

describe("a submodule", () => {
  beforeEach(() => {
    const library = join(place.root, "library");
    mkdirSync(library);
    place.gitIn(library, "init", "-q");
    writeFileSync(join(library, "lib.txt"), "lib\n");
    place.gitIn(library, "add", "-A");
    place.gitIn(library, "commit", "-qm", "lib");
    place.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", library, "lib");
    place.git("commit", "-qm", "submodule");
  });

  it("that is untouched changes nothing", async () => {
    const workspace = await openFor(place);
    const base = await workspace.prepare();
    expect(await workspace.snapshot(1, { parent: null, message: "m", at: AT })).toMatchObject({
      tree: base.tree,
      warnings: [],
    });
  });

  it("with uncommitted work is kept under refs of its own; a commit in it moves the link", async () => {
    const workspace = await openFor(place);
    const base = await workspace.prepare();
    writeFileSync(join(place.repo, "lib/lib.txt"), "changed\n");
    const dirty = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(dirty.tree).toBe(base.tree);
    expect(dirty.warnings.join()).toContain('the submodule "lib" changed');
    const ref = nestedRefs().find((name) => name.endsWith("/snap/1"));
    expect(place.privateGit("show", `${ref}:lib.txt`)).toBe("changed");
    place.gitIn(join(place.repo, "lib"), "commit", "-qam", "in lib");
    const moved = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    expect(moved.files.map(({ path }) => path)).toEqual(["lib"]);
    const accepted = await workspace.accept({ tree: moved.judged, message: "m", at: AT, snapshot: 2 });
    expect(place.git("rev-parse", `${accepted.commit}:lib`)).toBe(
      place.gitIn(join(place.repo, "lib"), "rev-parse", "HEAD"),
    );
    expect(place.git("status", "--porcelain")).toBe("");
  });

  it("has its committed files in the verify tree, also after a commit in it and in a worktree of its own", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    const seen = async (of: Workspace, tree: string) => {
      const verify = await of.verifyTree(tree);
      const content = readFileSync(join(verify.path, "lib/lib.txt"), "utf8");
      expect(verify).toMatchObject({ tree, isolation: "copy" });
      await verify.release();
      return content;
    };
    const before = readFileSync(join(place.repo, "lib/lib.txt"), "utf8");
    writeFileSync(join(place.repo, "lib/lib.txt"), "not committed\n");
    const first = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(await seen(workspace, first.judged)).toBe(before);
    writeFileSync(join(place.repo, "lib/lib.txt"), "committed\n");
    place.gitIn(join(place.repo, "lib"), "commit", "-qam", "in lib");
    const second = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    expect(await seen(workspace, second.judged)).toBe("committed\n");
    expect(await seen(workspace, first.judged)).toBe(before);
    const where = { repository: place.repo, stateDir: place.stateDir, environment: place.environment };
    const { path } = await createWorktree({ ...where, name: "one" });
    const other = await openFor(place, { run: "r2", path, branch: "pawl/other" });
    const { tree } = await other.prepare();
    expect(await seen(other, tree)).toBe(before);
  });

  it("inside another one has its files in the verify tree, too; one that is not fetched there is told", async () => {
    const outer = join(place.root, "outer");
    mkdirSync(outer);
    place.gitIn(outer, "init", "-q");
    for (const name of ["deep", "empty"])
      place.gitIn(
        outer,
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        join(place.root, "library"),
        name,
      );
    place.gitIn(outer, "commit", "-qm", "outer");
    place.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", outer, "outer");
    place.gitIn(
      join(place.repo, "outer"),
      "-c",
      "protocol.file.allow=always",
      "submodule",
      "update",
      "-q",
      "--init",
      "deep",
    );
    place.git("commit", "-qam", "outer");
    const workspace = await openFor(place);
    const { tree } = await workspace.prepare();
    const { warnings } = await workspace.snapshot(0, { parent: null, message: "m", at: AT });
    expect(warnings.join()).toContain('checks do not see the files of "outer/empty"');
    const verify = await workspace.verifyTree(tree);
    expect(readFileSync(join(verify.path, "outer/deep/lib.txt"), "utf8")).toBe("lib\n");
    expect(verify.isolation).toBe('copy without the submodules "outer/empty"');
    await verify.release();
  });

  it("that was never fetched is not there for checks: told at the start and in the evidence", async () => {
    const clone = join(place.root, "clone");
    place.gitIn(place.root, "clone", "-q", place.repo, clone);
    const workspace = await openFor(place, { repository: clone, path: clone });
    const { tree } = await workspace.prepare();
    const { warnings } = await workspace.snapshot(0, { parent: null, message: "m", at: AT });
    expect(warnings.join()).toContain('checks do not see the files of "lib"');
    const verify = await workspace.verifyTree(tree);
    expect(verify.isolation).toBe('copy without the submodules "lib"');
    await verify.release();
  });

  it("that the agent committed in stays at its commit when files are restored", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("a.txt", "one more\n");
    place.gitIn(join(place.repo, "lib"), "commit", "-q", "--allow-empty", "-m", "in lib");
    const tip = place.gitIn(join(place.repo, "lib"), "rev-parse", "HEAD");
    await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    await workspace.restore(0, { salvage: "1", at: AT });
    expect(readFileSync(join(place.repo, "a.txt"), "utf8")).toBe("one\n");
    expect(place.gitIn(join(place.repo, "lib"), "rev-parse", "HEAD")).toBe(tip);
    expect(place.privateGit("rev-parse", "refs/pawl/r1/main/salvage/1:lib")).toBe(tip);
  });
});
