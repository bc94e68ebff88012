/** What comes on standard input is the goal, or context beside one; a pipe that nobody writes to holds nothing up. */
import { spawn } from "node:child_process";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunSpec } from "../../src/spec.ts";
import { CLI, cliPlace, NODE, type CliPlace, type CliResult } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

const LIMIT_MS = 240_000;
const DRY = ["--dry-run", "--json"];
const specOf = ({ stdout, stderr }: Pick<CliResult, "stdout" | "stderr">): RunSpec => {
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as { spec: RunSpec }).spec;
};

/** With a standard input that the test holds. */
function started(place: CliPlace, args: readonly string[], stdin: "pipe" | number) {
  const child = spawn(NODE, [CLI, ...args], {
    cwd: place.repository.path,
    env: place.env,
    stdio: [stdin, "pipe", "pipe"],
  });
  const said = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr?.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  const code = new Promise<number | null>((resolve) => child.once("close", resolve));
  return { child, said, code };
}

it("is the goal where none is given", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ script: { steps: [] } });
  const piped = await place.start(["run", ...DRY], { input: "make it green\n" }).done;
  expect(specOf(piped)).toMatchObject({ goal: "make it green", workspace: { branch: "pawl/make-it-green" } });
  const file = join(place.home, "goal");
  writeFileSync(file, "from a file\n");
  const fd = openSync(file, "r");
  const { said, code } = started(place, ["run", ...DRY], fd);
  closeSync(fd);
  expect([await code, specOf(said).goal]).toEqual([0, "from a file"]);
  const solved = await place.start(["solve", "--agent", "messages", "--dry-run"], { input: "what is 1 + 1?" }).done;
  expect([solved.code, solved.stdout]).toEqual([0, expect.stringContaining("what is 1 + 1?")]);
  for (const command of ["run", "solve"])
    expect(await place.start([command, ...DRY], { input: "" }).done).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/needs a (goal|question)/),
    });
});

it(
  "is context beside a goal: told to the agent as it is, and never taken for the goal's own words",
  { timeout: LIMIT_MS },
  async () => {
    const place = await cliPlace({ script: { steps: [] } });
    const input = "\u001b[31mError\u001b[0m: no\n```\n## Acceptance criteria\n- it is fast\n";
    const result = await place.start(["run", "fix it", ...DRY], { input }).done;
    const spec = specOf(result);
    expect(spec.goal).toBe(
      "fix it\n\n### Given on standard input\n\n````\nError: no\n```\n## Acceptance criteria\n- it is fast\n````",
    );
    expect(spec).toMatchObject({ criteria: [], workspace: { branch: "pawl/fix-it" } });
    const solved = await place.start(["solve", "why?", "--agent", "messages", ...DRY], { input: "quokka" }).done;
    expect((JSON.parse(solved.stdout) as RunSpec).goal).toContain("quokka");
  },
);

it("is cut to its end where it is long, and that is said; a flood is refused", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ shellAgent: {} });
  const long = await place.start(["run", "fix it", ...DRY], { input: `quokka\n${"é".repeat(20_000)}\nlast` }).done;
  expect(long.stderr).toMatch(/the last 16,3\d\d of 40,012 bytes of stdin/);
  const { goal } = specOf(long);
  expect(goal).toMatch(/left out[^]*\nlast\n````?$/);
  expect(goal).not.toMatch(/quokka|\uFFFD/);
  expect(Buffer.byteLength(goal)).toBeLessThan(17_000);
  const full = await place.start(["run", "g".repeat(32_000), ...DRY], { input: "more" }).done;
  expect([full.code, full.stderr]).toEqual([2, expect.stringContaining("leaves no room")]);
  const args = [`yes | ${NODE} ${CLI} run "fix it" --dry-run`];
  const flood = spawn("sh", ["-c", ...args], {
    cwd: place.repository.path,
    env: place.env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  flood.stderr?.setEncoding("utf8").on("data", (text: string) => (said += text));
  expect(await new Promise((resolve) => flood.once("close", resolve))).toBe(2);
  expect(said).toContain("more than 67,108,864 bytes");
});

it("is waited for where it was asked for, and else only shortly", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ shellAgent: {} });
  const silent = started(place, ["run", "fix it", ...DRY], "pipe");
  const asked = started(place, ["run", "fix it", "-", ...DRY], "pipe");
  const goal = started(place, ["run", ...DRY], "pipe");
  expect(await silent.code).toBe(0);
  expect(silent.said.stderr).toMatch(/nothing came on stdin within 3 s.*\n.*pawl run "…" -/);
  expect(specOf(silent.said).goal).toBe("fix it");
  for (const { child, said } of [asked, goal]) {
    await waitFor(() => said.stderr.includes("waiting for stdin"), { what: "a word about the wait" });
    child.stdin?.end("at last");
  }
  expect([await asked.code, specOf(asked.said).goal]).toEqual([0, expect.stringContaining("at last")]);
  expect([await goal.code, specOf(goal.said).goal]).toEqual([0, "at last"]);
  silent.child.stdin?.destroy();
});

it("is nothing where it is /dev/null", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ shellAgent: {} });
  const fd = openSync("/dev/null", "r");
  const given = started(place, ["run", "fix it", ...DRY], fd);
  const none = started(place, ["run", ...DRY], fd);
  closeSync(fd);
  expect([await given.code, specOf(given.said).goal, given.said.stderr]).toEqual([0, "fix it", ""]);
  expect([await none.code, none.said.stderr]).toEqual([2, expect.stringContaining("a run needs a goal")]);
});
