/** Files that judge the work: what an agent does to them is undone, kept, and said; and the real Claude Code is told. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const FILES = {
  "sum.js": "exports.sum = () => 0;\n",
  "test/sum.test.js":
    'const { test } = require("node:test");\nconst { equal } = require("node:assert");\ntest("adds", () => equal(require("../sum.js").sum(1, 2), 3));\n',
  "package.json": '{\n  "name": "x",\n  "scripts": {\n    "test": "node --test"\n  }\n}\n',
};
const WORK = "echo 'exports.sum = (a, b) => a + b;' > sum.js";
const LIES = [
  "echo > test/sum.test.js",
  "rm -r test",
  `echo '{"name":"x","scripts":{"test":"exit 0"}}' > package.json`,
  "echo 'node-options=--require ./exit.js' > .npmrc; echo 'process.exit(0)' > exit.js",
];

describe.concurrent("files that judge the work", () => {
  it("are put back whatever the agent does to them; it is told, works, and is verified by the base's tests", async ({
    expect,
  }) => {
    const place = await cliPlace({
      files: FILES,
      script: byIteration({
        1: [bash(LIES.join("; ")), { text: CLAIM }],
        2: [bash(WORK), { text: CLAIM }],
      }),
    });
    const result = await place.pawl("run", "make sum add", "--check", "npm test", "--json");
    const [, first, second] = result.of("change-recorded").filter(({ by }, at) => at === 0 || by === "agent");
    expect(first?.protected?.map(({ path, how }) => `${path} ${how}`)).toEqual([
      ".npmrc added",
      "test/sum.test.js removed",
      "package.json edited",
    ]);
    expect(first?.kept).toMatch(/^protected\/\d+$/);
    expect(second?.protected).toBeUndefined();
    const verdicts = result.of("check-end").map(({ verdict }) => verdict);
    expect(verdicts.map(({ is }) => is)).toEqual(["fail", "pass", "pass"]);
    expect(verdicts.at(-1)).toMatchObject({ evidence: { control: "seen" } });
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    const told = place.sent().find((body) => body.includes("## Put back")) ?? "";
    expect(told).toContain("test/sum.test.js");
    expect(told).toContain("--allow-test-changes");
    expect(existsSync(join(place.repository.path, ".npmrc"))).toBe(false);
    expect(readFileSync(join(place.repository.path, "test/sum.test.js"), "utf8")).toBe(FILES["test/sum.test.js"]);
    const shown = await place.pawl("show", "-i", "1");
    expect(shown.stdout).toContain(`kept as ${first?.kept}`);
    const restored = await place.pawl("restore", "--at", first?.kept ?? "", "--branch", "theirs");
    expect(restored.stdout).toContain("branch theirs");
    expect(place.repository.git("show", "theirs:.npmrc")).toContain("node-options");
  });

  it("are named in the summary, with the command that brings the agent's version back", async ({ expect }) => {
    const place = await cliPlace({
      files: FILES,
      shellAgent: { 1: [`${WORK}; ${LIES[0]}`, CLAIM] },
    });
    const { stderr, stdout, code } = await place.pawl("run", "make sum add", "--check", "npm test");
    expect(code).toBe(0);
    expect(`${stdout}${stderr}`).toMatch(/put back +iteration 1: test\/sum\.test\.js \(edited\); .*protected\/\d/);
    expect(`${stdout}${stderr}`).toMatch(/pawl restore r-\S+ --at protected\/\d --branch NAME/);
  });

  it("are also helpers and data that only tests use, whatever their names; closed tests and a repository over them are undone", async ({
    expect,
  }) => {
    const files = {
      "sum.js": "exports.sum = () => 0;\n",
      "support/assertions.js": "exports.same = (a, b) => { if (a !== b) throw new Error(`${a} is not ${b}`); };\n",
      "rows/sums.json": "[[1, 2, 3]]\n",
      "test/sum.test.js":
        'const { test } = require("node:test");\nconst { same } = require("../support/assertions.js");\nfor (const [a, b, c] of require("../rows/sums.json")) test("adds", () => same(require("../sum.js").sum(a, b), c));\n',
    };
    const lies = [
      "echo 'exports.same = () => {};' > support/assertions.js",
      "echo '[[0, 0, 0]]' > rows/sums.json",
      "git init -q test",
      "chmod 000 test/sum.test.js",
    ];
    const place = await cliPlace({ files, shellAgent: { 1: [lies.join("; "), CLAIM], 2: [WORK, CLAIM] } });
    const result = await place.pawl("run", "make sum add", "--check", "node --test", "--json");
    const [, first] = result.of("change-recorded");
    expect(first?.protected?.map(({ path, how }) => `${path} ${how}`)).toEqual([
      "rows/sums.json edited",
      "support/assertions.js edited",
      "test/.git added",
      "test/sum.test.js edited",
    ]);
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(existsSync(join(place.repository.path, "test/.git"))).toBe(false);
    expect(readFileSync(join(place.repository.path, "test/sum.test.js"), "utf8")).toBe(files["test/sum.test.js"]);
    expect(result.stderr).toMatch(/put back +iteration 1: .*test\/\.git \(added\)/);
  });

  it("may be changed where a person says so, and are listed", async ({ expect }) => {
    const place = await cliPlace({
      files: FILES,
      shellAgent: { 1: [`${WORK}; git mv test tests 2>&1 || mv test tests`, CLAIM] },
    });
    const args = ["--allow-test-changes", "--unprotect", "package.json", "--json"];
    const result = await place.pawl("run", "move the tests", "--check", "node --test tests/*.js", ...args);
    expect(result.of("change-recorded").at(-1)).toMatchObject({
      testsChanged: [{ path: "test/sum.test.js", how: "removed" }],
    });
    expect(result.of("change-recorded").at(-1)?.protected).toBeUndefined();
    expect(result.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    expect(result.stderr).toMatch(/^ +loosened +--allow-test-changes, --unprotect \*\*\/package\.json$/m);
    const shown = await place.pawl("show", "--verdict");
    expect(shown.stdout).toMatch(/^ +tests +1 passed, 0 failed, 0 skipped$/m);
    expect(shown.stdout).toMatch(/^ +planted failure +no planted failure could be tried(: .+)?$/m);
  });

  it("changed between turns by what the agent left running leave the outcome to a person", async ({ expect }) => {
    const later = "(sleep 1; while ! test -f gate-on; do sleep 0.1; done; echo > test/sum.test.js) > /dev/null 2>&1 &";
    const place = await cliPlace({
      files: FILES,
      script: byIteration({
        1: [bash(`${later} echo x > first.txt`), { text: "Not yet." }],
        2: [bash("echo x > other.txt"), { text: CLAIM }],
      }),
    });
    const args = ["--fence", "none", "--max-iterations", "2", "--json"];
    const [gate, edited] = ["gate-on", "test/sum.test.js"].map((name) => join(place.repository.path, name));
    // Not while the base is judged, beside the first turn.
    const wait = `touch ${gate}; for n in $(seq 600); do [ $(wc -c < ${edited}) -gt 1 ] || break; sleep 0.1; done`;
    const check = `if test -f first.txt; then ${wait}; fi; npm test`;
    const result = await place.pawl("run", "make sum add", "--check", check, ...args);
    const followed = result.of("change-recorded").flatMap((fact) => fact.followed ?? []);
    expect(followed).toEqual([{ path: "test/sum.test.js", how: "edited" }]);
    expect(result.of("run-end").map(({ outcome }) => [outcome.is, outcome.rule])).toEqual([
      ["needs-human", "suspicions"],
    ]);
  });

  it("committed by a person during a turn that was cut off stay as committed, and leave the outcome to a person", async ({
    expect,
  }) => {
    const work = `touch gate-begun; until test -e gate-on; do sleep 0.05; done; ${WORK}`;
    const place = await cliPlace({ files: FILES, shellAgent: { 1: [work, CLAIM], 2: ["true", CLAIM] } });
    const { path, git, commit } = place.repository;
    const running = place.start(["run", "make sum add", "--check", "npm test", "--max-iterations", "1"]);
    await waitFor(() => existsSync(join(path, "gate-begun")), { what: "the turn" });
    running.child.kill("SIGKILL");
    await running.done;
    const mine = FILES["test/sum.test.js"].replace("sum(1, 2), 3", "sum(2, 2), 4");
    commit("mine", { "test/sum.test.js": mine });
    writeFileSync(join(path, "gate-on"), "");
    const again = await place.pawl("resume", "--json");
    expect(again.of("change-recorded").map(({ by, followed, protected: undone }) => [by, followed, undone])).toEqual([
      ["agent", [{ path: "test/sum.test.js", how: "edited" }], undefined],
    ]);
    expect(again.of("run-end").map(({ outcome }) => [outcome.is, outcome.rule])).toEqual([
      ["needs-human", "suspicions"],
    ]);
    expect(git("show", "HEAD:test/sum.test.js")).toBe(mine.trim());
    expect(git("log", "--format=%s", "main..").split("\n").at(-1)).toBe("mine");
    expect((await place.pawl("resume", "--max-iterations", "2")).code).toBe(0);
    expect(git("show", "HEAD:test/sum.test.js")).toBe(mine.trim());
  });

  it("that something was suspicious about leave it to a person in a run that is forked from there, too", async ({
    expect,
  }) => {
    const cheat = 'if(process.env.NODE_TEST_CONTEXT)require("node:assert").equal=()=>{};exports.sum=(a,b)=>a*b;';
    const test =
      'const { sum } = require("../sum.js");\nconst assert = require("node:assert");\nrequire("node:test")("adds", () => assert.equal(sum(1, 2), 3));\n';
    const place = await cliPlace({
      files: { ...FILES, "test/sum.test.js": test },
      shellAgent: { 1: [`echo '${cheat}' > sum.js; date +'// %N' >> sum.js`, CLAIM] },
    });
    const first = await place.pawl("run", "make sum add", "--check", "npm test", "--json");
    const [end] = first.of("run-end");
    expect([end?.outcome.is, end?.outcome.rule]).toEqual(["needs-human", "suspicions"]);
    const forked = await place.pawl("fork", end?.run ?? "", "--at", "1", "--json");
    expect(forked.of("run-end").map(({ outcome }) => [outcome.is, outcome.reason])).toEqual([
      ["needs-human", `in the snapshot that it began with: ${end?.outcome.reason}`],
    ]);
  });

  it("in which the agent had broken a test do not make it one that was red before, in a run that is forked from there", async ({
    expect,
  }) => {
    const tests = ["sum(1, 2), 3", "sum(2, 2), 5"].map(
      (text, n) => `require("node:test")("case ${n}", () => assert.equal(${text}));\n`,
    );
    const head = 'const { sum } = require("../sum.js");\nconst assert = require("node:assert");\n';
    const place = await cliPlace({
      files: { ...FILES, "sum.js": "exports.sum = (a, b) => a + b;\n", "test/sum.test.js": head + tests.join("") },
      shellAgent: { 1: ["echo 'exports.sum = (a, b) => a * b;' > sum.js; date +'// %N' >> sum.js", CLAIM] },
    });
    const limits = ["--leave-failing", "--max-iterations", "1", "--json"];
    const first = await place.pawl("run", "make sum multiply", "--check", "npm test", ...limits);
    const [end] = first.of("run-end");
    expect(end?.outcome.is).toBe("exhausted");
    const forked = await place.pawl("fork", end?.run ?? "", "--at", "1", "--json");
    expect(forked.of("baseline-recorded").map(({ verdict }) => verdict.is)).toEqual(["fail"]);
    expect(forked.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["exhausted"]);
  });
});
