/** What a git that was killed, or an agent that gave up, leaves half done in the repository: nobody has to clean up (F10). */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openFor, scratch, type Scratch } from "../../test/fixtures/repository.ts";
import { countOf, figure } from "../../test/support/figure.ts";
import { taggedProcesses } from "../../test/support/processes.ts";
import { waitFor } from "../../test/support/temp.ts";
import type { Accepted, Workspace } from "../ports.ts";

const AT = 1_700_000_000_000;
const KILLS = countOf("PAWL_TEST_GIT_KILLS", 12);
const MAX_KILLS = 10 * KILLS;

let place: Scratch;
let workspace: Workspace;
let taken: number;

beforeEach(async () => {
  place = scratch();
  place.git("checkout", "-q", "-b", "side");
  place.write("a.txt", "side\n");
  place.git("commit", "-qam", "side");
  place.git("checkout", "-q", "main");
  workspace = await openFor(place);
  await workspace.prepare();
  taken = 0;
  place.write("a.txt", "ours\n");
  await iterate();
});
afterEach(async () => {
  await workspace.close();
  place.remove();
});

async function iterate(): Promise<Accepted> {
  taken += 1;
  const { judged } = await workspace.snapshot(taken, {
    parent: taken === 1 ? null : taken - 1,
    message: "m",
    at: AT + taken,
  });
  return await workspace.accept({ tree: judged, message: `iteration ${taken}`, at: AT + taken, snapshot: taken });
}

/** Conflicts, so git stops half-way. */
function attempt(...args: string[]): void {
  expect(() => place.git(...args)).toThrow();
}

describe("half done by an agent", () => {
  it.each([
    ["a merge", ["merge", "side"]],
    ["a rebase", ["rebase", "side"]],
    ["a cherry-pick", ["cherry-pick", "side"]],
    ["a revert", ["revert", "--no-edit", "HEAD~1"]],
  ])(
    "%s with a conflict: the work is handed over, the next iterations too, and no lock is left (F10)",
    async (_, args) => {
      if (args[0] === "revert") place.git("commit", "-q", "--allow-empty", "-m", "more");
      place.write("a.txt", "ours again\n");
      place.git("commit", "-qam", "by the agent");
      attempt(...args);
      place.write("made.txt", "half\n");
      const first = await iterate();
      expect(first.conflict).toBeUndefined();
      expect(place.git("show", "pawl/task:made.txt")).toBe("half");
      place.write("made.txt", "whole\n");
      expect((await iterate()).conflict).toBeUndefined();
      expect(place.git("show", "pawl/task:made.txt")).toBe("whole");
      expect(place.git("log", "--format=%s", "pawl/task")).toContain("by the agent");
      await workspace.restore(1, { salvage: "1", at: AT });
      expect(place.git("fsck", "--full", "--no-dangling")).toBe("");
      expect(existsSync(join(place.repo, ".git/index.lock"))).toBe(false);
    },
  );

  it(`a git add, commit or merge killed at ${KILLS} moments needs no human step (F10)`, async () => {
    const commands = [
      ["add", "-A"],
      ["commit", "-qam", "by the agent"],
      ["merge", "-q", "--no-edit", "-s", "ours", "side"],
      ["checkout", "-q", "-b", "other"],
      ["gc", "-q"],
    ];
    let killed = 0;
    // A machine with much to do may come too late with most of them.
    const wanted = KILLS / 3;
    for (let n = 0; n < KILLS || (killed <= wanted && n < MAX_KILLS); n += 1) {
      for (let file = 0; file < 40; file += 1) place.write(`many/${file}.txt`, `${n} ${file}\n`.repeat(200));
      const command = commands[n % commands.length] ?? [];
      if (command[0] === "commit") place.git("add", "-A");
      const env = { ...place.environment, KILLED_GIT: place.root };
      const child = spawn("git", command, { cwd: place.repo, env, stdio: "ignore" });
      const closed = new Promise<NodeJS.Signals | null>((resolve) =>
        child.once("close", (_, signal) => resolve(signal)),
      );
      await sleep((n * 7) % 12);
      child.kill("SIGKILL");
      killed += (await closed) === "SIGKILL" ? 1 : 0;
      // What a killed gc had started lives on, and may hold its locks by right.
      await waitFor(() => taggedProcesses("KILLED_GIT", place.root).length === 0, { what: "the end of its children" });
      const accepted = await iterate();
      expect([command, n, accepted.conflict]).toEqual([command, n, undefined]);
      expect(place.git("show", `pawl/task:many/39.txt`)).toContain(`${n} 39`);
      if (command[0] === "checkout") {
        place.git("checkout", "-q", "-f", "pawl/task");
        if (place.git("branch", "--list", "other") !== "") place.git("branch", "-q", "-D", "other");
      }
    }
    expect(place.git("fsck", "--full", "--no-dangling")).toBe("");
    expect(place.privateGit("fsck", "--full", "--no-dangling")).toBe("");
    expect(place.git("status", "--porcelain", "-b")).toBe("## pawl/task");
    for (const lock of ["index.lock", "HEAD.lock", "refs/heads/pawl/task.lock"])
      expect([lock, existsSync(join(place.repo, ".git", lock))]).toEqual([lock, false]);
    expect(killed).toBeGreaterThan(wanted);
    figure("F10", { kills: KILLS, hitWhileRunning: killed });
  });
});
