/** What is refused: one clear line, what to do about it, the right exit code, nothing changed and nothing spent. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { byIteration, CLAIM, cliPlace, type CliPlace, type CliResult } from "../support/cli.ts";
import { tempDir, waitFor, writeFiles } from "../support/temp.ts";
import { gate } from "../support/watch-run.ts";

const IDLE = byIteration({});
const RUN = ["run", "make made.txt", "--check", "made=test -f made.txt"];

/** The first line says what is wrong, the second what to do; there is nothing else, above all no stack. */
function expectRefusal(result: CliResult, { code, says, hint }: { code: number; says: RegExp; hint?: RegExp }): void {
  const [first = "", second = "", ...more] = result.stderr.trimEnd().split("\n");
  expect(first).toMatch(says);
  if (hint !== undefined) expect(second).toMatch(hint);
  expect(more).toEqual([]);
  expect(result.stdout).toBe("");
  expect(result.code).toBe(code);
}

function expectUntouched({ repository, state, standin }: CliPlace, files = "readme.md"): void {
  expect(existsSync(state)).toBe(false);
  expect(standin?.requests ?? []).toEqual([]);
  expect(repository.git("branch", "--format=%(refname:short)")).toBe("main");
  expect(repository.git("ls-files")).toBe(files);
}

