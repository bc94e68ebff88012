/** What ralph loops do (docs/ralph.md), where no other test shows it, with the real Claude Code on the stand-in. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliPlace } from "../support/cli.ts";
import { tempDir, waitFor, writeFiles } from "../support/temp.ts";
import { bash, gate } from "../support/watch-run.ts";

const CHECK = ["--check", "made=grep -q right made.txt"];
const asked = ({ standin }: CliPlace) => (standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0);

describe.concurrent("on the terminal", () => {
  it("shows each tool call, life after ten silent seconds, and one line with the tools of the iteration", async ({
    expect,
  }) => {
    const read = { name: "Read", input: { file_path: "readme.md" } };
    const work = `until [ -e ${GATE}go ]; do sleep 0.1; done; echo right > made.txt`;
    const place = await cliPlace({
      script: byIteration({ 1: [{ tools: [read, read] }, bash(work), { text: CLAIM }] }),
    });
    const running = place.start(["run", "make it", ...CHECK]);
    await waitFor(() => running.stderr().includes(" still in turn 1"), { what: "a sign of life" });
    writeFileSync(join(place.repository.path, `${GATE}go`), "");
    const { code, stderr } = await running.done;
    expect(code).toBe(0);
    expect(stderr.match(/→ Read readme\.md$/gm)).toHaveLength(2);
    expect(stderr).toContain(`→ Bash ${work}`);
    expect(stderr).toMatch(/ still in turn 1 of iteration 1, .* s; last sign of the agent .* s ago$/m);
    expect(stderr).toMatch(/ iteration 1 closed: .* · Read ×2, Bash ×1 · 1 file \(\+1 −0\) · made pass · \$/);
  });

  it("shows only the summary with --quiet, and thoughts, results and every fact with --verbose", async ({ expect }) => {
    const script = byIteration({
      1: [{ thinking: "Quokkas think.", ...bash("echo right > made.txt; echo wombat") }, { text: CLAIM }],
    });
    const quiet = await (await cliPlace({ script })).pawl("run", "make it", ...CHECK, "-q");
    expect([quiet.code, quiet.stdout]).toEqual([0, "verified pawl/make-it\n"]);
    expect(quiet.stderr).not.toMatch(/→|iteration 1 closed|wombat/);
    expect(quiet.stderr).toMatch(/^ {2}checks +made .*: pass/m);
    const { stderr } = await (await cliPlace({ script })).pawl("run", "make it", ...CHECK, "-v");
    for (const words of ["(thinking) Quokkas think.", "← ok wombat", "turn 1, new session, prompt of", "handed over"])
      expect(stderr).toContain(words);
  });
});

describe.concurrent("the agent", () => {
  it("is given its tools, its own limit, plugin, model, further arguments and program as asked", async ({ expect }) => {
    const plugin = tempDir("plugin");
    writeFiles(plugin, {
      ".claude-plugin/plugin.json": JSON.stringify({ name: "marsupial", version: "1.0.0", description: "d" }),
      "skills/hop/SKILL.md": "---\nname: hop\ndescription: how quokkas hop\n---\nHop.\n",
    });
    const place = await cliPlace({
      // The program leaves its mark outside the workspace.
      env: { PAWL_FENCE: "none" },
      files: { "CLAUDE.md": "Speak like a sailor.\n" },
      script: { steps: [{ ...bash("echo x >> made.txt"), repeat: true }] },
    });
    const flags = [
      "--tools",
      "Bash,Read,Skill",
      "--agent-max-turns",
      "2",
      "--plugin",
      plugin,
      "--model",
      "claude-opus-5-5",
    ];
    const mark = join(plugin, "ran");
    const bin = ["--agent-bin", claudeBehind(mark), "--max-iterations", "2", "--context", "fresh", "--json"];
    const passed = ["--", "--append-system-prompt", "Speak like a wombat.", "--system-prompt=You hop."];
    const result = await place.pawl("run", "make it", ...CHECK, ...flags, ...bin, ...passed);
    expect(result.of("turn-end").map(({ outcome, usage }) => [outcome, usage.requests])).toEqual([
      [expect.objectContaining({ is: "failed", kind: "max-turns" }), 2],
      [expect.objectContaining({ is: "failed", kind: "max-turns" }), 2],
    ]);
    expect(result.of("decision-made").map(({ rule }) => rule)).toEqual(["continue", "budget:iterations"]);
    expect(asked(place).map(({ model }) => model)).toEqual(Array.from({ length: 4 }, () => "claude-opus-5-5"));
    const body = JSON.parse(place.sent()[0] ?? "{}") as { tools: { name: string }[] };
    const names = body.tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["Bash", "Read", "Skill", "mcp__pawl__done"]));
    expect(names.filter((name) => /Write|Edit|Task|Glob|Grep/.test(name))).toEqual([]);
    expect(existsSync(mark)).toBe(true);
    expect(place.sent()[0]).toContain("how quokkas hop");
    const system = JSON.stringify((JSON.parse(place.sent()[0] ?? "{}") as { system: unknown }).system);
    expect(system).toMatch(/You hop\..*Speak like a sailor\..*Speak like a wombat\./);
  });

  it("starts a fresh session with a hand-off where the conversation has grown beyond --context-limit", async ({
    expect,
  }) => {
    const usage = { input: 1_000, cacheRead: 60_000 };
    const place = await cliPlace({
      script: byIteration({
        1: [bash("echo half > made.txt"), { text: "Half.", usage }],
        2: [bash("echo right > made.txt"), { text: CLAIM }],
      }),
    });
    const result = await place.pawl("run", "make it", ...CHECK, "--context-limit", "50k", "--json");
    expect(result.code).toBe(0);
    expect(result.of("turn-start").map(({ session }) => session.mode)).toEqual(["new", "new"]);
    expect(asked(place).at(-1)?.prompt).toContain("## Hand-off");
  });
});

describe.concurrent("what changed", () => {
  it.for([
    ["where all of it stays untracked", ["--no-commit"], "?? new/"],
    ["where each iteration is committed", [], ""],
  ] as const)(
    "is measured %s, in new directories too: work is no struggle, and three idle iterations get a hint",
    async ([, flags, left], { expect }) => {
      const work = (n: number): Step[] => [
        bash(`mkdir -p new/dir; echo ${n} > new/dir/${n > 2 ? 2 : n}`),
        { text: `${n}` },
      ];
      const idle = (text: string): Step[] => [{ text }];
      const place = await cliPlace({
        script: byIteration({
          1: work(1),
          2: work(2),
          3: work(3),
          4: work(4),
          5: idle("a"),
          6: idle("b"),
          7: idle("c"),
        }),
      });
      mkdirSync(join(place.repository.path, "empty/untracked"), { recursive: true });
      const result = await place.pawl("run", "make it", ...flags, "--max-iterations", "8", "--json");
      const byAgent = result.of("change-recorded").filter(({ by }) => by === "agent");
      expect(byAgent.map(({ fileCount }) => fileCount)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
      const rules = result.of("decision-made").map(({ rule }) => rule);
      expect(rules).toEqual([...Array.from({ length: 6 }, () => "continue"), "struggle:hint", "budget:iterations"]);
      expect(asked(place).at(-1)?.prompt).toMatch(/## Decision\n\n.*\S/);
      expect(place.repository.git("status", "--porcelain")).toBe(left);
      expect((await place.pawl("status")).stdout).toMatch(/^Struggle\n {2}\S/m);
    },
  );

  it("is committed also by the last iteration of a limit, the agent's own commits are kept, and nothing of pawl's is in it", async ({
    expect,
  }) => {
    const place = await cliPlace({
      script: byIteration({
        1: [bash("mkdir sub; echo 1 > sub/one.txt; git add -A; git commit -qm 'by the agent'"), { text: "One." }],
        2: [bash("echo 2 > 'two ☃.txt'"), { text: "Two." }],
      }),
      // Inside a fence the agent commits into a repository of its own.
      env: { PAWL_FENCE: "none" },
    });
    const result = await place.pawl("run", "make it", ...CHECK, "--max-iterations", "2");
    expect([result.code, result.stdout]).toEqual([3, "exhausted pawl/make-it\n"]);
    const { git } = place.repository;
    expect(git("log", "--format=%s", "main..HEAD").split("\n")).toEqual(["pawl: iteration 2", "by the agent"]);
    expect(git("ls-tree", "-rz", "--name-only", "HEAD").split("\0").filter(Boolean)).toEqual([
      "readme.md",
      "sub/one.txt",
      "two ☃.txt",
    ]);
    expect(git("status", "--porcelain", "--ignored")).toBe("");

    // Nothing of it is in the next run's branch.
    git("switch", "-q", "main");
    await place.pawl("run", "make more", ...CHECK, "--max-iterations", "1");
    expect(git("ls-tree", "-r", "--name-only", "pawl/make-more").split("\n")).not.toContain("two ☃.txt");
  });
});

describe.concurrent("words for the next prompt", () => {
  it("that come while an iteration works on earlier ones are neither lost nor said twice", async ({ expect }) => {
    const [one, two] = [gate(), gate()];
    const place = await cliPlace({
      script: byIteration({
        1: [one.step, { text: "One." }],
        2: [two.step, { text: "Two." }],
        3: [bash("echo right > made.txt"), { text: CLAIM }],
      }),
    });
    const running = place.start(["run", "make it", ...CHECK]);
    const works = (n: number) =>
      waitFor(() => (running.stderr().match(/→ Bash/g)?.length ?? 0) >= n, { what: `tool call ${n}` });
    await works(1);
    expect((await place.pawl("steer", "--next", "mind the quokka")).code).toBe(0);
    one.open(place);
    await works(2);
    expect((await place.pawl("steer", "--next", "mind the wombat")).code).toBe(0);
    two.open(place);
    expect((await running.done).code).toBe(0);
    const heard = (words: string) =>
      asked(place)
        .filter(({ lastUserText }) => lastUserText.includes(words))
        .map(({ prompt }) => /Iteration \d/.exec(prompt)?.[0]);
    expect([heard("quokka"), heard("wombat")]).toEqual([["Iteration 2"], ["Iteration 3"]]);
  });
});

/** Leaves a mark and becomes the program that comes with the SDK. */
function claudeBehind(mark: string): string {
  const manifest = createRequire(import.meta.url).resolve(
    `@anthropic-ai/claude-agent-sdk-${process.platform}-${process.arch}/package.json`,
  );
  const path = join(tempDir("bin"), "my-claude");
  writeFileSync(path, `#!/bin/sh\ntouch ${mark}\nexec ${join(dirname(manifest), "claude")} "$@"\n`, { mode: 0o755 });
  return path;
}
