import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { workspaceContract } from "../../test/contracts/workspace.ts";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";

const AT = 1_700_000_000_000;

workspaceContract("the workspace on git", () => {
  const place = scratch();
  return { open: () => openFor(place), remove: place.remove };
});

describe("a workspace on git", () => {
  let place: Scratch;
  beforeEach(() => {
    place = scratch();
  });
  afterEach(() => place.remove());

  it("hands over a commit that leaves the user's status clean and runs no hook of theirs", async () => {
    const workspace = await openFor(place);
    for (const hook of ["post-index-change", "reference-transaction", "post-commit", "post-checkout", "pre-commit"])
      writeFileSync(join(place.repo, ".git/hooks", hook), `#!/bin/sh\ntouch ${place.root}/hooked\n`, { mode: 0o755 });
    await workspace.prepare();
    place.write("a.txt", "changed\n");
    place.write("deep/er/new.txt", "new\n");
    const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    const accepted = await workspace.accept({ tree: judged, message: "did it\n\nred: yes", at: AT, snapshot: 1 });
    expect(() => readFileSync(join(place.root, "hooked"))).toThrow("ENOENT");
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
    expect(place.git("log", "-1", "--format=%H|%an <%ae>|%cn <%ce>|%at|%ct|%B", "pawl/task").trim()).toBe(
      `${accepted.commit}|Ann Öther <ann@example.org>|pawl <pawl@localhost>|1700000000|1700000000|did it\n\nred: yes`,
    );
    expect(place.git("rev-parse", "pawl/task^")).toBe(place.git("rev-parse", "main"));
    expect(place.git("reflog", "-1", "--format=%gs", "pawl/task")).toBe("pawl: did it");
  });

  it("leaves both repositories whole for git fsck, first and later hand-overs alike", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    for (let n = 1; n <= 4; n += 1) {
      place.write(n === 3 ? "a.txt" : `dir/sub${n}/f.txt`, `content ${n}\n`);
      const { judged } = await workspace.snapshot(n, { parent: n === 1 ? null : n - 1, message: "m", at: AT + n });
      await workspace.accept({ tree: judged, message: `it ${n}`, at: AT + n, snapshot: n });
    }
    expect(place.git("fsck", "--full", "--strict", "--no-dangling")).toBe("");
    expect(place.privateGit("fsck", "--full", "--strict", "--no-dangling")).toBe("");
    expect(place.git("rev-list", "--count", "main..pawl/task")).toBe("4");
    expect(place.git("status", "--porcelain")).toBe("");
  });

  it("hands over what several snapshots without a hand-over between them changed", async () => {
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("zero.txt");
    const first = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    await workspace.accept({ tree: first.judged, message: "0", at: AT, snapshot: 1 });
    place.write("dir/one.txt", "one\n");
    await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    place.write("dir/two.txt", "two\n");
    const { judged } = await workspace.snapshot(3, { parent: 2, message: "m", at: AT });
    await workspace.accept({ tree: judged, message: "both", at: AT, snapshot: 3 });
    expect(place.git("fsck", "--full", "--strict", "--no-dangling")).toBe("");
    expect(place.git("show", "--stat", "--format=", "HEAD")).toContain("2 files changed");
  });

  it("works in a repository with sha256 objects", async () => {
    const other = scratch({ init: ["--object-format=sha256"] });
    try {
      const workspace = await openFor(other);
      const base = await workspace.prepare();
      for (let n = 1; n <= 2; n += 1) {
        const before = await workspace.snapshot(n * 2, { parent: n === 1 ? null : 3, message: "m", at: AT });
        if (n === 1) expect(before.tree).toBe(base.tree);
        other.write("dir/b.txt", `changed ${n}\n`);
        const { judged } = await workspace.snapshot(n * 2 + 1, { parent: n * 2, message: "m", at: AT });
        await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
      }
      expect(other.git("status", "--porcelain", "-b")).toBe("## pawl/task");
      expect(other.git("fsck", "--full", "--strict", "--no-dangling")).toBe("");
    } finally {
      other.remove();
    }
  });

  it("commits nothing under the policy none", async () => {
    const workspace = await openFor(place, { commit: "none", branch: undefined });
    await workspace.prepare();
    place.write("a.txt", "changed\n");
    const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    const before = [place.git("for-each-ref"), place.git("count-objects")];
    const accepted = await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
    expect(accepted).toEqual({ commit: null, branch: null, adopted: [], warnings: [] });
    expect([place.git("for-each-ref"), place.git("count-objects")]).toEqual(before);
    expect(place.git("status", "--porcelain", "-b")).toBe("## main\n M a.txt");
  });

  it("commits on the user's branch under the policy current", async () => {
    const workspace = await openFor(place, { commit: "current", branch: undefined });
    await workspace.prepare();
    place.write("a.txt", "changed\n");
    const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    const accepted = await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
    expect(accepted.branch).toBe("main");
    expect(place.git("rev-parse", "main")).toBe(accepted.commit);
    expect(place.git("status", "--porcelain", "-b")).toBe("## main");
  });

  it("refuses a snapshot above its caps and leaves the work on disk", async () => {
    const workspace = await openFor(place, { maxSnapshotBytes: 1000, maxSnapshotFiles: 3 });
    const base = await workspace.prepare();
    place.write("out/one", "x".repeat(400));
    place.write("out/two", "x".repeat(400));
    place.write("big", "x".repeat(201));
    const big = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(big.refused).toContain("1001 bytes of new or changed files are more than the 1000 bytes of a snapshot");
    expect(big.refused).toContain('most of them in "out/"');
    expect(big.tree).toBe(base.tree);
    rmSync(join(place.repo, "out"), { recursive: true });
    place.write("big", "small");
    for (const name of ["1", "2", "3"]) place.write(name);
    expect((await workspace.snapshot(1, { parent: null, message: "m", at: AT })).refused).toContain(
      "4 new or changed files",
    );
    expect(readFileSync(join(place.repo, "big"), "utf8")).toBe("small");
    rmSync(join(place.repo, "1"));
    place.write(".gitignore", "/2\n/3\n");
    const next = await workspace.snapshot(2, { parent: 1, message: "m", at: AT });
    expect([next.refused, next.files.map(({ path }) => path)]).toEqual([undefined, [".gitignore", "big"]]);
  });

  it("copies dependency folders before the first turn, points their links into the verify tree, and undoes what a check does to them", async () => {
    place.write("node_modules/lib/index.js", "original");
    place.write("packages/a/index.js", "mine");
    place.write("packages/a/node_modules/x.js", "inner");
    symlinkSync("../packages/a", join(place.repo, "node_modules/relative"));
    symlinkSync(join(place.repo, "packages/a"), join(place.repo, "node_modules/absolute"));
    place.git("add", "-A");
    place.git("commit", "-qm", "packages");
    const workspace = await openFor(place);
    await workspace.prepare();
    place.write("node_modules/lib/index.js", "changed by the agent");
    place.write("packages/a/index.js", "changed");
    const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    for (let round = 0; round < 2; round += 1) {
      const tree = await workspace.verifyTree(judged);
      const at = (path: string) => readFileSync(join(tree.path, path), "utf8");
      expect(at("node_modules/lib/index.js")).toBe("original");
      expect(at("packages/a/node_modules/x.js")).toBe("inner");
      expect(at("node_modules/relative/index.js")).toBe("changed");
      expect(at("node_modules/absolute/index.js")).toBe("changed");
      mkdirSync(join(tree.path, "packages/b/out"), { recursive: true });
      // The agent's code runs in the check: emptied with its old time stamp kept, and removed.
      const { mtime } = statSync(join(tree.path, "node_modules/lib/index.js"));
      writeFileSync(join(tree.path, "node_modules/lib/index.js"), "poisoned");
      utimesSync(join(tree.path, "node_modules/lib/index.js"), mtime, mtime);
      rmSync(join(tree.path, "packages/a/node_modules"), { recursive: true });
      await tree.release();
    }
  });
});
