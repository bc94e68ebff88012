/** What the real agent is told, and by whom: goal, criteria, templates, notes, knowledge, rules; as sent and as on disk. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

interface Shown {
  prompts: { turn: number; text: string; parts: { name: string; included: boolean }[] }[];
}
async function shown({ pawl }: CliPlace, iteration: number): Promise<Shown["prompts"][0]> {
  const view = JSON.parse((await pawl("show", "--prompt", "-i", String(iteration), "--json")).stdout) as Shown;
  return view.prompts.at(-1) ?? { turn: 0, text: "", parts: [] };
}
const partNames = (parts: readonly { name: string; included: boolean }[]): string[] =>
  parts.filter(({ included }) => included).map(({ name }) => name);

const GOAL = `Make made.txt.

## Acceptance Criteria

- [ ] made.txt is there
- [ ] it holds a word
`;

describe.concurrent("the goal", () => {
  it("is read from a file that is named instead of it, its criteria are told, and listed as unverified", async ({
    expect,
  }) => {
    const place = await cliPlace({
      files: { "readme.md": "hello\n", "goal.md": GOAL },
      script: byIteration({ 1: [bash("echo word > made.txt"), { text: CLAIM }] }),
    });
    const result = await place.pawl("run", "goal.md", "--check", "test -s made.txt", "--criterion", "no noise");
    expect(result.code).toBe(0);
    expect(result.stderr).toMatch(/\n {2}the goal is the text of goal\.md\n/);
    expect(result.stderr).toMatch(/criteria +1\. made\.txt is there: unverified\n +2\. it holds a word: unverified\n/);
    const { text, parts } = await shown(place, 1);
    expect(text).toContain("## Goal\n\nMake made.txt.");
    expect(text).toMatch(/1\. made\.txt is there\n2\. it holds a word\n3\. no noise/);
    expect(partNames(parts)).toEqual(["header", "goal", "criteria", "instructions"]);
    expect(place.sent().some((body) => body.includes("3. no noise"))).toBe(true);
    const status = JSON.parse((await place.pawl("status", "--json")).stdout) as { criteria: unknown[] };
    expect(status.criteria.at(-1)).toEqual({ n: 3, text: "no noise", is: "unverified", evidence: [] });
    expect((await place.pawl("show")).stdout).toMatch(/Acceptance criteria\n +1\. +unverified +made\.txt is there/);
  });

  it("is read from a file with any name, a pipe, or stdin", async ({ expect }) => {
    const place = await cliPlace({ files: { goal: "from a file\n" }, script: byIteration({}) });
    const dry = async (args: string[], input?: string): Promise<string> => {
      const given = input === undefined ? {} : { input };
      const result = await place.start(["run", ...args, "--dry-run", "--json"], given).done;
      return (JSON.parse(result.stdout) as { spec: { goal: string } }).spec.goal;
    };
    expect(await dry(["-f", "goal"])).toBe("from a file");
    expect(await dry(["-"], "from stdin\n")).toBe("from stdin");
    expect(await dry(["-f", "-"], "from stdin too\n")).toBe("from stdin too");
    expect(await dry(["--notes", "after a bare flag"])).toBe("after a bare flag");
    execFileSync("mkfifo", [join(place.repository.path, ".git/pipe")]);
    const writer = spawn("sh", ["-c", "echo from a pipe > .git/pipe"], { cwd: place.repository.path, stdio: "ignore" });
    const [said, ended] = await Promise.all([dry(["-f", ".git/pipe"]), once(writer, "exit")]);
    expect([said, ended]).toEqual(["from a pipe", [0, null]]);
  });
});

describe.concurrent("refused with one line, before anything is changed", () => {
  const cases: { args: string[]; says: RegExp; hint?: RegExp }[] = [
    { args: ["tool.sh"], says: /tool\.sh is a file, not a goal/, hint: /pawl run -f tool\.sh/ },
    { args: ["docs"], says: /docs is a directory, not a goal/ },
    { args: ["gaol.md"], says: /there is no file gaol\.md/ },
    { args: ["-f", "docs"], says: /docs is a directory/ },
    { args: ["empty.md"], says: /the goal is empty \(empty\.md\)/ },
    { args: ["-f", "binary"], says: /the goal is no text: binary is not UTF-8/ },
    { args: ["-f", "nul"], says: /the goal is no text: nul holds NUL bytes/ },
    { args: ["-f", "long"], says: /the goal has more than 32768 bytes/ },
    { args: ["x", "--template", "none.md"], says: /the template cannot be read: there is no file/ },
    { args: ["x", "--template", "docs"], says: /docs is a directory/ },
    { args: ["x", "--template", "empty.md"], says: /the template is empty/ },
    {
      args: ["x", "--template", "odd.md"],
      says: /unknown variable \{\{iteratoin\}\} in line 2/,
      hint: /\{\{iteration\}\}/,
    },
    { args: ["x", "--notes", "../n.md"], says: /--notes must be a file inside the repository/ },
    { args: ["x", "--notes", "docs"], says: /notes: docs is a directory/ },
    { args: ["x", "--knowledge", "link.md"], says: /knowledge: link\.md is a symbolic link/ },
    { args: ["x", "--notes", "a.md", "--knowledge", "a.md"], says: /notes and knowledge are the same file, a\.md/ },
    { args: ["x", "--criterion", ""], says: /--criterion.*must not be empty/ },
  ];
  it("whatever is wrong with goals, templates and files", async ({ expect }) => {
    const place = await cliPlace({ script: byIteration({}) });
    const { path } = place.repository;
    mkdirSync(join(path, "docs"));
    writeFileSync(join(path, "docs/x"), "");
    writeFileSync(join(path, "tool.sh"), "#!/bin/sh\n");
    writeFileSync(join(path, "empty.md"), " \n");
    writeFileSync(join(path, "binary"), Buffer.from([0xff, 0xfe, 0x41]));
    writeFileSync(join(path, "nul"), "a\0b");
    writeFileSync(join(path, "long"), "x".repeat(40_000));
    writeFileSync(join(path, "odd.md"), "do {{goal}}\nin {{iteratoin}}");
    symlinkSync("readme.md", join(path, "link.md"));
    place.repository.commit("traps");
    const refuse = async ({ args, says, hint = /./ }: (typeof cases)[0]): Promise<void> => {
      const result = await place.pawl("run", ...args);
      const [first = "", second, ...more] = result.stderr.trimEnd().split("\n");
      expect(first, args.join(" ")).toMatch(says);
      expect(second ?? "none").toMatch(hint);
      expect([more, result.stdout, result.code]).toEqual([[], "", 2]);
    };
    await Promise.all(cases.map(refuse));
    expect(existsSync(place.state)).toBe(false);
    expect(place.standin?.requests).toEqual([]);
    writeFileSync(join(path, "pawl.yaml"), 'commit-title: "{{itertion}}"\n');
    const title = await place.pawl("run", "x", "--allow-dirty");
    expect(title.stderr).toMatch(
      /commit-title has an unknown variable \{\{itertion\}\} in line 1\n.*\{\{iteration\}\}/,
    );
    expect(existsSync(place.state)).toBe(false);
  });
});

describe.concurrent("a persistent session", () => {
  it("keeps its memory, and what is added to it does not grow with the iterations", async ({ expect }) => {
    const n = 6;
    // Another approach each time: nothing is blocked.
    const steps = (i: number): Step[] => [bash(`echo word > ${"x".repeat(i)}.txt`), { text: `did ${i}` }];
    const place = await cliPlace({
      script: byIteration(Object.fromEntries(Array.from({ length: n }, (_, i) => [i + 1, steps(i + 1)]))),
      env: { PAWL_PATIENCE: "99" },
    });
    const goal = `Make it. ${"And mind the details. ".repeat(300)}`;
    const args = ["--check", "echo always red; false", "--max-iterations", String(n), "--notes", "--json"];
    const result = await place.pawl("run", goal, ...args);
    expect(result.of("run-end")[0]?.outcome.is).toBe("exhausted");
    expect(new Set(result.of("decision-made").map(({ rule }) => rule))).toEqual(
      new Set(["continue", "budget:iterations"]),
    );
    const sessions = new Set(result.of("turn-start").map(({ session }) => session.ref));
    expect(sessions.size).toBe(1);
    // The last request holds every earlier answer: the conversation is one.
    const last = place.sent().findLast((body) => body.includes("Iteration 6 of 6")) ?? "";
    for (let i = 1; i < n; i += 1) expect(last).toContain(`did ${i}`);
    const bytes = result.of("turn-start").map(({ prompt }) => prompt.bytes);
    expect(Math.max(...bytes.slice(1))).toBeLessThan((bytes[0] ?? 0) / 2);
    expect(Math.max(...bytes.slice(3))).toBeLessThanOrEqual((bytes[2] ?? 0) * 1.1);
    // As billed: what each iteration adds beyond the cached prefix stays the same.
    const asked = (place.standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0);
    const added = Array.from({ length: n }, (_, i) =>
      asked
        .filter(({ prompt }) => prompt.includes(`Iteration ${i + 1} of 6`))
        .reduce((sum, { billing: b }) => sum + b.inputTokens + b.cacheWrite5mTokens + b.cacheWrite1hTokens, 0),
    );
    expect(Math.max(...added.slice(3))).toBeLessThanOrEqual((added[2] ?? 0) * 1.1);
  });
});

describe.concurrent("notes and knowledge", () => {
  it("go from one fresh session to the next, are kept by the agent, and are committed unless ignored", async ({
    expect,
  }) => {
    const place = await cliPlace({
      files: { "readme.md": "hello\n", ".gitignore": "KNOWLEDGE.md\n" },
      script: byIteration({
        1: [bash("echo 'next: the second half' > NOTES.md; echo 'use make -j1' > KNOWLEDGE.md"), { text: "half" }],
        2: [bash("echo x > made.txt"), { text: CLAIM }],
      }),
    });
    const args = ["--check", "test -f made.txt", "--notes", "--knowledge", "--context", "fresh", "--json"];
    const result = await place.pawl("run", "make made.txt", ...args);
    expect(result.code).toBe(0);
    const first = await shown(place, 1);
    expect(first.text).toContain("`NOTES.md` is empty or missing: write it");
    expect(first.text).toContain("no lists of completed work");
    const { text, parts } = await shown(place, 2);
    expect(text).toContain("## Notes\n\n`NOTES.md`:\n\n    next: the second half\n");
    expect(text).toContain("## Durable project knowledge\n\n`KNOWLEDGE.md`:\n\n    use make -j1\n");
    const headings = [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      "Goal",
      "What the checks said after iteration 1",
      "What has been tried and failed",
      "Durable project knowledge",
      "Notes",
      "Hand-off",
      "Rules",
    ]);
    expect(text).toContain("Every iteration starts afresh here.");
    expect(text).toMatch(/Files changed so far, the latest last:\n\n- "NOTES\.md"/);
    expect(text).toContain("    half");
    expect(partNames(parts)).toContain("hand-off");
    expect(place.repository.git("show", "HEAD:NOTES.md")).toBe("next: the second half");
    expect(place.repository.git("ls-files")).not.toContain("KNOWLEDGE.md");
    expect(readFileSync(join(place.repository.path, "KNOWLEDGE.md"), "utf8")).toBe("use make -j1\n");
  });

  it("are not read through a link that the agent puts in their place", async ({ expect }) => {
    const place = await cliPlace({
      script: byIteration({
        1: [bash('echo "outside-word" > "$HOME/x"; ln -s "$HOME/x" NOTES.md'), { text: "linked" }],
        2: [bash("rm NOTES.md; echo x > made.txt"), { text: CLAIM }],
      }),
    });
    const args = ["--check", "test -f made.txt", "--notes", "--context", "fresh", "--json"];
    expect((await place.pawl("run", "make made.txt", ...args)).code).toBe(0);
    const { text } = await shown(place, 2);
    expect(text).toContain("`NOTES.md` is empty or missing");
    expect(text).not.toContain("outside-word");
  });
});

describe.concurrent("a project's own words", () => {
  it("fill a template, name the commits and remind in every second iteration", async ({ expect }) => {
    const yaml = `template: prompts/mine.md
commit-title: "step {{iteration}} ({{verdict}}): {{goal}}"
rules:
  - every: 2
    text: look at the docs again
`;
    const template = `Iteration {{iteration}} of {{max_iterations}} at most.

# Task
{{goal}}

{{verdicts}}

{{rules}}

Say <promise>{{promise}}</promise> when done. A literal: {{{{x}}.
`;
    const place = await cliPlace({
      files: { "readme.md": "hello\n", "pawl.yaml": yaml, "prompts/mine.md": template, "sub/x": "" },
      script: byIteration({
        // The template was frozen when the run started.
        1: [bash("echo half > made.txt; echo '{{nonsense}}' > prompts/mine.md"), { text: "half" }],
        2: [bash("echo whole > made.txt"), { text: CLAIM }],
      }),
    });
    const cwd = join(place.repository.path, "sub");
    const args = ["run", "make it whole\nsoon", "--check", "word=grep -q whole ../made.txt"];
    const dry = await place.start([...args, "--dry-run"], { cwd }).done;
    expect(dry.stdout).toContain(
      "Iteration 1 of 20 at most.\n\n# Task\nmake it whole\nsoon\n\nSay <promise>COMPLETE</promise>",
    );
    expect(dry.stdout).toMatch(/left out: .*instructions: not in the template/);
    const result = await place.start(args, { cwd }).done;
    expect(result.code).toBe(0);
    const [first, second] = [await shown(place, 1), await shown(place, 2)];
    expect(first.text).toBe(
      "Iteration 1 of 20 at most.\n\n# Task\nmake it whole\nsoon\n\nSay <promise>COMPLETE</promise> when done. A literal: {{x}}.",
    );
    expect(second.text).toMatch(
      /## What the checks said after iteration 1[^]*## For this iteration\n\nlook at the docs again\n\nSay/,
    );
    expect(place.sent().some((body) => body.includes("A literal: {{x}}."))).toBe(true);
    expect(place.repository.git("log", "--format=%s", "--reverse", "main..HEAD").split("\n")).toEqual([
      "step 1 (red): make it whole",
      "step 2 (green): make it whole",
    ]);
    expect(place.repository.git("log", "-1", "--format=%(trailers:key=Pawl-Iteration,valueonly)")).toBe("2");
    const manifest = (await place.pawl("show", "--prompt", "-i", "1")).stdout;
    expect(manifest).toMatch(/Prompt of turn 1: \d+ bytes\n {2}template +\d+ bytes\n/);
    expect(manifest).toMatch(/\n {2}instructions +left out: not in the template +\d+ bytes\n/);
    expect(manifest).toMatch(/\n {2}rules +left out: not due/);
  });

  it("never swallow what a person says: it stands above a template without a place for it", async ({ expect }) => {
    const place = await cliPlace({
      files: { "t.md": "Iteration {{iteration}} of many: {{goal}}, then <promise>{{promise}}</promise>\n" },
      script: byIteration({
        1: [bash("while ! test -f go; do sleep 0.05; done; rm go; echo half > made.txt"), { text: "half" }],
        2: [bash("echo whole > made.txt"), { text: CLAIM }],
      }),
    });
    const running = place.start([
      "run",
      "make it",
      "--template",
      "t.md",
      "--check",
      "grep -q whole made.txt",
      "--json",
    ]);
    while (!running.stdout().includes('"type":"session-opened"'))
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await place.pawl("steer", "--next", "mind the wombat")).code).toBe(0);
    execFileSync("touch", [join(place.repository.path, "go")]);
    expect((await running.done).code).toBe(0);
    expect((await shown(place, 2)).text).toBe(
      "## Orchestrator directive (priority)\n\nmind the wombat\n\nIteration 2 of many: make it, then <promise>COMPLETE</promise>",
    );
  });
});
