/** A start that is refused after its run began: nothing of it may be left. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, tempRepository, type TempRepository } from "../../../test/support/temp.ts";
import { scripted } from "../../agents/scripted.ts";
import type { RunHandle } from "./handle.ts";
import { resume } from "./resume.ts";
import { run, type RunOptions } from "./run.ts";

interface Place {
  repository: TempRepository;
  environment: Record<string, string>;
  start(over: Partial<RunOptions>): Promise<RunHandle>;
}

function place(): Place {
  const repository = tempRepository({ "a.txt": "one\n" });
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: tempDir("home"),
    PAWL_HOME: join(tempDir("state"), "pawl"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  const agent = scripted(() => ({ text: "<promise>COMPLETE</promise>" }));
  return {
    repository,
    environment,
    start: async (over) => await run({ goal: "make it two", cwd: repository.path, environment, agent, ...over }),
  };
}

describe("a start that loses a race", () => {
  const nothingLeft = async ({ environment }: Place, run: string): Promise<void> => {
    await expect(resume(run, { environment })).rejects.toThrow("there is no run");
    expect(existsSync(join(environment["PAWL_HOME"] ?? "", "runs", run))).toBe(false);
  };

  it("leaves no run behind where the branch was taken meanwhile", async () => {
    const here = place();
    here.repository.git("worktree", "add", "-q", "-b", "taken", join(tempDir("other"), "w"));
    const handle = await here.start({ branch: "taken" });
    await expect(handle.outcome).rejects.toThrow("checked out in another worktree");
    await nothingLeft(here, handle.id);
    expect(here.repository.git("branch", "--show-current")).not.toBe("taken");
  });

  it("takes its worktree and branch with it", async () => {
    const here = place();
    const { repository } = here;
    // As git checks it out it looks changed at once, so the workspace is refused.
    writeFileSync(join(repository.path, "crlf.txt"), "a\r\nb\r\n");
    repository.git("-c", "core.autocrlf=false", "add", "-A");
    repository.git("commit", "-qm", "crlf");
    writeFileSync(join(repository.path, ".gitattributes"), "*.txt text\n");
    repository.git("add", ".gitattributes");
    repository.git("commit", "-qm", "attributes");
    const before = repository.git("for-each-ref", "--format=%(refname)");
    const handle = await here.start({ worktree: true });
    await expect(handle.outcome).rejects.toThrow("has uncommitted changes");
    await nothingLeft(here, handle.id);
    expect(existsSync(handle.spec.workspace.path)).toBe(false);
    expect(repository.git("for-each-ref", "--format=%(refname)")).toBe(before);
    expect(repository.git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });
});
