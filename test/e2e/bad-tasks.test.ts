/** What can be typed wrong about claims and tasks: one line, exit 2, and nothing changed. */
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { bash } from "../support/watch-run.ts";

let place: CliPlace;
beforeAll(async () => {
  place = await cliPlace({ script: byIteration({ 1: [bash("echo x > x.txt"), { text: CLAIM }] }) });
  const at = (name: string): string => join(place.repository.path, name);
  place.repository.commit("task files", {
    "EMPTY.md": "# Tasks\n\n- nothing yet\n```\n- [ ] in code\n```\n",
    "T.md": "- [ ] one\n",
    "BIG.md": `- [ ] one\n${"x".repeat(200_000)}`,
    "MANY.md": Array.from({ length: 501 }, (_, n) => `- [ ] task ${n}\n`).join(""),
  });
  symlinkSync("T.md", at("LINK.md"));
  writeFileSync(at(".gitignore"), "LINK.md\n.gitignore\n");
});

it.each([
  [["--tasks"], "there is no task file TASKS.md", "- [ ] make the parser strict"],
  [["--tasks", "EMPTY.md"], "EMPTY.md has no task", "- [ ] make the parser strict"],
  [["--tasks", "../T.md"], "--tasks must be a file inside the repository", "task"],
  [["--tasks", "LINK.md"], "LINK.md is not a plain file", ""],
  [["--tasks", "BIG.md"], "BIG.md has 200010 bytes; a task file has at most 131072", ""],
  [["--tasks", "MANY.md"], "MANY.md has 501 tasks; at most 500", ""],
  [
    ["--tasks", "T.md", "--task-promise", "COMPLETE"],
    'promise and task-promise are the same word, "COMPLETE"',
    "--task-promise",
  ],
  [["--promise", "X", "--abort-promise", " x "], 'promise and abort-promise are the same word, "X"', "--abort-promise"],
  [
    ["--tasks", "T.md", "--abort-promise", "READY_FOR_NEXT_TASK"],
    'abort-promise and task-promise are the same word, "READY_FOR_NEXT_TASK"',
    "--abort-promise",
  ],
  [
    ["--tasks", "T.md", "--task-min-iterations", "9", "--max-iterations", "3"],
    "task-min-iterations is more than max-iterations (9 and 3)",
    "",
  ],
  [
    ["--confirmations", "2", "--until-green", "--check", "true"],
    "until-green contradicts confirmations",
    "--until-green",
  ],
  [["--confirmations", "0"], "--confirmations", "0"],
] as const)("refuses %j", async (flags, what, hint) => {
  const { code, stdout, stderr } = await place.pawl("run", "do it", ...flags);
  expect(stderr).toContain(what);
  expect(stderr).toContain(hint);
  expect(stderr.trim().split("\n").length).toBeLessThanOrEqual(2);
  expect([code, stdout, existsSync(join(place.state, "journal.db"))]).toEqual([2, "", false]);
});

it("refuses changes of tasks where there are none, and of tasks that there are not", async () => {
  const none = await place.pawl("tasks", "add", "x");
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("no run yet")]);
  expect((await place.pawl("run", "make x", "--check", "test -f x.txt", "--current-branch")).code).toBe(0);
  for (const words of [["list"], ["add", "x"], ["skip"], ["done", "1"]]) {
    const result = await place.pawl("tasks", ...words);
    expect([words, result.code, result.stdout]).toEqual([words, 2, ""]);
    expect(result.stderr).toMatch(/has no task list|has ended: verified/);
  }
  for (const [words, what] of [
    [["add", "  "], "no text for the task"],
    [["add", "one", "two", "three"], "put a text of several words in quotes"],
    [["add", "x".repeat(2_001)], "at most 2000"],
    [["remove"], "needs more words"],
    [["todo", "r-1"], "which task?"],
  ] as const) {
    const result = await place.pawl("tasks", ...words);
    expect(result.stderr).toContain(what);
    expect(result.code).toBe(2);
  }
});
