/** What a user sees of a run whose last iterations were worse than an earlier one, and how they go on from there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CLAIM, cliPlace } from "../support/cli.ts";
import { writeFiles } from "../support/temp.ts";

it("delivers the best iteration at a limit, names it, and offers only what is accepted (row 40)", async () => {
  const place = await cliPlace({
    shellAgent: {
      1: ["echo half > out.txt", "Half."],
      2: ["echo good > out.txt", "Green, and not claimed."],
      3: ["echo broken > out.txt; echo more > more.txt", "Broken."],
      4: ["echo other > out.txt", "Broken again."],
      5: ["echo good > out.txt; echo done > done.txt", CLAIM],
    },
  });
  const { git, path } = place.repository;
  const ended = await place.pawl("run", "write it", "--check", "grep -q good out.txt", "--max-iterations", "4");
  expect([ended.code, ended.stdout]).toEqual([3, "exhausted pawl/write-it\n"]);
  expect(ended.stderr).toMatch(/checks +grep -q good out\.txt: pass /);
  expect(ended.stderr).toMatch(
    /best +iteration 2 \(0 failures, 1 before the run\): put back at the end; the last state: pawl restore \S+ --at salvage\/0\n/,
  );
  expect(git("show", "pawl/write-it:out.txt")).toBe("good");
  expect(git("ls-tree", "--name-only", "pawl/write-it").split("\n")).not.toContain("more.txt");
  expect(git("log", "--format=%s", "-2", "pawl/write-it")).toBe(
    "pawl: restore the state of iteration 2\npawl: iteration 4",
  );
  expect(git("status", "--porcelain", "-b")).toBe("## pawl/write-it");
  expect(readFileSync(join(path, "out.txt"), "utf8")).toBe("good\n");
  expect((await place.pawl("restore", "--list")).stdout).toMatch(
    /^\d+ +\w+ +after iteration 2, the best so far, 0 failures, what is there now\n/m,
  );

  const another = await place.pawl("run", "another", "--check", "true", "--worktree=side", "--dry-run");
  expect(another.stdout).toContain(`workspace  ${path}-worktrees/side\n`);
  expect(another.stderr).toMatch(
    /this run begins on pawl\/write-it, with the work of run \S+ \(ended exhausted\), which is not merged; to begin at main instead: git switch main; to go on with that run: pawl resume \S+ --max-iterations 8\n/,
  );
  git("switch", "-q", "main");
  expect((await place.pawl("run", "another", "--check", "true", "--dry-run")).stderr).not.toContain("begins on");
  const status = (await place.pawl("status")).stdout;
  expect(status).toMatch(/^best +iteration 2 \(0 failures/m);
  expect(status).toMatch(
    /^ {2}git switch pawl\/write-it +# the workspace is at main, .*\n {2}pawl resume \S+ --max-iterations 8 +# go on$/m,
  );
  git("switch", "-q", "pawl/write-it");
  const resumed = await place.pawl("resume", "--max-iterations", "8");
  expect([resumed.code, resumed.stdout]).toEqual([0, "verified pawl/write-it\n"]);
});

it("leaves what its user has changed meanwhile, with the last state, and says where the best one is", async () => {
  const place = await cliPlace({
    shellAgent: { 1: ["echo good > out.txt", "Green."], 2: ["echo broken > out.txt", "Broken."] },
  });
  const { path } = place.repository;
  const hook = `hooks: [{ on: [iteration-end], run: "grep -q broken out.txt && echo mine > mine.txt || true" }]\n`;
  writeFiles(path, { "pawl.yaml": hook });
  place.repository.commit("settings");
  const ended = await place.pawl("run", "write it", "--check", "grep -q good out.txt", "--max-iterations", "2");
  expect(ended.code).toBe(3);
  expect(ended.stderr).toMatch(
    /best +iteration 1 \(0 failures, 1 before the run\): not put back: changed after the last snapshot.*mine\.txt.*; pawl restore \S+ --at \d+ has it\n/,
  );
  expect(readFileSync(join(path, "out.txt"), "utf8")).toBe("broken\n");
  expect(readFileSync(join(path, "mine.txt"), "utf8")).toBe("mine\n");
});
