/** The user's own commands at points of the loop: what they are given and what they can do, most of it under the real Claude Code. */
import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace, type PlaceOptions } from "../support/cli.ts";
import { liveRun } from "../support/live-run.ts";
import { tempDir } from "../support/temp.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const MADE = byIteration({
  1: [bash("echo half > made.txt"), { text: "Half." }],
  2: [bash("echo whole > made.txt"), { text: CLAIM }],
});
const RUN = ["run", "make made.txt", "--check", "grep -q whole made.txt", "--json"];

const place = (yaml: string, agent: PlaceOptions = { script: MADE }): Promise<CliPlace> =>
  cliPlace({ ...agent, files: { "readme.md": "hello\n", "pawl.yaml": yaml } });
const once = { shellAgent: { 1: ["echo whole > made.txt", CLAIM] } } as const;

describe("hooks", () => {
  it("run once at each point, with the fact on standard input; what they print stands in the next prompt once", async () => {
    const log = join(tempDir("hooks"), "log");
    const { pawl, standin } = await place(`
hooks:
  - name: log
    on: [run-start, iteration-start, iteration-end, run-end, resume, stall, error]
    run: "cat >> ${log}"
  - name: news
    on: iteration-end
    run: "echo 'mind the quokka'"
    prompt: true
`);
    const result = await pawl(...RUN);
    expect(result.code).toBe(0);
    const given = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(given.map(({ type }) => type)).toEqual([
      "run-start",
      "iteration-start",
      "decision-made",
      "iteration-start",
      "decision-made",
      "run-end",
    ]);
    expect(new Set(given.map(({ run }) => run))).toEqual(new Set([result.facts()[0]?.run]));
    expect(given[1]).toMatchObject({ n: 1 });
    expect(given.at(-1)).toMatchObject({ outcome: { is: "verified" } });
    const shown = (standin?.requests ?? []).filter(({ lastUserText }) => lastUserText.includes("quokka"));
    expect(shown).toHaveLength(1);
    expect(shown[0]?.lastUserText).toContain("## From hook news\n\nmind the quokka");
  });

  it("that fail are told, end the run or have a person asked, as their policy says", async () => {
    const hook = (policy: string): string =>
      `hooks: [{ name: gate, on: iteration-start, run: "echo no deploy today; exit 3", policy: ${policy} }]\n`;
    const warned = await place(hook("warn"));
    const told = await warned.pawl(...RUN.slice(0, -1));
    expect([told.code, told.stderr]).toEqual([
      0,
      expect.stringMatching(/hook gate at iteration-start FAILED with 3 .*no deploy today/),
    ]);

    const blocked = await place(hook("block"));
    const ended = await blocked.pawl(...RUN);
    expect([ended.code, ended.of("run-end")[0]?.outcome]).toEqual([
      4,
      { is: "needs-human", rule: "hook:gate", reason: "hook gate (iteration-start): no deploy today" },
    ]);
    expect((blocked.standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0)).toEqual([]);

    const suspended = await place(hook("suspend"));
    const running = suspended.start(RUN);
    const live = await liveRun({ state: suspended.state, env: suspended.env });
    for (const n of [1, 2]) {
      expect(await live.nth("human-requested", n)).toMatchObject({
        kind: "hook",
        question: `q${n}`,
        untilElapsed: null,
      });
      expect((await suspended.pawl("answer", live.run, `q${n}`, "go on")).code).toBe(0);
    }
    expect((await running.done).code).toBe(0);
    expect(await live.of("hook-end")).toHaveLength(2);
  });

  it("that fail at an error end the run there, and its work is kept", async () => {
    const crash = { shellAgent: { 1: ["echo half > made.txt; kill -9 $$; sleep 5", "no"] } } as const;
    const { pawl, repository } = await place(
      'hooks: [{ name: oncall, on: error, run: "echo look at me; false", policy: block }]\n',
      crash,
    );
    const result = await pawl(...RUN);
    expect([result.code, result.of("run-end")[0]?.outcome.rule]).toEqual([4, "hook:oncall"]);
    expect(result.of("turn-end")).toHaveLength(1);
    expect(repository.git("show", "HEAD:made.txt")).toBe("half");
  });

  it("of a driver that was killed run again when they had not ended, and never when they had", async () => {
    const dir = tempDir("hooks");
    const gate = join(dir, "begun");
    const { start, pawl, state, env } = await place(
      `
hooks:
  - { name: first, on: run-start, run: "echo x >> ${join(dir, "first")}" }
  - { name: second, on: run-start, run: "echo x >> ${join(dir, "second")}; test -e ${gate} || { touch ${gate}; sleep 60; }" }
`,
      once,
    );
    const running = start(RUN);
    const live = await liveRun({ state, env });
    await live.nth("hook-end");
    await expect.poll(() => existsSync(gate), { timeout: 120_000 }).toBe(true);
    running.child.kill("SIGKILL");
    expect((await running.done).signal).toBe("SIGKILL");
    expect((await pawl("resume")).code).toBe(0);
    expect(readFileSync(join(dir, "first"), "utf8")).toBe("x\n");
    expect(readFileSync(join(dir, "second"), "utf8")).toBe("x\nx\n");
  });
});

