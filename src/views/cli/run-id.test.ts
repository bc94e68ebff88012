import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, tempRepository } from "../../../test/support/temp.ts";
import type { RunRow } from "../../ports.ts";
import { looksLikeRun, makeRunId, repositoriesOf, resolveRun } from "./run-id.ts";

const row = (run: string, { repository = "/elsewhere", createdAt = 1 } = {}): RunRow => ({
  run,
  createdAt,
  repository,
  goal: "g",
  owner: undefined,
  lastSeq: 0,
});
const journalOf = (rows: RunRow[]) => ({ runs: () => Promise.resolve(rows) });

describe("names of runs", () => {
  it("sort by time, look like runs, and differ within one moment", () => {
    const at = Date.UTC(2026, 10, 15, 23, 59, 59);
    const ids = [0, 5_000, 3_600_000, 86_400_000].map((later) => makeRunId(at + later, () => 0.5));
    expect(ids.toSorted()).toEqual(ids);
    expect(ids[0]).toMatch(/^r-20261115-[0-9a-z]{6}$/);
    expect(ids.every(looksLikeRun)).toBe(true);
    expect(makeRunId(at, () => 0.1)).not.toBe(makeRunId(at, () => 0.9));
    expect(makeRunId(at, () => 0.999_999)).toHaveLength(17);
    expect(["fix the r-tests", "R-1", "run"].some(looksLikeRun)).toBe(false);
  });

  it("are found by any unique beginning, with or without r-", async () => {
    const journal = journalOf([row("r-20261115-aaa111"), row("r-20261115-abb222"), row("r-20261116-aaa111")]);
    const find = async (asked: string) => (await resolveRun(journal, { asked, cwd: "/" })).run;
    expect(await find("r-20261116")).toBe("r-20261116-aaa111");
    expect(await find("20261115-ab")).toBe("r-20261115-abb222");
    expect(await find("r-20261115-aaa111")).toBe("r-20261115-aaa111");
    await expect(find("r-20261115")).rejects.toThrow('"r-20261115" is the beginning of 2 runs');
    await expect(find("nothing")).rejects.toThrow('there is no run "nothing"');
  });

  it("are not needed for the newest run of the repository, from any folder and worktree of it", async () => {
    const repository = tempRepository({ "a/b.txt": "x" });
    const linked = join(tempDir("linked"), "tree");
    repository.git("worktree", "add", "-q", "--detach", linked);
    const here = { repository: repository.path };
    const journal = journalOf([row("r-2", { ...here, createdAt: 2 }), row("r-1", here), row("r-9", { createdAt: 9 })]);
    for (const cwd of [repository.path, join(repository.path, "a"), linked]) {
      expect((await resolveRun(journal, { asked: undefined, cwd })).run).toBe("r-2");
    }
    const outside = tempDir("outside");
    mkdirSync(join(outside, "x/.git"), { recursive: true });
    expect(repositoriesOf(join(outside, "x"))).toEqual([]);
    await expect(resolveRun(journal, { asked: undefined, cwd: outside })).rejects.toThrow("not a git repository");
  });
});
