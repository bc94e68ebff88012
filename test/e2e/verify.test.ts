/** `pawl verify`: a reviewer repeats what a run said, and finds what was changed behind its back. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { CLAIM, cliPlace, type CliPlace, type CliResult } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

const LIMIT_MS = 300_000;

interface Answer {
  is: string;
  tree: string | null;
  commit: string | null;
  findings: { name: string; is: string; says: string }[];
  checks: { check: string; is: string; says: string[]; was: { is: string }; now: { is: string } | null }[];
}

async function verified(place: CliPlace, ...args: string[]): Promise<Answer & Pick<CliResult, "code">> {
  const { code, stdout, stderr } = await place.pawl("verify", "--json", ...args);
  if (stdout === "") throw new Error(stderr);
  return { code, ...(JSON.parse(stdout) as Answer) };
}

const finding = ({ findings }: Answer, name: string): unknown[] => {
  const found = findings.find((one) => one.name === name);
  return [found?.is, found?.says];
};

/** Red in the first iteration, done in the second. */
const TWO = { 1: ["echo half > made.txt", "Half."], 2: ["echo whole > made.txt", CLAIM] } as const;
const CHECK = ["--check", "made=cat made.txt; grep -q whole made.txt"];

it("repeats the evidence, says how branches stand, and changes nothing", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ shellAgent: TWO });
  const { git, path } = place.repository;
  expect((await place.pawl("run", "make it", ...CHECK)).code).toBe(0);
  const facts = (await place.pawl("logs", "--facts", "--json")).stdout;
  const before = git("for-each-ref");
  const text = await place.pawl("verify");
  expect([text.code, text.stderr]).toEqual([0, expect.stringContaining("everything is as recorded")]);
  for (const line of [
    /^ok +journal +\d+ facts of r-.*the chain of hashes is whole$/m,
    /^ok +texts +\d+ texts/m,
    /^ok +outcome +verified/m,
    /^ok +delivery +commit \w+ holds the judged tree/m,
    /^ok +branch +pawl\/make-it is at the delivered commit$/m,
    /^ok +made +pass in .*, as in iteration 2$/m,
  ])
    expect(text.stdout).toMatch(line);

  const red = await verified(place, "--at", "1");
  expect([red.code, red.is, red.checks.map(({ is, was }) => [is, was.is])]).toEqual([0, "same", [["same", "fail"]]]);
  expect((await place.pawl("verify", "--at", "9")).code).toBe(2);
  expect((await place.pawl("logs", "--facts", "--json")).stdout).toBe(facts);
  expect(git("for-each-ref")).toBe(before);
  expect(readdirSync(join(place.state, "runs"))).toHaveLength(1);

  writeFileSync(join(path, "more.txt"), "mine\n");
  place.repository.commit("mine");
  const ahead = await verified(place);
  expect([ahead.code, finding(ahead, "branch")]).toEqual([
    0,
    ["note", expect.stringContaining("pawl/make-it has moved on: 1 commit since")],
  ]);

  git("switch", "-q", "main");
  git("merge", "-q", "--no-edit", "pawl/make-it");
  git("branch", "-q", "-D", "pawl/make-it");
  const merged = await verified(place);
  expect([merged.code, finding(merged, "branch")]).toEqual([0, ["note", "pawl/make-it is gone; it is in main"]]);

  git("reset", "-q", "--hard", "HEAD~3");
  const lost = await verified(place);
  expect([lost.code, finding(lost, "branch")]).toEqual([
    1,
    ["differs", "pawl/make-it is gone; no other branch holds it"],
  ]);
  git("reflog", "expire", "--expire=now", "--all");
  git("gc", "-q", "--prune=now");
  const pruned = await verified(place);
  expect([pruned.code, finding(pruned, "delivery")]).toEqual([
    1,
    ["differs", expect.stringContaining("is not in the repository any more")],
  ]);
  // The evidence itself is in pawl's own repository.
  expect(pruned.checks.map(({ is }) => is)).toEqual(["same"]);
});

