import { afterEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { UsageError } from "../errors.ts";
import type { Workspace } from "../ports.ts";
import type { WorkspaceSpec } from "../spec.ts";

const AT = 1_700_000_000_000;
const places: Scratch[] = [];
const opened: Workspace[] = [];
const BRANCH = "pawl/task";

async function prepared(
  place: Scratch,
  change: Partial<WorkspaceSpec> = {},
): Promise<Workspace & Required<Pick<Workspace, "dropBranch" | "ready">>> {
  places.push(place);
  const workspace = await openFor(place, change);
  opened.push(workspace);
  await workspace.prepare();
  return workspace as Awaited<ReturnType<typeof prepared>>;
}
const branches = ({ git }: Scratch): string => git("for-each-ref", "--format=%(refname:short)", "refs/heads");

afterEach(async () => {
  for (const workspace of opened.splice(0)) await workspace.close();
  for (const place of places.splice(0)) place.remove();
});

describe("the branch of a run without a commit of its own", () => {
  it("is removed, and HEAD is where it was, with the files and the index as they are (row 41)", async () => {
    const place = scratch();
    const workspace = await prepared(place);
    expect(await workspace.dropBranch()).toBe(BRANCH);
    expect(branches(place)).toBe("main");
    expect(place.git("status", "--porcelain", "-b")).toBe("## main");
  });

  it("is removed where HEAD was detached, and in a repository without a commit", async () => {
    const place = scratch();
    const tip = place.git("rev-parse", "HEAD");
    place.git("checkout", "-q", "--detach");
    expect(await (await prepared(place)).dropBranch()).toBe(BRANCH);
    expect([place.git("rev-parse", "HEAD"), place.git("rev-parse", "--abbrev-ref", "HEAD")]).toEqual([tip, "HEAD"]);
    const empty = scratch({ empty: true });
    expect(await (await prepared(empty)).dropBranch()).toBe(BRANCH);
    expect(empty.git("symbolic-ref", "HEAD")).toBe("refs/heads/main");
  });

  it("comes back when the run is gone on with, as often as that is tried (row 41)", async () => {
    const place = scratch();
    const workspace = await prepared(place);
    await workspace.dropBranch();
    await workspace.ready("between");
    await workspace.ready("between");
    expect(place.git("status", "--porcelain", "-b")).toBe(`## ${BRANCH}`);
    place.write("a.txt", "work\n");
    const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
    await workspace.accept({ tree: judged, message: "the work", at: AT, snapshot: 1 });
    expect(place.git("log", "-1", "--format=%s", BRANCH)).toBe("the work");
    expect(await workspace.dropBranch()).toBeUndefined();
  });

  it("comes back with what its user has committed since, and not where they went elsewhere", async () => {
    const place = scratch();
    const workspace = await prepared(place);
    await workspace.dropBranch();
    place.write("a.txt", "the user's\n");
    place.git("commit", "-qam", "the user's");
    const main = place.git("rev-parse", "main");
    place.git("switch", "-q", "--orphan", "other");
    place.git("commit", "-q", "--allow-empty", "-m", "other");
    await expect(workspace.ready("between")).rejects.toThrow(UsageError);
    place.git("switch", "-q", "main");
    await workspace.ready("between");
    expect(place.git("status", "--porcelain", "-b")).toBe(`## ${BRANCH}`);
    expect([place.git("rev-parse", BRANCH), place.git("rev-parse", "main")]).toEqual([main, main]);
    expect(await workspace.dropBranch()).toBeUndefined();
  });

  it("does not come back in place of another one of that name", async () => {
    const place = scratch();
    const workspace = await prepared(place);
    await workspace.dropBranch();
    place.git("switch", "-qc", BRANCH);
    place.git("commit", "-q", "--allow-empty", "-m", "another's");
    place.git("switch", "-q", "main");
    await expect(workspace.ready("between")).rejects.toThrow(/another branch pawl\/task/);
    expect(place.git("log", "-1", "--format=%s", BRANCH)).toBe("another's");
  });

  it.each<[string, (place: Scratch) => void]>([
    ["somebody committed on it", ({ git }) => git("commit", "-q", "--allow-empty", "-m", "mine")],
    ["another one is checked out", ({ git }) => git("switch", "-q", "main")],
    [
      "the branch it began at has moved",
      ({ git }) => git("branch", "-f", "main", git("commit-tree", "-m", "x", "HEAD^{tree}")),
    ],
  ])("stays where %s", async (_, change) => {
    const place = scratch();
    const workspace = await prepared(place);
    change(place);
    const before = [place.git("rev-parse", BRANCH), place.git("symbolic-ref", "HEAD")];
    expect(await workspace.dropBranch()).toBeUndefined();
    expect([place.git("rev-parse", BRANCH), place.git("symbolic-ref", "HEAD")]).toEqual(before);
  });

  it("stays where it was there before the run, or holds what was not committed then", async () => {
    const place = scratch();
    place.git("branch", BRANCH);
    expect(await (await prepared(place)).dropBranch()).toBeUndefined();
    const dirty = scratch();
    dirty.write("a.txt", "not committed\n");
    expect(await (await prepared(dirty, { allowDirty: true })).dropBranch()).toBeUndefined();
    expect(branches(dirty)).toContain(BRANCH);
  });
});