describe("a hook is refused before anything is spent", () => {
  const cases = [
    {
      what: "not executable",
      yaml: "hooks: [{ on: run-end, run: ./tell.sh }]",
      says: /pawl: hook 1: not found or not executable: \.\/tell\.sh/,
    },
    {
      what: "that blocks the end",
      yaml: "hooks: [{ on: run-end, run: 'true', policy: block }]",
      says: /at run-end there is nothing left to block/,
    },
    {
      what: "with a secret",
      yaml: "hooks: [{ on: error, run: 'T=ghp_abcdefghijklmnopqrstuvwxyz0123456789 true' }]",
      says: /a hook's command holds a secret/,
    },
  ];
  it.concurrent.for(cases)("$what", async ({ yaml, says }, { expect: ex }) => {
    const it = await cliPlace({ script: MADE, files: { "pawl.yaml": `${yaml}\n`, "tell.sh": "echo hi\n" } });
    chmodSync(join(it.repository.path, "tell.sh"), 0o644);
    const result = await it.pawl(...RUN);
    ex([result.code, result.stderr]).toEqual([2, ex.stringMatching(says)]);
    ex(it.standin?.requests).toEqual([]);
    ex(existsSync(it.state)).toBe(false);
    ex(it.repository.git("branch", "--format=%(refname:short)")).toBe("main");
  });
});

it("hooks that take the repository or the branch away after the last hand-over leave no verified run", async () => {
  const hook = (run: string): string => `hooks: [{ on: iteration-end, run: '${run}' }]\n`;
  const [gone, moved] = [
    await place(hook('rm -rf "$PWD"'), once),
    await place(hook('b=$(git branch --show-current); git checkout -q main; git branch -qD "$b"'), once),
  ];
  const [whole, branch] = [await gone.pawl(...RUN), await moved.pawl(...RUN.slice(0, -1))];
  expect([whole.code, whole.of("run-end")[0]?.outcome]).toEqual([
    4,
    {
      is: "needs-human",
      rule: "work-missing",
      reason: expect.stringMatching(
        /\.git was deleted; the work is kept as refs\/pawl\/.*\/main\/head in .*private\.git$/,
      ),
    },
  ]);
  expect(branch.code).toBe(4);
  expect(branch.stderr).toMatch(/needs-human: the branch pawl\/\S+ was deleted; the work is kept as refs/);
  expect(branch.stderr).toContain("pawl restore");
  expect((await moved.pawl("restore", "--at", "1", "--branch", "back")).code).toBe(0);
  expect(moved.repository.git("show", "back:made.txt")).toBe("whole");
});
