/** Going on with a run: every outcome but verified, with the flags it was started with, and refused with others. */
import { expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

const bash = (command: string) => ({ tools: [{ name: "Bash", input: { command, description: "work" } }] });
const CHECK = "grep -q right work.txt";

it("takes the line that started it, changes limits and model, and refuses every other difference", async () => {
  const place = await cliPlace({
    script: byIteration({
      1: [bash("echo wrong > work.txt"), { text: "One." }],
      2: [bash("echo right > work.txt"), { text: CLAIM }],
    }),
  });
  const flags = ["--check", CHECK, "--context", "fresh", "--turn-timeout", "10m"];
  const first = await place.pawl("run", "write it", ...flags, "--max-iterations", "1");
  expect([first.code, first.stdout]).toEqual([3, "exhausted pawl/write-it\n"]);

  const refusals: [string[], string][] = [
    [["--check", "true"], `--check "true" differs: the run has ${JSON.stringify(CHECK)}`],
    [["--context", "auto"], '--context "auto" differs: the run has "fresh"'],
    [["--turn-timeout", "1h"], "--turn-timeout 1h differs: the run has 10m"],
    [["--until-green"], "--until-green differs: the run has it off"],
    [["--worktree"], "--worktree differs: the run has none"],
    [["--no-commit"], "--no-commit differs: the run has a branch of its own"],
    [["--tasks"], '--tasks "TASKS.md" differs: the run has none'],
  ];
  for (const [args, says] of refusals) {
    const { code, stdout, stderr } = await place.pawl("resume", ...args, "--max-iterations", "5");
    expect([args, code, stdout, stderr.split("\n")[0]]).toEqual([args, 2, "", `pawl: ${says}`]);
  }
  const same = await place.pawl("resume");
  expect([same.code, same.stderr]).toEqual([2, expect.stringContaining("--max-iterations 2")]);

  const again = await place.pawl("resume", ...flags, "--max-iterations", "5", "--model", "claude-opus-5-5");
  expect([again.code, again.stdout]).toEqual([0, "verified pawl/write-it\n"]);
  const verified = await place.pawl("resume");
  expect([verified.code, verified.stderr]).toEqual([
    2,
    expect.stringContaining("is verified: there is nothing left to do"),
  ]);
  expect(place.standin?.requests.some(({ model }) => model === "claude-opus-5-5")).toBe(true);
});

it("reopens a run that failed, was stopped, and was stuck, one after the other, and it ends verified", async () => {
  const script = {
    marker: "Iteration \\d+",
    models: ["claude-sonnet-5"],
    rules: [
      { when: { promptIncludes: "Iteration 4 " }, steps: [bash("echo right > work.txt"), { text: CLAIM }] },
      { when: { promptIncludes: "Iteration 3 " }, steps: [{ text: "Three." }] },
    ],
    steps: [bash("sleep 30"), { text: "Slept." }],
  };
  const place = await cliPlace({
    script,
    env: { PAWL_PATIENCE: "1", PAWL_SHORT_TURN: "0", PAWL_LADDER: "stop" },
  });
  const failed = await place.pawl("run", "write it", "--check", CHECK, "--model", "claude-nonsense");
  expect([failed.code, failed.stdout]).toEqual([5, "failed (no branch)\n"]);

  const held = place.start(["resume", "--model", "claude-sonnet-5"]);
  await waitFor(() => held.stderr().includes("→ Bash"), { what: "the tool call" });
  expect((await place.pawl("stop", "--now", "--wait")).stdout).toMatch(/^d\d delivered \(stopping now\)$/m);
  const stopped = await held.done;
  expect([stopped.code, stopped.stdout]).toEqual([1, "stopped (no branch)\n"]);

  const stuck = await place.pawl("resume");
  expect([stuck.code, stuck.stdout]).toEqual([1, "stuck (no branch)\n"]);
  const verified = await place.pawl("resume");
  expect([verified.code, verified.stdout]).toEqual([0, "verified pawl/write-it\n"]);
  const facts = (await place.pawl("logs", "--facts", "--json")).of("run-reopened");
  expect(facts.map(({ was }) => was.is)).toEqual(["failed", "stopped", "stuck"]);
});
