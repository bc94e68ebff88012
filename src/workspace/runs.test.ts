import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, specFor, type Scratch } from "../../test/fixtures/repository.ts";
import { branchSlug, freeBranchName } from "./branch.ts";
import { diffRun, listSnapshots, restoreRun } from "./runs.ts";

const AT = 1_700_000_000_000;
let place: Scratch;

beforeEach(async () => {
  place = scratch();
  const workspace = await openFor(place);
  await workspace.prepare();
  for (const n of [1, 2]) {
    place.write("a.txt", `version ${n}\n`);
    const { judged } = await workspace.snapshot(n, { parent: n === 1 ? null : 1, message: "m", at: AT });
    await workspace.accept({ tree: judged, message: `iteration ${n}`, at: AT, snapshot: n });
  }
  await workspace.close();
});
afterEach(() => place.remove());

const run = () => ({ spec: specFor(place.repo), run: "r1", lane: "main", stateDir: place.stateDir });
const content = () => readFileSync(join(place.repo, "a.txt"), "utf8");

describe("the work of a run that nobody drives", () => {
  it("is listed, and shown as a diff from the base", async () => {
    expect((await listSnapshots(run())).map(({ at }) => at)).toEqual([1, 2]);
    const whole = await diffRun({ ...run(), maxBytes: 10_000 });
    expect(whole).toMatchObject({ fileCount: 1, added: 1, removed: 1 });
    expect(whole.text).toContain("+version 2");
    expect((await diffRun({ ...run(), to: 1, maxBytes: 10_000 })).text).toContain("+version 1");
  });

  it("is put back into the workspace, and what was there can be put back too", async () => {
    place.write("a.txt", "mine\n");
    const { salvage } = await restoreRun({ ...run(), at: 1 });
    expect(content()).toBe("version 1\n");
    expect(salvage).toBe("salvage/by-hand-1");
    expect((await listSnapshots(run())).map(({ at }) => at)).toEqual([1, 2, "salvage/by-hand-1"]);
    await restoreRun({ ...run(), at: "salvage/by-hand-1" });
    expect(content()).toBe("mine\n");
  });

  it("becomes a branch on top of the base, without changing a file", async () => {
    expect(await restoreRun({ ...run(), at: 1, branch: "first-try" })).toMatchObject({ branch: "first-try" });
    expect(place.git("show", "first-try:a.txt")).toBe("version 1");
    expect(place.git("rev-parse", "first-try^")).toBe(place.git("rev-parse", "main"));
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
    await expect(restoreRun({ ...run(), at: 1, branch: "first-try" })).rejects.toThrow("exists already");
    await expect(restoreRun({ ...run(), at: 1, branch: "-x" })).rejects.toThrow("cannot be a branch name");
  });

  it("that is not there is refused with what there is", async () => {
    await expect(restoreRun({ ...run(), at: 7 })).rejects.toMatchObject({
      name: "UsageError",
      hint: "There are: 1, 2.",
    });
    await expect(listSnapshots({ ...run(), run: "other" })).rejects.toThrow("run other has no snapshots");
    await expect(listSnapshots({ ...run(), run: "../x" })).rejects.toMatchObject({ name: "UsageError" });
  });
});

describe("the name of a run's branch", () => {
  it("comes from the goal and is the first free one", async () => {
    expect(branchSlug("Make the Tests pass!")).toBe("make-the-tests-pass");
    expect(branchSlug("Übersetze die Größe")).toBe("ubersetze-die-gro-e");
    expect(branchSlug("修复")).toBe("run");
    expect(branchSlug("word ".repeat(40)).length).toBeLessThanOrEqual(40);
    const free = async (slug: string) =>
      await freeBranchName(slug, { repository: place.repo, environment: place.environment });
    expect(await free("fix")).toBe("pawl/fix");
    expect(await free("task")).toBe("pawl/task-2");
    place.git("branch", "pawl/task-2/sub");
    expect(await free("task")).toBe("pawl/task-3");
  });

  it("has the prefix that was asked for, or none, and says when git could not take it", async () => {
    const named = async (prefix: string) =>
      await freeBranchName("task", { repository: place.repo, environment: place.environment, prefix });
    expect([await named("team/pawl-"), await named(""), await named("x/")]).toEqual([
      "team/pawl-task",
      "task",
      "x/task",
    ]);
    place.git("branch", "x");
    expect(await named("x/y/")).toBe("x-y-task");
    for (const prefix of ["a b/", "-x/", "a..b/", ".x/", "x.lock/", "/", "a//b/", "a~"])
      await expect(named(prefix)).rejects.toThrow("cannot begin a branch name");
  });

  it("avoids a branch that is called pawl itself", async () => {
    const other = scratch();
    other.git("branch", "pawl");
    expect(await freeBranchName("fix", { repository: other.repo, environment: other.environment })).toBe("pawl-fix");
    other.remove();
  });
});
