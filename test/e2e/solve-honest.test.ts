/** Answers that must not be what they are not: `pawl solve` against code and models that would have it lie or lose work. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { answer, factsOf, last, only, python, runIn, solvePlace, when } from "../support/solve-cli.ts";

const each = (...steps: Step[]) => steps.map((step, at) => when(`Iteration ${at + 1} of`, step));
const PLAN: Step = {
  answer: { do: "plan", note: "", steps: [{ id: "a", title: "count", needs: [], expect: "a number" }] },
};

describe("a check", () => {
  it("sees the files that were given, whatever the code has made of them", async () => {
    const cheat = "open('expected.txt', 'w').write('41\\n'); print(41)";
    const here = await solvePlace({ rules: each(python(cheat), python("print(open('expected.txt').read())")) });
    const file = join(here.home, "expected.txt");
    writeFileSync(file, "42\n");
    const done = await here.pawl("solve", "what?", "--file", file, "--check", "cmp answer.txt expected.txt");
    expect({ code: done.code, stdout: done.stdout }, done.stderr).toEqual({ code: 0, stdout: "42\n" });
    expect(done.stderr).toMatch(/iterations +2 of/);
  });

  it("sees the answer, whatever its user has git leave out everywhere", async () => {
    const here = await solvePlace({ rules: each(python("print(42)")) });
    mkdirSync(join(here.home, ".config/git"), { recursive: true });
    writeFileSync(join(here.home, ".config/git/ignore"), "*.txt\n");
    expect(await here.pawl("solve", "what?", "--expect", "42")).toMatchObject({ code: 0, stdout: "42\n" });
  });
});

it("a check sees the answer, whatever ignore files and attributes the code has left", async () => {
  const code = `
open(".gitignore", "w").write("*")
open(".gitattributes", "w").write("* text working-tree-encoding=UTF-16")
open("chart.svg", "w").write("x")
print(42)`;
  const here = await solvePlace({ rules: each(python(code)) });
  const done = await here.pawl("solve", "what?", "--expect", "42", "--check", "test -s chart.svg");
  expect(done, done.stderr).toMatchObject({ code: 0, stdout: "42\n" });
});

describe("an answer", () => {
  it("is printed as JSON with the numbers that were judged, also those that JavaScript has not", async () => {
    const here = await solvePlace({ rules: each(python('print(\'{"n": 18446744073709551615, "x": 1e400}\')')) });
    const done = await here.pawl("solve", "what?", "--schema", '{"type": "object"}', "--json", "-q");
    expect(done.code, done.stderr).toBe(0);
    expect(done.stdout).toContain('"answer":{"n":18446744073709551615,"x":1e400}');
  });

  it("is never an output of which a part is missing", async () => {
    const here = await solvePlace({ rules: each(python("print('ab\\n' * 300_000)"), python("print(7)")) });
    const done = await here.pawl("solve", "what?", "--check", "test -s answer.txt");
    expect({ code: done.code, stdout: done.stdout }, done.stderr.slice(-2_000)).toEqual({ code: 0, stdout: "7\n" });
    expect(here.sent().at(-1)).toContain("too many for an answer");
  });

  it("is not said to come from a program that printed something else", async () => {
    const here = await solvePlace({ rules: each(python("print(41)"), answer("42")) });
    const save = join(here.home, "solution.py");
    const done = await here.pawl("solve", "what?", "--expect", "42", "--save", save, "--json");
    expect(done.code, done.stderr).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ answer: "42", code: { printsAnswer: false } });
    expect(done.stderr).toMatch(/written .*it printed something else than the answer/);
  });
});

describe("a plan that was all that was asked for", () => {
  it("is carried out when the run is resumed, and nothing is run before", async () => {
    const here = await solvePlace({
      rules: [when("nothing else", PLAN), when("Step a,", last("print(42)"))],
      steps: [answer("42")],
    });
    const planned = await here.pawl("solve", "what?", "--plan-only", "--expect", "42");
    expect(planned.code, planned.stderr).toBe(0);
    const run = runIn(planned.stderr);
    const done = await here.pawl("resume", run);
    expect({ code: done.code, stdout: done.stdout }, done.stderr).toEqual({ code: 0, stdout: "42\n" });
    expect(only(await factsOf(here, run), "execution-recorded")).toHaveLength(1);
  });
});

describe("--out and --save", () => {
  it("are refused before anything is spent where something is there already, or nothing can be written", async () => {
    const here = await solvePlace({ steps: [answer("1")] });
    const [full, file] = [join(here.home, "full"), join(here.home, "mine.py")];
    mkdirSync(full);
    writeFileSync(join(full, "notes.txt"), "mine");
    writeFileSync(file, "mine");
    const refused: [string[], RegExp][] = [
      [["--out", full], /the folder is not empty/],
      [["--save", file], /it is there already/],
      [["--out", join(file, "below")], /it cannot be written to: ENOTDIR/],
      [["--out", ""], /--out: it is empty/],
      [["--expect", " "], /--expect: it is empty/],
      [["--file", "/proc/self/pagemap"], /more than 64\.0 MB|it cannot be read/],
      [["--schema", "/dev/zero"], /--schema has more than/],
      [["--code-memory", "1"], /no program starts/],
      [["--schema", JSON.stringify({ title: "y".repeat(40_000) })], /the question and what is checked have/],
    ];
    for (const [args, why] of refused) {
      const { code, stderr } = await here.pawl("solve", "what?", ...args);
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringMatching(why) });
    }
    expect(readFileSync(file, "utf8")).toBe("mine");
    expect(here.sent()).toEqual([]);
    expect(existsSync(join(here.state, "runs"))).toBe(false);
  });

  it("have what a run made that went on after it was stopped by a limit", async () => {
    const made = "open('made.txt', 'w').write('x'); print(42)";
    const here = await solvePlace({ rules: each(python("print(41)"), python(made)) });
    const [out, save] = [join(here.home, "out"), join(here.home, "s.py")];
    const args = ["--expect", "42", "--out", out, "--save", save, "--max-iterations", "1"];
    const first = await here.pawl("solve", "what?", ...args);
    expect(first.code, first.stderr).toBe(3);
    expect({ saved: existsSync(save), out: readdirSync(out) }).toEqual({
      saved: false,
      out: ["solution.py", "transcript.md"],
    });
    const done = await here.pawl("resume", runIn(first.stderr), "--max-iterations", "3");
    expect({ code: done.code, stdout: done.stdout }, done.stderr).toEqual({ code: 0, stdout: "42\n" });
    expect(readdirSync(out).toSorted()).toEqual([
      "answer.json",
      "answer.txt",
      "made.txt",
      "solution.py",
      "transcript.md",
    ]);
    expect(readFileSync(save, "utf8")).toContain("made.txt");
    const again = join(here.home, "again");
    expect((await here.pawl("show", runIn(first.stderr), "--out", again)).code).toBe(0);
    expect(readdirSync(again).toSorted()).toEqual(readdirSync(out).toSorted());
    expect(await here.pawl("show", runIn(first.stderr), "--save", save)).toMatchObject({ code: 2 });
  });

  it("have the answer and the program that were judged, not those of other attempts", async () => {
    const shell: Step = { answer: { do: "run", note: "", language: "shell", code: "echo 42" } };
    const here = await solvePlace({ rules: each(python("print(41)"), shell) });
    const done = await here.pawl("solve", "what?", "--expect", "42", "--check", "test ! -e solution.py");
    expect(done.code, done.stderr).toBe(0);
    const run = runIn(done.stderr);
    // A person may have put the workspace back.
    expect((await here.pawl("restore", run, "--at", "1")).code).toBe(0);
    const out = join(here.home, "out");
    expect((await here.pawl("show", run, "--out", out)).code).toBe(0);
    expect(readFileSync(join(out, "answer.txt"), "utf8")).toBe("42\n");
    expect(readdirSync(out).toSorted()).toEqual(["answer.json", "answer.txt", "solution.sh", "transcript.md"]);
  });

  it("do not hide the answer when they cannot be written in the end", async () => {
    const here = await solvePlace({ rules: each({ delayMs: 1_000, ...python("print(42)") }) });
    const out = join(here.home, "out");
    const running = here.start(["solve", "what?", "--expect", "42", "--out", out]);
    while (here.sent().length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(out, "in the way");
    const done = await running.done;
    expect({ code: done.code, stdout: done.stdout }, done.stderr).toEqual({ code: 5, stdout: "42\n" });
    expect(done.stderr).toMatch(/missing .*could not be written/);
    expect(readFileSync(out, "utf8")).toBe("in the way");
  });

  it("get plain files alone: no repository, no rights of whoever runs pawl, nothing that leads elsewhere", async () => {
    const code = `
import os
os.makedirs("sub/.git/hooks")
open("sub/.git/config", "w").write("[core]\\n\\tfsmonitor = touch /tmp/x")
open("tool", "w").write("x")
os.chmod("tool", 0o777)
os.symlink("/etc/hostname", "link")
os.mkfifo("pipe")
open("transcript.md", "w").write("another story")
open(b"odd-\\xff", "w").write("x")
deep = os.getcwd()
for n in range(60):
    os.mkdir("d" * 100); os.chdir("d" * 100)
os.chdir(deep)
print(42)`;
    const here = await solvePlace({ rules: each(python(code)) });
    const out = join(here.home, "out");
    const done = await here.pawl("solve", "what?", "--expect", "42", "--out", out);
    expect(done.stdout, done.stderr).toBe("42\n");
    expect(lstatSync(join(out, "tool")).mode & 0o7777).toBe(0o755);
    expect(readdirSync(out).toSorted()).toEqual([
      "answer.json",
      "answer.txt",
      "made-transcript.md",
      "solution.py",
      "tool",
      "transcript.md",
    ]);
  });
});
