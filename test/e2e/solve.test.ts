/** `pawl solve` as a person meets it: answers, plans, artifacts, and being killed in the middle of it all. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { heldSleep } from "../support/held-sleep.ts";
import { answer, factsOf, last, only, python, runIn, solvePlace as place, when } from "../support/solve-cli.ts";
import { waitFor } from "../support/temp.ts";

const PLAN: Step = {
  answer: {
    do: "plan",
    note: "in parts",
    steps: [
      { id: "a", title: "one part", needs: [], expect: "a number" },
      { id: "b", title: "the other part", needs: [], expect: "a number" },
      { id: "sum", title: "add both", needs: ["a", "b"], expect: "their sum" },
    ],
  },
};
const STEPS = [when("Step a,", last("open('a.txt', 'w').write('20'); print(20)")), when("Step b,", last("print(22)"))];

describe("pawl solve", () => {
  it("carries out a plan, is killed in the middle of it, and goes on without doing again what is finished (S4)", async () => {
    const held = heldSleep();
    const sum = `import subprocess; subprocess.run(["sleep", "${held.seconds}"]); print(int(open('a.txt').read()) + 22)`;
    const rules = [...STEPS, when("Step sum,", last(sum)), when("Iteration 1 of", PLAN)];
    const here = await place({ rules, steps: [answer("42")] });
    const first = here.start(["solve", "what is it?", "--expect", "42"]);
    await waitFor(() => runIn(first.stderr()) !== "");
    const run = runIn(first.stderr());
    await waitFor(async () => only(await factsOf(here, run), "proposal-made").some(({ lane }) => lane === "step/sum"));
    first.child.kill("SIGKILL");
    expect((await first.done).signal).toBe("SIGKILL");
    const before = await factsOf(here, run);
    expect(
      only(before, "step-end")
        .map(({ step }) => step)
        .toSorted(),
    ).toEqual(["a", "b"]);
    const second = await held.openUntil(here.pawl("resume", run));
    expect({ code: second.code, stdout: second.stdout }, second.stderr).toEqual({ code: 0, stdout: "42\n" });
    const facts = await factsOf(here, run);
    const turns = only(facts, "turn-start").map(({ lane }) => lane);
    expect(turns.toSorted()).toEqual(["main", "main", "step/a", "step/b", "step/sum"]);
    expect(
      only(facts, "execution-recorded")
        .map(({ lane, kind }) => `${lane} ${kind}`)
        .toSorted(),
    ).toEqual(["step/a ok", "step/b ok", "step/sum ok"]);
    expect(only(facts, "step-end")).toHaveLength(3);
    const shown = await here.pawl("show", run, "--plan", "--attempts");
    expect(shown.stdout).toMatch(/sum +done +add both \(needs a, b\) +42/);
    expect((await here.pawl("status", run)).stdout).toContain("Plan");
    expect((await here.pawl("show", run, "--attempt", "4")).stdout).toContain("int(open('a.txt').read()) + 22");
    const told = await here.pawl("show", run, "--attempt", "4", "--prompt");
    expect(told.stdout).toMatch(/Prompt of turn 4: \d+ bytes\n +instructions +\d+ bytes[^]*## Your step: sum/);
    const both = await here.pawl("show", run, "--attempts", "--prompt");
    expect(both).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--prompt is about an iteration") as string,
    });
  });

  it("goes on in the provider's container when it is killed, and in a new one with the files again when that is gone (S4)", async () => {
    const execute = (code: string, stdout: string) => ({
      execute: [{ language: "python" as const, code, result: { stdout } }],
    });
    const wrong = (n: number) => ({ do: "answer", note: "a try", answer: `not ${n}` });
    const here = await place({
      rules: [
        when("Iteration 1 of", { ...execute("print(1)", "1\n"), answer: wrong(1) }),
        when("Iteration 2 of", { delayMs: 1_500, ...execute("print(2)", "2\n"), answer: wrong(2) }),
        when("Iteration 3 of", {
          expireContainer: true,
          ...execute("print(42)", "42\n"),
          answer: { do: "answer", note: "", answer: "42" },
        }),
      ],
      steps: [{ text: "ok" }],
    });
    const file = join(here.home, "data.csv");
    writeFileSync(file, "a,b\n1,2\n");
    const first = here.start(["solve", "what is it?", "--file", file, "--executor", "claude", "--expect", "42"]);
    await waitFor(() => runIn(first.stderr()) !== "");
    const run = runIn(first.stderr());
    await waitFor(async () => only(await factsOf(here, run), "turn-start").length >= 2);
    first.child.kill("SIGKILL");
    expect((await first.done).signal).toBe("SIGKILL");
    const second = await here.pawl("resume", run);
    expect({ code: second.code, stdout: second.stdout }, second.stderr).toEqual({ code: 0, stdout: "42\n" });
    const containers = only(await factsOf(here, run), "execution-recorded").map(({ container }) => container?.id);
    expect(containers).toHaveLength(3);
    expect(containers[1]).toBe(containers[0]);
    expect(containers[2]).not.toBe(containers[0]);
    // Uploaded once, and given to each container that is new.
    expect(here.standin?.uploaded).toEqual(["data.csv"]);
    const asked = here.sent().map((body) => JSON.parse(body) as { container?: string });
    const given = asked.map((body) => /"container_upload","file_id":"([^"]+)"/.exec(JSON.stringify(body))?.[1]);
    const anew = asked.flatMap(({ container }, at) => (container === undefined ? [given[at]] : []));
    expect(anew.length).toBeGreaterThanOrEqual(2);
    expect(new Set(anew)).toEqual(new Set([anew[0] ?? "none"]));
  });

  it("prints the answer as JSON by its schema, and leaves artifacts, a transcript and the program", async () => {
    const code = 'import json; open("made.txt", "w").write("hi"); print(json.dumps({"n": 3}))';
    const here = await place({
      steps: [python("print(input.csv)"), { ...python(code), repeat: true }],
      rules: [when("Iteration 1 of", python("print('three')")), when("Iteration 2 of", python(code))],
    });
    const schema = JSON.stringify({ type: "object", properties: { n: { type: "number" } }, required: ["n"] });
    const out = join(here.home, "out");
    const save = join(here.home, "solution.py");
    const args = ["solve", "how many?", "--schema", schema, "--json", "--out", out, "--save", save, "-q"];
    const done = await here.pawl(...args);
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({
      outcome: "verified",
      answer: { n: 3 },
      code: { language: "python" },
    });
    expect(readFileSync(save, "utf8")).toContain("json.dumps");
    expect(readFileSync(join(out, "made.txt"), "utf8")).toBe("hi");
    expect(readFileSync(join(out, "transcript.md"), "utf8")).toContain("## Attempt 2");
    // What was wrong with the first answer was told.
    expect(here.sent().at(-1)).toContain("answer.json");
  });

  it("prints a plan and ends, and carries out one that a person wrote", async () => {
    const here = await place({
      rules: [...STEPS, when("Step sum,", last("print(42)")), when("nothing else", PLAN)],
      steps: [answer("42")],
    });
    const planned = await here.pawl("solve", "what is it?", "--plan-only");
    expect(planned.code, planned.stderr).toBe(0);
    expect(planned.stdout).toContain("id: sum");
    const file = join(here.home, "plan.yaml");
    writeFileSync(file, planned.stdout);
    const done = await here.pawl("solve", "what is it?", "--plan", file, "--expect", "42", "--parallel", "1");
    expect({ code: done.code, stdout: done.stdout }, done.stderr).toEqual({ code: 0, stdout: "42\n" });
    expect(done.stderr).toMatch(/plan +3 of 3 steps done/);
  });

  it("refuses what is wrong in one line, before anything is spent or made (S7)", async () => {
    const here = await place({ steps: [answer("1")] });
    const dir = join(here.home, "a-folder");
    mkdirSync(dir);
    writeFileSync(join(here.home, "plan.yaml"), "steps: [{id: a, title: x, needs: [b]}]");
    const refused: [string[], RegExp][] = [
      [["--file", join(here.home, "nowhere.csv")], /there is no such file/],
      [["--file", dir], /it is a directory/],
      [["--file", "/dev/zero"], /special file/],
      [["--schema", "{nope"], /it is no JSON/],
      [["--schema", '{"type": "numbr"}'], /--schema/],
      [["--plan", join(here.home, "plan.yaml")], /step a needs b, which is no step/],
      [["--request-tokens", "100"], /at least 8000 are needed/],
      [["--executor", "claude", "--agent", "claude"], /no code execution of its provider's/],
      [["--executor", "claude", "--model", "claude-3-haiku-20240307"], /has no code execution/],
      [["--executor", "claude", "--fallback", "codex"], /the agent codex has no code execution/],
      [["--executor", "claude", "--fallback-model", "claude-3-haiku-20240307"], /has no code execution/],
      [["--fallback", "acp:some-agent"], /cannot answer in a given form/],
      [["--executor", "moon"], /must be one of: local, claude/],
      [["--agent", "acp:some-agent"], /cannot answer in a given form/],
      [["--out", join(here.home, "plan.yaml")], /it is a file/],
      [["--save", join(here.home, "no", "where.py")], /there is no folder/],
      [["--check", "no-such-command-at-all"], /command not found/],
    ];
    const results = await Promise.all(refused.map(([args]) => here.pawl("solve", "what?", ...args)));
    for (const [at, { code, stderr }] of results.entries()) {
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(refused[at]?.[1] ?? /^$/) });
      expect(stderr.trimEnd().split("\n").length, stderr).toBeLessThanOrEqual(2);
    }
    const noKey = await here.start(["solve", "what?"], { env: { ANTHROPIC_API_KEY: "" } }).done;
    expect(noKey).toMatchObject({ code: 2, stderr: expect.stringMatching(/ANTHROPIC_API_KEY/) });
    expect(here.sent()).toEqual([]);
    expect(existsSync(join(here.state, "runs"))).toBe(false);
  });
});
