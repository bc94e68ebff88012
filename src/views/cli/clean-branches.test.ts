/** Branches of runs of a scripted agent, and which of them cleaning removes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, tempRepository } from "../../../test/support/temp.ts";
import { scripted } from "../../agents/scripted.ts";
import { openState } from "../../compose.ts";
import { run } from "../library/run.ts";
import { cleanBranches } from "./clean-branches.ts";

const CLAIM = "<promise>COMPLETE</promise>";

function place() {
  const repository = tempRepository({ "a.txt": "one\n" });
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: tempDir("home"),
    PAWL_HOME: join(tempDir("state"), "pawl"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const work = async (branch: string, { changes = true } = {}) => {
    const { outcome } = await run({
      goal: "make it two",
      cwd: repository.path,
      environment,
      shortTurn: 0,
      maxIterations: 2,
      branch,
      agent: scripted(({ workspace }) => {
        if (changes) writeFileSync(join(workspace, `${branch}.txt`), "work\n");
        return { text: CLAIM };
      }),
      checks: [{ name: "ok", judge: () => ({ pass: true }) }],
    });
    return await outcome;
  };
  const clean = async ({ dryRun = false } = {}): Promise<string[]> => {
    const state = openState(environment);
    try {
      const rows = await state.journal.runs();
      const cleaned = await cleanBranches(state, { rows, dryRun, environment });
      return cleaned.map(({ is, branch, why }) => `${is} ${branch}: ${why}`);
    } finally {
      state.close();
    }
  };
  const { git } = repository;
  return { git, work, clean, branches: () => git("for-each-ref", "--format=%(refname:short)", "refs/heads") };
}

describe("cleaning branches of ended runs", () => {
  it("removes those that are merged and keeps unmerged work, also where another run's branch holds it (row 41)", async () => {
    const { git, work, clean, branches } = place();
    await work("merged");
    git("switch", "-q", "main");
    git("merge", "-q", "merged");
    await work("first");
    // It begins on the one before it.
    await work("second");
    git("switch", "-q", "main");
    expect(await clean({ dryRun: true })).toContain("removed merged: merged into main");
    expect(branches()).toBe("first\nmain\nmerged\nsecond");
    expect(await clean()).toEqual([
      "removed merged: merged into main",
      "kept first: it is not merged",
      "kept second: it is not merged",
    ]);
    expect(branches()).toBe("first\nmain\nsecond");
  });

  it("removes those without a commit of their own, and keeps what is checked out", async () => {
    const { git, work, clean, branches } = place();
    await work("here");
    git("switch", "-q", "main");
    await work("empty");
    git("switch", "-q", "here");
    git("branch", "-qf", "empty", "main");
    expect((await clean())[0]).toMatch(/^kept here: it is checked out in /);
    expect(branches()).toBe("here\nmain");
  });
});

describe("a run that ends without a commit", () => {
  it("leaves no branch behind, and HEAD where it was", async () => {
    const { git, work, branches } = place();
    const ended = await work("none", { changes: false });
    expect(ended.branch).toBeUndefined();
    expect(branches()).toBe("main");
    expect(git("status", "--porcelain", "-b")).toBe("## main");
  });
});