it("finds a branch, an object, a log or a journal that was rewritten", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ shellAgent: TWO });
  const { git, path } = place.repository;
  expect((await place.pawl("run", "make it", ...CHECK)).code).toBe(0);
  const { commit } = await verified(place);

  git("commit", "-q", "--amend", "-m", "other words", "--allow-empty");
  const moved = await verified(place);
  expect([moved.code, finding(moved, "branch")]).toEqual([
    1,
    ["differs", expect.stringMatching(/pawl\/make-it is at \w+, which does not hold \w+; no other branch/)],
  ]);
  git("reset", "-q", "--hard", commit ?? "");

  const oid = git("rev-parse", "HEAD:made.txt");
  const object = join(path, ".git/objects", oid.slice(0, 2), oid.slice(2));
  const honest = readFileSync(object);
  chmodSync(object, 0o644);
  writeFileSync(object, deflateSync("blob 7\0forged\n"));
  expect(git("cat-file", "-p", oid)).toBe("forged");
  const forged = await verified(place);
  expect([forged.code, finding(forged, "delivery")]).toEqual([
    1,
    ["differs", expect.stringContaining("an object of commit")],
  ]);
  writeFileSync(object, honest);
  expect((await verified(place)).code).toBe(0);

  const logs = (await place.pawl("show", "--json")).stdout;
  const { checks } = JSON.parse(logs) as { checks: { verdict: { evidence: { log: string } } }[] };
  const hash = checks[0]?.verdict.evidence.log ?? "";
  const blob = join(place.state, "blobs", hash.slice(0, 2), hash.slice(2));
  const log = readFileSync(blob);
  writeFileSync(blob, "all is well\n");
  const changed = await verified(place);
  expect([changed.code, finding(changed, "texts")]).toEqual([
    1,
    ["differs", "the log of made in iteration 2 is not what was written"],
  ]);
  rmSync(blob);
  expect(finding(await verified(place), "texts")).toEqual(["differs", "the log of made in iteration 2 is missing"]);
  writeFileSync(blob, log);

  const database = new DatabaseSync(join(place.state, "journal.db"));
  database.exec(`UPDATE facts SET body = replace(body, '"exitCode":1', '"exitCode":0')`);
  database.close();
  const rewritten = await verified(place);
  expect([rewritten.code, rewritten.is, finding(rewritten, "journal")]).toEqual([
    1,
    "differs",
    ["differs", expect.stringContaining("nothing it says can be believed")],
  ]);
  expect(rewritten.checks).toEqual([]);
});

