import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import type { Workspace } from "../ports.ts";

const AT = 1_700_000_000_000;
const WHOLE = { is: "whole", warnings: [] };
let place: Scratch;
let workspace: Workspace;

async function deliver(): Promise<string> {
  place.write("a.txt", "work\n");
  const { judged } = await workspace.snapshot(1, { parent: null, message: "m", at: AT });
  return (await workspace.accept({ tree: judged, message: "the work", at: AT, snapshot: 1 })).commit ?? "";
}
const kept = (): string => place.privateGit("show", "refs/pawl/r1/main/head:a.txt");

beforeEach(async () => {
  place = scratch();
  workspace = await openFor(place);
  await workspace.prepare();
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

describe("what the user holds at a run's end", () => {
  it("is whole where the branch is at the delivered commit, or nothing had to be delivered", async () => {
    expect(await workspace.standing()).toEqual(WHOLE);
    await deliver();
    expect(await workspace.standing()).toEqual(WHOLE);
    place.git("pack-refs", "--all");
    expect(await workspace.standing()).toEqual(WHOLE);
  });

  it("is missing where the branch was deleted, and the private repository still has it", async () => {
    await deliver();
    place.git("checkout", "-q", "main");
    place.git("branch", "-qD", "pawl/task");
    expect(await workspace.standing()).toMatchObject({
      is: "missing",
      reason: "the branch pawl/task was deleted",
      kept: expect.stringMatching(/^refs\/pawl\/r1\/main\/head in .*private\.git$/) as string,
    });
    expect(kept()).toBe("work");
  });

  it("is missing where the whole repository is gone; nothing is made in its place", async () => {
    await deliver();
    rmSync(place.repo, { recursive: true });
    expect(await workspace.standing()).toMatchObject({
      is: "missing",
      reason: `${join(place.repo, ".git")} was deleted`,
    });
    await expect(workspace.leftover("0".repeat(40), { salvage: "end-0", at: AT })).rejects.toThrow("was deleted");
    expect(existsSync(place.repo)).toBe(false);
    expect(kept()).toBe("work");
  });

  it("is missing where the branch was moved away, or its objects are gone", async () => {
    const commit = await deliver();
    place.git("update-ref", "refs/heads/pawl/task", "main");
    expect(await workspace.standing()).toMatchObject({
      is: "missing",
      reason: expect.stringContaining("was moved to") as string,
    });
    place.git("update-ref", "refs/heads/pawl/task", commit);
    rmSync(join(place.repo, ".git/objects", commit.slice(0, 2), commit.slice(2)));
    expect(await workspace.standing()).toMatchObject({
      is: "missing",
      reason: expect.stringContaining("cannot be read") as string,
    });
  });

  it("is whole under another message; commits behind it are told", async () => {
    const commit = await deliver();
    place.git("commit", "-q", "--amend", "-m", "other words");
    expect(await workspace.standing()).toEqual(WHOLE);
    place.git("reset", "-q", "--hard", commit);
    place.write("b.txt", "on top\n");
    place.git("add", "-A");
    place.git("commit", "-qm", "on top");
    expect(await workspace.standing()).toMatchObject({
      is: "whole",
      warnings: [expect.stringMatching(/^pawl\/task has commits behind \w+ that nobody judged$/)],
    });
  });
});
