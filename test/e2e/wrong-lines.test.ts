/** What a newcomer types: one line what is wrong, one line what to type instead, exit 2, and nothing was touched. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliPlace, type CliResult } from "../support/cli.ts";
import { recorded, RUN } from "../support/recorded-place.ts";
import { tempDir } from "../support/temp.ts";

function expectHint({ code, stdout, stderr }: CliResult, { says, hint }: { says: RegExp; hint: RegExp }): void {
  const [first, second, ...more] = stderr.trimEnd().split("\n");
  expect([first, second, more, stdout, code]).toEqual([
    expect.stringMatching(says),
    expect.stringMatching(hint),
    [],
    "",
    2,
  ]);
}

const CASES: [line: string[], says: RegExp, hint: RegExp][] = [
  [["fix the tests"], /"fix the tests" is no command/, /pawl run "fix the tests"$/],
  [["fix", "the", "tests"], /"fix the tests" is no command/, /pawl run "fix the tests"$/],
  [["run", "fix", "the", "tests"], /too many words: "the tests"/, /quotes: pawl run "fix the tests"$/],
  [["run"], /a run needs a goal/, /pawl run "make the tests pass" --check "npm test"$/],
  [["start"], /no command "start"/, /pawl run$/],
  [["-p", "fix it"], /a command is missing/, /pawl run "fix it"$/],
  [["run", "-p", "x"], /unknown option -p/, /without a flag: pawl run "your goal"$/],
  [["run", "x", "--checks", "npm test"], /unknown option --checks/, /--check\b/],
  [["run", "x", "--max-iteration", "5"], /unknown option --max-iteration/, /--max-iterations\?$/],
  [["run", "x", "--max-cost=abc"], /--max-cost must be US dollars above 0.*"abc"/, /US dollars/],
  [["run", "x", "--max-cost", "-1"], /--max-cost must be US dollars above 0.*"-1"/, /US dollars/],
  [["run", "x", "--check"], /--check needs a value/, /--check "npm test"$/],
  [["run", "x", "--check", "--max-cost", "5"], /--check needs a value, not --max-cost/, /--check …/],
  [["run", "x", "--model", "--json"], /--model needs a value, not --json/, /--model/],
  [["run", "x", "--agent", "gpt"], /--agent must be one of: claude/, /any other program: under `agents`/],
  [["run", "x", "--dangerously-skip-permissions"], /unknown option/, /leave it out.*--on-permission ask$/],
  [["run", "x", "--append-system-prompt", "y"], /unknown option/, /behind --: pawl run "goal" -- --append/],
  [["run", "x", "--last-activity-timeout", "5m"], /unknown option/, /--idle-timeout TIME$/],
  [["--add-context", "mind the gap"], /a command is missing/, /pawl steer --next "your words"$/],
  [["resume"], /this repository has no run yet/, /pawl runs --all/],
  [["stop"], /this repository has no run yet/, /pawl runs --all/],
  [["watch"], /this repository has no run yet/, /pawl runs --all/],
  [["logs", "nosuch"], /there is no run "nosuch"/, /pawl runs --all/],
  [["steer"], /the text is missing/, /pawl steer \[RUN\] "your words"$/],
  [["status", "extra", "words"], /too many words: "words"/, /pawl status \[run\]/],
  [["config", "set", "max-cost", "5"], /no `pawl config set`/, /pawl\.yaml by hand/],
  [["answer", "q1x", "allow"], /"q1x" is not the name of a question/, /`pawl answer` lists them/],
  [["model"], /`pawl model` needs more words: MODEL/, /pawl model \[RUN\] MODEL/],
  [["completion", "tcsh"], /no completion for "tcsh"/, /pawl completion bash/],
  [["watch", "--from", "yesterday"], /--from takes the number of a fact or start/, /seq/],
];

it("says what to type instead", async () => {
  const place = await cliPlace({});
  for (const [line, says, hint] of CASES) expectHint(await place.pawl(...line), { says, hint });
  expect(existsSync(place.state)).toBe(false);
  expect(place.repository.git("status", "--porcelain")).toBe("");
});

describe("where it is typed", () => {
  it("is outside a repository", async () => {
    const place = await cliPlace({});
    const cwd = tempDir("plain");
    expectHint(await place.start(["run", "x"], { cwd }).done, { says: /not in a git repository/, hint: /git init/ });
    expectHint(await place.start(["status"], { cwd }).done, { says: /not a git repository/, hint: /pawl runs --all/ });
    expectHint(await place.start(["init"], { cwd }).done, { says: /not a git repository/, hint: /git init/ });
  });

  it("is a directory that was removed", async () => {
    const place = await cliPlace({});
    const cwd = join(tempDir("gone"), "here");
    mkdirSync(cwd);
    const line = `rmdir "${cwd}" && exec "$0" "$1" status`;
    const cli = join(import.meta.dirname, "../../dist/views/cli/main.js");
    const told = spawnSync("sh", ["-c", line, process.execPath, cli], { cwd, env: { ...place.env }, encoding: "utf8" });
    expect([told.status, told.stdout, told.stderr]).toEqual([
      2,
      "",
      "pawl: the current directory does not exist any more\n      cd to one that does\n",
    ]);
    expect(() => rmdirSync(cwd)).toThrow(/ENOENT/);
  });

  it("has a state directory that cannot be", async () => {
    const file = join(tempDir("state"), "file");
    writeFileSync(file, "");
    const place = await cliPlace({ script: { steps: [{ text: "ok" }] }, env: { PAWL_HOME: join(file, "pawl") } });
    expectHint(await place.pawl("run", "x"), {
      says: /cannot keep its state in .*is not a directory/,
      hint: /PAWL_HOME/,
    });
    expect(place.standin?.requests).toEqual([]);
    const doctor = await place.pawl("doctor");
    expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(/^FAIL +state .*\n +→ set PAWL_HOME/m)]);
  });
});

it("refuses what contradicts itself, and what is too long, with nothing queued", async () => {
  const { place, recording } = await recorded();
  const cases: [string[], RegExp, RegExp][] = [
    [["steer", "--now", "--only-now", "x"], /--now contradicts --only-now/, /one of them/],
    [["steer", "--next", "--only-now", "x"], /--next contradicts --only-now/, /one of them/],
    [["steer", "--list", "--cancel", "d1"], /--list contradicts --cancel/, /one of them/],
    [["steer", "--cancel", "d9"], /no directive "d9"/, /nothing waits to be said/],
    [["steer", "--list", "words"], /--list takes no text/, /pawl steer \[RUN\] --list/],
    [["steer", "words", "--file", "x"], /a text and --file at once/, /one of them/],
    [["steer", "--only-now", "quick"], /nobody drives run/, /--next/],
    [["stop"], /nobody drives run .*: there is nothing to stop/, /pawl resume r-/],
    [["interrupt"], /nobody drives run .*: there is nothing to interrupt/, /pawl resume r-/],
    [["stop", "--now", "--after"], /contradicts/, /one of them/],
    [["budget"], /no limit was given/, /pawl budget --max-cost 5/],
  ];
  for (const [line, says, hint] of cases) expectHint(await place.pawl(...line), { says, hint });
  const long = await place.start(["steer", "--file", "-"], { input: "ü".repeat(32 * 1024 + 1) }).done;
  expectHint(long, { says: /has more than 65536 bytes/, hint: /file of the repository/ });
  expect(await recording.handle.inbox.queued(RUN)).toEqual([]);

  const end = { is: "stuck", rule: "struggle:stop", reason: "no progress" } as const;
  await recording.add({ type: "run-end", outcome: end });
  await recording.release();
  for (const line of [["steer", "x"], ["stop"], ["pause"], ["model", "m"], ["budget", "--max-cost", "5"]])
    expectHint(await place.pawl(...line), { says: /has ended: stuck/, hint: new RegExp(`pawl resume ${RUN}$`) });
  expect(await recording.handle.inbox.queued(RUN)).toEqual([]);
  recording.close();
});