it("says how a check differs now, what flickers, and what cannot be judged", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({ shellAgent: TWO, env: { FLAVOUR: "sweet" } });
  const once = join(place.home, "once");
  const tool = join(place.home, "bin");
  execFileSync("mkdir", ["-p", tool]);
  writeFileSync(join(tool, "judge-it"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
  const withTool = { PATH: `${tool}:${place.env["PATH"]}` };
  const checks = [
    ...CHECK,
    "--check",
    'flavour=test "$FLAVOUR" = sweet || { echo "not ok 1 - is sweet"; exit 3; }',
    "--check",
    `flicker=if [ -e ${once} ]; then rm ${once}; exit 1; fi`,
    "--check",
    "tool=judge-it",
  ];
  const args = ["run", "make it", ...checks, "--env", "FLAVOUR", "--fence", "none", "--no-commit"];
  expect((await place.start(args, { env: withTool }).done).code).toBe(0);
  rmSync(join(tool, "judge-it"));
  writeFileSync(once, "");

  const { FLAVOUR: _, ...bare } = place.env;
  const { stdout } = await place.start(["verify", "--json"], { env: { ...bare, FLAVOUR: "sour" } }).done;
  const answer = JSON.parse(stdout) as Answer;
  expect(answer.is).toBe("differs");
  expect(Object.fromEntries(answer.checks.map(({ check, is }) => [check, is]))).toEqual({
    made: "same",
    flavour: "different",
    flicker: "different",
    tool: "unjudged",
  });
  const says = Object.fromEntries(answer.checks.map(({ check, says: words }) => [check, words]));
  expect(says["flavour"]).toEqual([
    "pass then, fail now",
    "exit code 0 then, 3 now",
    expect.stringMatching(/^failing now and not then: /),
  ]);
  expect(says["flicker"]?.[0]).toBe("as recorded in 1 of 2 runs");
  expect(says["tool"]?.[0]).toContain("command not found: judge-it");
  expect(finding(answer, "delivery")).toEqual(["note", "nothing was committed, as asked"]);

  const unjudged = await verified(place);
  expect([unjudged.code, unjudged.is]).toEqual([4, "unjudged"]);
  rmSync(join(place.state, "repos"), { recursive: true });
  const gone = await verified(place);
  expect([gone.code, gone.checks[0]?.is]).toEqual([4, "unjudged"]);
});

it("takes tests that a person removed between turns for removed, and names all that was noticed on the way", async () => {
  const test = (name: string): string =>
    `require("node:test")("${name}", () => require("node:assert").ok(require("./work.js")));\n`;
  const place = await cliPlace({
    files: { "work.js": "module.exports = false;\n", "a.test.js": test("a"), "b.test.js": test("b") },
    shellAgent: { 1: ["echo > a.test.js", "Not yet."], 2: ["echo 'module.exports = true;' > work.js", CLAIM] },
  });
  const check = ["--check", "tests=node --test", "--max-iterations", "1"];
  expect((await place.pawl("run", "make it work", ...check)).code).toBe(3);
  rmSync(join(place.repository.path, "b.test.js"));
  place.repository.commit("b has gone");
  const again = await place.pawl("resume", "--max-iterations", "2");
  expect([again.code, again.stderr]).toEqual([0, expect.any(String)]);
  const answer = await verified(place);
  expect([answer.code, answer.is, answer.checks.map(({ says }) => says)]).toEqual([0, "same", [[]]]);
  const noticed = answer.findings.filter(({ name }) => name === "noticed").map(({ says }) => says);
  expect(noticed).toContain("undone because it is protected: a.test.js (edited); kept as protected/1");
  expect(noticed).toContain("protected, and changed between turns or by a commit during one: b.test.js (removed)");
});

it(
  "needs neither the worktree nor the branch's folder, and leaves a driven run alone",
  { timeout: LIMIT_MS },
  async () => {
    const place = await cliPlace({ shellAgent: { 1: ["echo whole > made.txt", CLAIM] } });
    expect((await place.pawl("run", "--worktree", "make it", ...CHECK)).code).toBe(0);
    const [run = ""] = readdirSync(join(place.state, "runs"));
    expect((await place.pawl("worktrees", "clean", "--force")).code).toBe(0);
    const answer = await verified(place, run);
    expect([answer.code, answer.is, finding(answer, "branch")[0]]).toEqual([0, "same", "same"]);

    const held = await cliPlace({
      shellAgent: {
        1: ["touch gate-begun; until test -e gate-on; do sleep 0.05; done; echo whole > made.txt", CLAIM],
      },
    });
    const running = held.start(["run", "make it", ...CHECK]);
    await waitFor(() => existsSync(join(held.repository.path, "gate-begun")));
    const refused = await held.pawl("verify");
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/is driven by process \d+.*\n.*pawl watch/),
    ]);
    const check = await held.pawl("check", "--check", "made=test ! -e made.txt");
    expect([check.code, check.stderr]).toEqual([0, expect.stringContaining("a run works here now")]);
    writeFileSync(join(held.repository.path, "gate-on"), "");
    expect((await running.done).code).toBe(0);
  },
);
