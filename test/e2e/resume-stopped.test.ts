/** A run that is gone on with after its driver was killed while it stopped, and after its user had looked elsewhere. */
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { waitFor, writeFiles } from "../support/temp.ts";
import { bash, gate } from "../support/watch-run.ts";

it("goes on with a run whose driver was killed after Ctrl-C", async () => {
  const held = gate();
  const place = await cliPlace({
    script: byIteration({
      1: [held.step, { text: "Half." }],
      2: [bash("echo made > made.txt"), { text: CLAIM }],
    }),
  });
  const killed = place.start(["run", "make it", "--check", "test -f made.txt"]);
  await waitFor(() => killed.stderr().includes("→ Bash"), { what: "the tool call" });
  killed.child.kill("SIGINT");
  await waitFor(() => killed.stderr().includes("directive d1 delivered"), { what: "the stop" });
  killed.child.kill("SIGKILL");
  expect((await killed.done).signal).toBe("SIGKILL");
  held.open(place);
  const resumed = await place.pawl("resume");
  expect([resumed.code, resumed.stdout]).toEqual([0, "verified pawl/make-it\n"]);
});

it("does not take another branch that is checked out meanwhile for a change of the work", async () => {
  const place = await cliPlace({
    files: { "tests/t.sh": "test -f out.txt\n" },
    shellAgent: { 1: ["echo half > out.txt", CLAIM], 2: ["echo good > out.txt", CLAIM] },
  });
  const { git, commit, path } = place.repository;
  git("branch", "weaker");
  writeFiles(path, { "tests/t.sh": "grep -q good out.txt\n", "feature.c": "feature\n" });
  commit("a stricter test");
  const check = ["--check", "sh tests/t.sh"];
  expect((await place.pawl("run", "write it", ...check, "--max-iterations", "1")).code).toBe(3);
  git("switch", "-q", "weaker");
  const refused = await place.pawl("resume", "--max-iterations", "3");
  expect(refused.code).toBe(5);
  expect(refused.stderr).toContain("the workspace is at weaker, but the work of run");
  expect(refused.stderr).toContain("git switch pawl/write-it");
  expect(git("status", "--porcelain", "-b")).toBe("## weaker");
  git("switch", "-q", "pawl/write-it");
  expect((await place.pawl("resume", "--max-iterations", "3")).code).toBe(0);
  expect(git("diff", "--stat", "--name-only", "main", "pawl/write-it")).toBe("out.txt");
});
