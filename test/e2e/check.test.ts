/** `pawl check`: the checks of a run on the tree as it is, and nothing else of a run. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Verdict } from "../../src/events.ts";
import { cliPlace, type CliPlace, type CliResult } from "../support/cli.ts";
import { taggedProcesses } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";

const LIMIT_MS = 240_000;

interface Answer {
  is: string;
  base: string;
  tree: string;
  checks: { check: { name: string; required: boolean }; verdict: Verdict; log?: string }[];
}
const answerOf = ({ stdout, stderr }: CliResult): Answer => {
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Answer;
};

/** Everything of the user's that could have been changed. */
function standOf({ repository }: CliPlace): unknown {
  const { git, path } = repository;
  return {
    head: readFileSync(join(path, ".git/HEAD"), "utf8"),
    index: readFileSync(join(path, ".git/index")).toString("base64"),
    refs: git("for-each-ref"),
    status: git("status", "--porcelain", "--ignored"),
    objects: git("count-objects", "-v"),
  };
}

/** No run, no folder of one, no ref of one. */
async function expectNothingLeft(place: CliPlace): Promise<void> {
  expect((await place.pawl("runs", "--all", "--json")).stdout.trim()).toBe("");
  expect(readdirSync(place.state).toSorted()).toEqual(["repos", "runs"]);
  expect(readdirSync(join(place.state, "runs"))).toEqual([]);
  for (const name of readdirSync(join(place.state, "repos"))) {
    const root = join(place.state, "repos", name);
    expect(readdirSync(join(root, "runs"))).toEqual([]);
    const refs = join(root, "private.git/refs/pawl");
    expect(existsSync(refs) ? readdirSync(refs) : []).toEqual([]);
  }
}

it("judges the tree with what is not committed, fenced, and leaves no trace of it", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({
    files: {
      "a.txt": "old\n",
      "gone.txt": "x\n",
      ".gitignore": "node_modules/\nsecret.env\n",
      "pawl.yaml": [
        "branch: mine",
        "checks:",
        "  - here=test -f new.txt && test ! -e gone.txt && grep -q new a.txt",
        "  - deps=test -f node_modules/dep/index.js",
        "  - ignored=test ! -e secret.env",
        `  - fenced=! ls ${process.cwd()}/package.json`,
        "  - run: echo src/a.js:3:1 wrong >&2; exit 3",
        "    name: lint",
        "    required: false",
        "",
      ].join("\n"),
    },
  });
  const { path, git } = place.repository;
  writeFileSync(join(path, "a.txt"), "new\n");
  writeFileSync(join(path, "new.txt"), "x\n");
  writeFileSync(join(path, "secret.env"), "x\n");
  git("rm", "-q", "gone.txt");
  mkdirSync(join(path, "node_modules/dep"), { recursive: true });
  writeFileSync(join(path, "node_modules/dep/index.js"), "");
  const before = standOf(place);
  const json = await place.pawl("check", "--json", "--fence", "bwrap");
  const answer = answerOf(json);
  expect([json.code, answer.is]).toEqual([0, "pass"]);
  expect(answer.checks.map(({ check, verdict }) => [check.name, verdict.is])).toEqual([
    ["here", "pass"],
    ["deps", "pass"],
    ["ignored", "pass"],
    ["fenced", "pass"],
    ["lint", "fail"],
  ]);
  expect(answer.base).toBe(git("rev-parse", "HEAD^{tree}"));
  const [first] = answer.checks;
  expect(first?.verdict).toMatchObject({
    evidence: { tree: answer.tree, exitCode: 0, isolation: expect.stringMatching(/^(overlay|copy) at .* bwrap/) },
  });
  const text = await place.pawl("check", "here", "lint", "--log");
  expect([text.code, text.stderr]).toEqual([
    0,
    expect.stringContaining("required checks: 1 of 1 pass; 1 not required"),
  ]);
  expect(text.stdout).toMatch(/^here: pass in .*\n/);
  expect(text.stdout).toMatch(/lint \(not required\): FAIL \(exit 3\)[^]*exit code +3[^]*src\/a\.js:3:1 wrong/);
  expect(standOf(place)).toEqual(before);
  await expectNothingLeft(place);
});

it("exits 1 for red or flaky, 4 for what cannot be judged, 2 for a wrong line", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({});
  const none = await place.pawl("check");
  expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/no check is configured\n.*pawl init/)]);
  const unknown = await place.pawl("check", "lint", "--check", "tests=true");
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/no check "lint"\n.*tests/)]);
  expect((await place.pawl("check", "--check", "tests=exit 1")).code).toBe(1);
  expect((await place.pawl("check", "--check", "tests=no-such-program-here")).code).toBe(4);
  expect((await place.pawl("check", "--check", "tests=sleep 30", "--check-timeout", "300ms")).code).toBe(4);
  // Red outweighs what could not be judged.
  expect((await place.pawl("check", "--check", "a=no-such-program-here", "--check", "b=exit 1")).code).toBe(1);
  const counter = join(place.home, "count");
  writeFileSync(counter, "");
  const sometimes = `echo x >> ${counter}; test $(wc -l < ${counter}) -ne 2`;
  const flaky = await place.pawl("check", "--check", `t=${sometimes}`, "--repeat", "3", "--fence", "none", "--json");
  expect([flaky.code, answerOf(flaky).checks[0]?.verdict]).toEqual([
    1,
    expect.objectContaining({ is: "flaky", runs: 3 }),
  ]);
  await expectNothingLeft(place);
});

it("masks secrets in verdicts, logs and text", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ env: { MY_TOKEN: "tok-0123456789abcdef0123" } });
  const check = ["--check", "t=echo $MY_TOKEN; exit 1", "--env", "MY_TOKEN"];
  for (const more of [["--json"], ["--log"], []]) {
    const said = await place.pawl("check", ...check, ...more);
    expect(said.stdout + said.stderr).not.toContain("tok-0123456789abcdef0123");
    expect(said.stdout).toContain("***");
    expect(said.code).toBe(1);
  }
});

it("ends in order on Ctrl-C, and cleans up after one that was killed", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({});
  const slow = ["check", "--check", "quick=true", "--check", "slow=sleep 60"];
  const running = place.start(slow);
  await waitFor(() => running.stdout().includes("quick: pass"));
  running.child.kill("SIGINT");
  const ended = await running.done;
  expect([ended.code, ended.stderr]).toEqual([130, expect.stringContaining("ending: the check that runs is stopped")]);
  await expectNothingLeft(place);

  const killed = place.start(slow);
  await waitFor(() => killed.stdout().includes("quick: pass"));
  const [name = ""] = readdirSync(join(place.state, "runs"));
  await waitFor(() => taggedProcesses("PAWL_RUN", name).length > 0, { what: "the slow check's processes" });
  killed.child.kill("SIGKILL");
  expect((await killed.done).signal).toBe("SIGKILL");
  expect((await place.pawl("check", "--check", "quick=true")).code).toBe(0);
  expect(taggedProcesses("PAWL_RUN", name)).toEqual([]);
  await expectNothingLeft(place);
});
