/** Tasks mode with the real Claude Code on the stand-in: the task file on disk, the prompts, what people change meanwhile. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FactOf } from "../../src/events.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { bash, gate, watchRun } from "../support/watch-run.ts";

const NEXT = "Done with it.\n\n<promise>READY_FOR_NEXT_TASK</promise>";
const tick = (...tasks: string[]): ReturnType<typeof bash> =>
  bash(tasks.map((task) => `sed -i 's/\\[[ /]\\] ${task}/[x] ${task}/' TASKS.md`).join("; "));
const write = (file: string, ...tasks: string[]): ReturnType<typeof bash> =>
  bash(`echo work > ${file}; ${tasks.map((task) => `sed -i 's/\\[[ /]\\] ${task}/[x] ${task}/' TASKS.md`).join("; ")}`);
const putTasks = (place: CliPlace, text: string, file = "TASKS.md"): void => {
  writeFileSync(join(place.repository.path, file), text);
};
const prompts = (place: CliPlace, n: number): string =>
  (place.standin?.requests ?? []).find(({ prompt }) => prompt.includes(`Iteration ${n} of`))?.prompt ?? "";

it("works off tasks one by one through a cheating tick, a premature claim, people's changes in a live turn and kill -9", async () => {
  const [first, last] = [gate(), gate()];
  const place = await cliPlace({
    script: byIteration({
      1: [first.step, write("one.txt", "one", "part of one"), { text: NEXT }],
      2: [tick("two"), { text: NEXT }],
      3: [{ text: CLAIM }],
      4: [last.step, write("four.txt", "four"), { text: CLAIM }],
    }),
  });
  // Neither committed nor in the way.
  putTasks(place, "# Tasks\r\n\r\n- [ ] one\r\n  - [ ] part of one\r\n- [ ] two\r\n- [ ] three\r\n\r\nThe end.\r\n");
  const running = place.start(["run", "do them all", "--tasks", "--check", "test -f one.txt"]);
  const { run, facts, fact, toolRuns } = await watchRun(place);
  await toolRuns(1);

  const added = await place.pawl("tasks", "add", "four");
  expect(added).toMatchObject({ code: 0, stdout: "d1 queued\n" });
  expect(added.stderr).toContain("iteration 1 is under way: the file is changed when it is closed");
  const unclear = await place.pawl("tasks", "skip", "t");
  expect(unclear).toMatchObject({ code: 2, stdout: "" });
  expect(unclear.stderr).toContain('2 tasks begin with "t"\n      give the number: 3, 4');
  expect((await place.pawl("tasks", "skip", "4")).stdout).toBe("d2 queued\n");
  expect(readFileSync(join(place.repository.path, "TASKS.md"), "utf8")).not.toContain("four");
  const listed = await place.pawl("tasks", "list");
  expect(listed.stdout).toMatch(/^1 +\[ \] one +current, 1 iteration$/m);
  first.open(place);

  await fact("turn-start", ({ iteration }) => iteration === 4);
  await toolRuns(4);
  const status = await place.pawl("status");
  expect(status.stdout).toMatch(/^tasks +2 of 4 done, 1 skipped; current: four$/m);
  expect(status.stdout).toContain("task “two” was ticked though nothing but TASKS.md changed");
  running.child.kill("SIGKILL");
  expect((await running.done).signal).toBe("SIGKILL");
  last.open(place);
  const resumed = await place.pawl("resume");
  expect(resumed.code).toBe(0);
  expect(resumed.stderr).toMatch(/tasks +3 of 4 done, 1 skipped$/m);
  expect(resumed.stderr).toMatch(/suspicions +iteration 2: task “two” was ticked/);

  const text =
    "# Tasks\r\n\r\n- [x] one\r\n  - [x] part of one\r\n- [x] two\r\n- [-] three\r\n- [x] four\r\n\r\nThe end.\r\n";
  expect(readFileSync(join(place.repository.path, "TASKS.md"), "utf8")).toBe(text);
  const { git } = place.repository;
  expect(git("show", "HEAD:TASKS.md")).toBe(text.trim());
  expect(git("status", "--porcelain")).toBe("");

  const all = await facts();
  const decisions = all.filter((f): f is FactOf<"decision-made"> => f.type === "decision-made");
  expect(decisions.map(({ rule }) => rule)).toEqual(["task-done", "task-done", "claim-refused", "all-required-pass"]);
  expect(decisions[2]?.reason).toBe("the claim is refused: 1 task is open: “four”");
  const delivered = all.filter((f): f is FactOf<"directive-delivered"> => f.type === "directive-delivered");
  expect(delivered.map(({ how }) => how)).toEqual(["added: “four”", "skipped: “three”"]);
  // Each prompt names its own task and no other as the current one.
  const current = [1, 2, 3, 4].map((n) => /## Current task[^]*?\n- (\[.\] .*)\n/.exec(prompts(place, n))?.[1]);
  expect(current).toEqual(["[ ] one", "[ ] two", "[ ] four", "[ ] four"]);
  expect(prompts(place, 1)).toContain("  - [ ] part of one");
  expect(prompts(place, 3)).toContain("pawl noticed, and reports to your user:\n\n- task “two” was ticked");
  expect(prompts(place, 4)).toContain("the claim is refused: 1 task is open: “four”");

  const shown = await place.pawl("show", run, "-i", "2");
  expect(shown.stdout).toContain("noticed: task “two” was ticked though nothing but TASKS.md changed");
  const late = await place.pawl("tasks", "add", "five");
  expect(late).toMatchObject({ code: 2, stdout: "" });
  expect(late.stderr).toContain("has ended: verified");
});

describe("tasks mode", () => {
  it("keeps an open task that the agent deleted until a person removes it, and each task for its minimum", async () => {
    const held = gate();
    const place = await cliPlace({
      script: byIteration({
        1: [bash("echo x > x.txt; printf -- '- [x] easy\\n' > TASKS.md"), { text: NEXT }],
        2: [held.step, bash("echo y > y.txt"), { text: CLAIM }],
        3: [{ text: CLAIM }],
      }),
    });
    putTasks(place, "- [ ] easy\n- [ ] hard\n");
    const running = place.start([
      "run",
      "do them",
      "--tasks",
      "--task-min-iterations",
      "2",
      "--check",
      "true",
      "--json",
    ]);
    const { toolRuns } = await watchRun(place);
    await toolRuns(2);
    const listed = await place.pawl("tasks", "list");
    expect(listed.stdout).toMatch(/^1 +\[x\] easy +current, 2 iterations\n2 +\[\?\] hard +gone from the file$/m);
    expect((await place.pawl("tasks", "remove", "2")).code).toBe(0);
    held.open(place);
    const result = await running.done;
    expect(result.of("decision-made").map(({ rule }) => rule)).toEqual([
      "task-refused",
      "claim-refused",
      "all-required-pass",
    ]);
    expect(result.of("tasks-recorded").flatMap(({ suspicions }) => suspicions)).toEqual([
      "open task “hard” is gone from TASKS.md",
    ]);
    expect(readFileSync(join(place.repository.path, "TASKS.md"), "utf8")).toBe("- [x] easy\n");
    expect(result.code).toBe(0);
  });

  it("exits 1 when a change that was waited for could not be done", async () => {
    const held = gate();
    const place = await cliPlace({ script: byIteration({ 1: [held.step, { text: "ok" }] }) });
    putTasks(place, "- [ ] one\n- [ ] two\n");
    const running = place.start(["run", "do them", "--tasks", "--check", "true", "--max-iterations", "2"]);
    const { toolRuns } = await watchRun(place);
    await toolRuns(1);
    const removed = await place.pawl("tasks", "remove", "two");
    expect(removed.stderr).toContain("task 2: two");
    expect(removed.stderr).toContain(": remove a task");
    const done = place.start(["tasks", "done", "two", "--wait"]);
    await watchRun(place).then(({ fact }) => fact("directive-received", ({ id }) => id === "d2"));
    held.open(place);
    expect(await done.done).toMatchObject({
      code: 1,
      stdout: "d2 delivered (not done: there is no such task any more)\n",
    });
    expect((await running.done).code).toBe(3);
  });

  it("takes an untracked task file along into a worktree, and from a subdirectory", async () => {
    const place = await cliPlace({
      script: byIteration({ 1: [bash("echo x > x.txt; sed -i 's/\\[ \\]/[x]/' docs/plan.md"), { text: CLAIM }] }),
    });
    mkdirSync(join(place.repository.path, "docs"));
    putTasks(place, "1. [ ] one\n", "docs/plan.md");
    const cwd = join(place.repository.path, "docs");
    const args = ["run", "do it", "--tasks", "plan.md", "--check", "test -f ../x.txt", "--worktree=wt", "--json"];
    const result = await place.start(args, { cwd }).done;
    expect(result.code).toBe(0);
    const [start] = result.of("run-start");
    expect(start?.spec.tasks?.file).toBe("docs/plan.md");
    expect(readFileSync(join(start?.spec.workspace.path ?? "", "docs/plan.md"), "utf8")).toBe("1. [x] one\n");
    expect(readFileSync(join(cwd, "plan.md"), "utf8")).toBe("1. [ ] one\n");
    expect(existsSync(join(place.repository.path, "x.txt"))).toBe(false);
  });

  it("shows the first task in a dry run", async () => {
    const place = await cliPlace({ script: byIteration({}) });
    putTasks(place, "- [ ] one\n- [ ] two\n");
    const { stdout, code } = await place.pawl("run", "--tasks", "do them all", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain("## Current task (iteration 1 on it)");
    expect(stdout).toContain("After this one: “two”");
    expect(stdout).toContain("do them all");
  });
});