describe("refused before the start", () => {
  const cases: { what: string; args: string[]; says: RegExp; hint?: RegExp; env?: Record<string, string> }[] = [
    { what: "no goal", args: ["run"], says: /needs a goal/, hint: /pawl run "/ },
    { what: "an empty goal", args: ["run", "  \n "], says: /goal is empty/, hint: /pawl run "/ },
    { what: "an empty goal from stdin", args: ["run", "-"], says: /goal is empty/ },
    {
      what: "a goal file that is not there",
      args: ["run", "-f", "nowhere.md"],
      says: /goal cannot be read.*nowhere\.md/,
    },
    { what: "a goal without quotes", args: ["run", "make", "it"], says: /too many words: "it"/, hint: /quotes/ },
    {
      what: "an unknown flag",
      args: [...RUN, "--max-iteration", "3"],
      says: /unknown option --max-iteration/,
      hint: /--max-iterations/,
    },
    { what: "an unknown command", args: ["rum"], says: /there is no command "rum"/, hint: /run/ },
    {
      what: "an unknown flag of resume",
      args: ["resume", "--chek", "true"],
      says: /unknown option --chek/,
      hint: /--check/,
    },
    {
      what: "an unknown variable",
      args: RUN,
      env: { PAWL_MAX_COSTS: "5" },
      says: /PAWL_MAX_COSTS is not a setting/,
      hint: /PAWL_MAX_COST\?/,
    },
    {
      what: "zero iterations",
      args: [...RUN, "--max-iterations", "0"],
      says: /--max-iterations must be a whole number above 0/,
    },
    { what: "negative cost", args: [...RUN, "--max-cost=-5"], says: /--max-cost must be US dollars above 0/ },
    {
      what: "a time that is none",
      args: [...RUN, "--max-time", "soon"],
      says: /--max-time must be a time above 0.*"soon"/,
    },
    { what: "NaN", args: [...RUN, "--max-tokens", "NaN"], says: /--max-tokens must be a whole number/ },
    {
      what: "a minimum above the maximum",
      args: [...RUN, "--min-iterations", "5", "--max-iterations", "3"],
      says: /min-iterations is more than max-iterations \(5 and 3\)/,
      hint: /--min-iterations/,
    },
    {
      what: "a turn that may cost more than the run",
      args: [...RUN, "--max-cost", "1", "--max-turn-cost", "2"],
      says: /contradict/,
    },
    { what: "--until-green without a check", args: ["run", "x", "--until-green"], says: /until-green needs a check/ },
    { what: "two places for commits", args: [...RUN, "--no-commit", "--current-branch"], says: /contradicts/ },
    {
      what: "a branch and no commits",
      args: [...RUN, "--no-commit", "--branch", "x"],
      says: /branch x contradicts no commits/,
      hint: /commit: --no-commit/,
    },
    { what: "a bad branch name", args: [...RUN, "--branch", "a..b"], says: /"a\.\.b" cannot be a branch name/ },
    {
      what: "a branch for which another is in the way",
      args: [...RUN, "--branch", "main/x"],
      says: /there can be no branch main\/x beside main/,
      hint: /another name/,
    },
    { what: "two checks of one name", args: [...RUN, "--check", "made=true"], says: /two checks are called made/ },
    {
      what: "a check that does not exist",
      args: ["run", "x", "--check", "no-such-program --all"],
      says: /command not found: no-such-program --all/,
    },
    {
      what: "an agent that does not exist",
      args: [...RUN, "--agent", "cloude"],
      says: /--agent must be one of: claude/,
    },
    {
      what: "an agent that is not installed",
      args: [...RUN, "--agent-bin", "/nowhere/claude"],
      says: /\/nowhere\/claude is not a program/,
    },
    { what: "an option the agent does not have", args: [...RUN, "--effort", "heroic"], says: /effort.*heroic/ },
    {
      what: "a flag that is pawl's own, for the agent",
      args: [...RUN, "--", "--resume", "x"],
      says: /--resume cannot be passed on/,
    },
    {
      what: "a secret in a check's command",
      args: ["run", "x", "--check", "API_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789 true"],
      says: /a check holds a secret/,
      hint: /--env NAME/,
    },
    {
      what: "a relative place for state",
      args: RUN,
      env: { PAWL_HOME: "relative" },
      says: /PAWL_HOME is a relative path/,
    },
  ];
  it.concurrent.for(cases)("$what", async ({ args, says, hint, env }) => {
    const place = await cliPlace({ script: IDLE, ...(env === undefined ? {} : { env }) });
    expectRefusal(await place.pawl(...args), { code: 2, says, ...(hint === undefined ? {} : { hint }) });
    expectUntouched(place);
  });

  it.concurrent("not a git repository", async () => {
    const place = await cliPlace({ script: IDLE });
    const cwd = tempDir("plain");
    expectRefusal(await place.start(RUN, { cwd }).done, { code: 2, says: /not in a git repository/, hint: /git init/ });
    expect(readdirSync(cwd)).toEqual([]);
    expectUntouched(place);
  });

  it.concurrent("uncommitted changes, until they are allowed", async () => {
    const place = await cliPlace({
      script: byIteration({
        1: [{ tools: [{ name: "Bash", input: { command: "touch made.txt" } }] }, { text: CLAIM }],
      }),
    });
    writeFiles(place.repository.path, { "readme.md": "changed\n", "new.txt": "mine\n" });
    expectRefusal(await place.pawl(...RUN), {
      code: 2,
      says: /uncommitted changes: .*readme\.md/,
      hint: /--allow-dirty/,
    });
    expectUntouched(place);
    expect(readFileSync(join(place.repository.path, "readme.md"), "utf8")).toBe("changed\n");
    const allowed = await place.pawl(...RUN, "--allow-dirty");
    expect(allowed.stdout).toBe("verified pawl/make-made-txt\n");
    expect(place.repository.git("log", "--format=%s", "main..HEAD").split("\n")).toHaveLength(2);
  });

  it.concurrent("an unknown key in pawl.yaml, with the nearest name", async () => {
    const place = await cliPlace({ script: IDLE, files: { "pawl.yaml": "max-costs: 5\n" } });
    expectRefusal(await place.pawl(...RUN), {
      code: 2,
      says: /pawl\.yaml has an unknown key "max-costs"/,
      hint: /max-cost\?/,
    });
    expectUntouched(place, "pawl.yaml");
  });

  it.concurrent("a branch that is somewhere else, and state inside the repository", async () => {
    const place = await cliPlace({ script: IDLE });
    place.repository.git("branch", "other");
    place.repository.commit("more", { "more.txt": "more\n" });
    expectRefusal(await place.pawl(...RUN, "--branch", "other"), { code: 2, says: /branch other exists already/ });
    const inside = { PAWL_HOME: join(place.repository.path, ".pawl") };
    expectRefusal(await place.start(RUN, { env: inside }).done, {
      code: 2,
      says: /inside the repository/,
      hint: /PAWL_HOME/,
    });
    expect(place.repository.git("status", "--porcelain")).toBe("");
    expect(existsSync(place.state)).toBe(false);
  });

  it.concurrent("git's own folder in the middle of the workspace", async () => {
    const place = await cliPlace({ script: IDLE });
    const { path, git } = place.repository;
    git("init", "-q", `--separate-git-dir=${join(path, ".realgit")}`);
    appendFileSync(join(path, ".realgit/info/exclude"), ".realgit\n");
    expectRefusal(await place.pawl(...RUN), {
      code: 2,
      says: /git's own folder lies inside the workspace, where an agent could change it: .*\.realgit/,
      hint: /separate-git-dir/,
    });
    expect([git("branch", "--format=%(refname:short)"), existsSync(place.state)]).toEqual(["main", false]);
  });

  it.concurrent("a full disk", async () => {
    const place = await cliPlace({ script: IDLE, env: { PAWL_FAULT: "append:1:ENOSPC" } });
    const result = await place.pawl(...RUN, "--quiet");
    expectRefusal(result, { code: 5, says: /no space left/, hint: /free some space/ });
    expect(place.standin?.requests).toEqual([]);
    expect(place.repository.git("branch", "--format=%(refname:short)")).toBe("main");
  });

  it.concurrent("no key and no stored login", async () => {
    const place = await cliPlace({});
    expectRefusal(await place.pawl(...RUN), { code: 2, says: /no login/, hint: /ANTHROPIC_API_KEY/ });
    expectUntouched(place);
  });
});

describe("refused by the model", () => {
  it.concurrent("a model that does not exist ends failed at the first request, at no cost", async () => {
    const place = await cliPlace({ script: { models: ["claude-sonnet-4-5"], steps: [{ text: "ok" }] } });
    const result = await place.pawl(...RUN, "--model", "claude-nonsense", "--json");
    expect(result.of("run-end").map(({ outcome }) => `${outcome.is} ${outcome.rule}`)).toEqual(["failed agent:model"]);
    expect(result.of("turn-end").map(({ usage }) => usage.usd)).toEqual([0]);
    expect(result.code).toBe(5);
  });

  it.concurrent("a wrong key ends failed at the first request, at no cost", async () => {
    const place = await cliPlace({ script: IDLE, env: { ANTHROPIC_API_KEY: "wrong" } });
    const result = await place.pawl(...RUN, "--json");
    expect(result.of("run-end").map(({ outcome }) => `${outcome.is} ${outcome.rule}`)).toEqual(["failed agent:login"]);
    expect(result.of("turn-end").map(({ usage }) => usage.usd)).toEqual([0]);
    expect(result.code).toBe(5);
  });
});

describe("refused because of what is there already", () => {
  it.concurrent("a second driver in the same workspace, on another run and on the same", async () => {
    const held = gate();
    const place = await cliPlace({ script: byIteration({ 1: [held.step, { text: CLAIM }] }) });
    const first = place.start([...RUN, "--no-commit", "--max-iterations", "1"]);
    await waitFor(() => first.stderr().includes("iteration 1"), { what: "the first driver" });
    const run = /r-\d{8}-\w{6}/.exec(first.stderr())?.[0] ?? "";
    expectRefusal(await place.pawl(...RUN), {
      code: 2,
      says: /another pawl \(pid \d+ .*is working in/,
      hint: /--worktree/,
    });
    const told = await place.pawl("resume", run);
    expect(told.stderr).toContain("it was told to go on");
    expect(told.code).toBe(0);
    held.open(place);
    expect((await first.done).code).toBe(3);
  });

  it.concurrent("a corrupt journal", async () => {
    const place = await cliPlace({ script: IDLE });
    mkdirSync(place.state, { mode: 0o700 });
    writeFileSync(join(place.state, "journal.db"), Buffer.alloc(8_192, 0x5a));
    expectRefusal(await place.pawl(...RUN), { code: 5, says: /journal/ });
    expect(place.standin?.requests).toEqual([]);
    expect(place.repository.git("branch", "--format=%(refname:short)")).toBe("main");
  });

  it.concurrent("a journal from a newer version", async () => {
    const place = await cliPlace({ script: IDLE });
    mkdirSync(place.state, { mode: 0o700 });
    const journal = new DatabaseSync(join(place.state, "journal.db"));
    journal.exec("PRAGMA user_version = 9999");
    journal.close();
    expectRefusal(await place.pawl(...RUN), { code: 5, says: /newer pawl/, hint: /update pawl/ });
    expect(place.repository.git("branch", "--format=%(refname:short)")).toBe("main");
  });
});
