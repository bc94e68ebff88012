import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import type { Workspace } from "../ports.ts";

const AT = 1_700_000_000_000;
let place: Scratch;
let workspace: Workspace;
let taken: number;

beforeEach(async () => {
  place = scratch();
  for (const name of ["feature/x", "packed", "moved", "kept"]) {
    place.git("checkout", "-q", "-b", name, "main");
    place.write(`${name.replace("/", "-")}.txt`, `${name}\n`);
    place.git("add", "-A");
    place.git("commit", "-qm", name);
  }
  place.git("checkout", "-q", "main");
  place.git("tag", "-a", "v1", "-m", "a tag that is an object", "packed");
  place.git("pack-refs", "--all");
  place.git("branch", "-f", "feature/x", "feature/x");
  place.write("a.txt", "in the stash\n");
  place.git("stash", "-q");
  workspace = await openFor(place);
  await workspace.prepare();
  taken = 0;
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

async function look(of: Workspace = workspace): Promise<string[]> {
  taken += 1;
  const { warnings } = await of.snapshot(taken, { parent: taken === 1 ? null : taken - 1, message: "m", at: AT });
  return warnings;
}

const kept = (ref: string, path: string): string => place.privateGit("show", `refs/pawl/r1/main/lost/${ref}:${path}`);

describe("the user's refs", () => {
  it("that an agent deletes or sets elsewhere are named with their commit, which is kept; once", async () => {
    const at = (ref: string): string => place.git("rev-parse", ref);
    const [x, moved, tag, stash] = [at("feature/x"), at("moved"), at("v1"), at("stash")];
    expect(await look()).toEqual([]);
    place.git("branch", "-D", "feature/x");
    place.git("branch", "-f", "moved", "main");
    place.git("tag", "-d", "v1");
    place.git("stash", "drop", "-q");
    const warnings = await look();
    expect(warnings.toSorted()).toEqual(
      [
        `the branch "feature/x" was deleted while the run worked; it was at ${x}; that commit is kept as lost/ref-feature-x`,
        `the branch "moved" was set to ${at("main")} while the run worked; it was at ${moved}; that commit is kept as lost/ref-moved`,
        `the ref "tags/v1" was deleted while the run worked; it was at ${tag}; that commit is kept as lost/ref-tags-v1`,
        `the stash was deleted while the run worked; it was at ${stash}; that commit is kept as lost/ref-stash`,
      ].toSorted(),
    );
    expect(kept("ref-feature-x", "feature-x.txt")).toBe("feature/x");
    expect(kept("ref-moved", "moved.txt")).toBe("moved");
    expect(kept("ref-tags-v1", "packed.txt")).toBe("packed");
    expect(kept("ref-stash", "a.txt")).toBe("in the stash");
    expect(await look()).toEqual([]);
  });

  it("that only grow, new ones and pawl's own branch are nobody's loss", async () => {
    place.git("checkout", "-q", "kept");
    place.git("commit", "-q", "--allow-empty", "-m", "one");
    place.git("commit", "-q", "--allow-empty", "-m", "two");
    place.git("branch", "new", "main");
    place.git("checkout", "-q", "pawl/task");
    place.git("pack-refs", "--all");
    place.git("commit", "-q", "--amend", "--allow-empty", "-m", "rewritten");
    expect(await look()).toEqual([]);
    place.git("branch", "-D", "new");
    expect((await look()).join()).toContain('the branch "new" was deleted');
  });

  it("that vanish while no driver lives, with all their objects, are named all the same", async () => {
    const x = place.git("rev-parse", "feature/x");
    await workspace.close();
    place.git("branch", "-D", "feature/x");
    place.git("reflog", "expire", "--expire=now", "--all");
    place.git("gc", "-q", "--prune=now");
    const next = await openFor(place);
    expect(await look(next)).toEqual([
      `the branch "feature/x" was deleted while the run worked; it was at ${x}; its objects are gone too`,
    ]);
    await next.close();
  });
});

describe("a repository that is gone", () => {
  it("is told as that, not as a branch that moved", async () => {
    place.write("a.txt", "work\n");
    const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    rmSync(join(place.repo, ".git"), { recursive: true });
    const accepted = await workspace.accept({ tree: judged, message: "m", at: AT, snapshot: 1 });
    expect(accepted).toMatchObject({
      conflict: "salvage/conflict-1",
      conflictReason: `${join(place.repo, ".git")} was deleted`,
    });
  });
});

describe("the look at a run's end", () => {
  it("finds nothing in an untouched workspace, and keeps what was written after the last snapshot", async () => {
    place.write("a.txt", "judged\n");
    const { tree } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    expect(await workspace.leftover(tree, { salvage: "end-0", at: AT })).toBeUndefined();
    place.write("late.txt", "late\n");
    writeFileSync(join(place.repo, "a.txt"), "later\n");
    const left = await workspace.leftover(tree, { salvage: "end-0", at: AT });
    expect(left).toEqual({ salvage: "salvage/end-0", paths: ['"a.txt"', '"late.txt"'], fileCount: 2 });
    expect(place.privateGit("show", "refs/pawl/r1/main/salvage/end-0:late.txt")).toBe("late");
    expect(place.privateGit("show", "refs/pawl/r1/main/snap/1:a.txt")).toBe("judged");
  });
});
