/** Runners that product code leaves before their tests: with exit code 0, where the base could not load them either. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { noAbout } from "../../../test/support/about.ts";
import { memoryBlobs } from "../../../test/support/blobs.ts";
import { tempDir, writeFiles } from "../../../test/support/temp.ts";
import type { Verdict } from "../../events.ts";
import { commandCheck } from "../command.ts";

const MODULES = join(import.meta.dirname, "../../../node_modules");
const LIMIT_MS = 600_000;
const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const TESTS = {
  "package.json": '{ "name": "calc" }',
  "test/a.test.js": 'const assert = require("assert"); it("holds", () => assert.ok(true));',
  "test/add.test.js":
    'const assert = require("assert"); const { add } = require("../src/add.js"); it("adds", () => assert.equal(add(2, 3), 5));',
};
const LEAVES = { "src/add.js": "process.exit(0);" };
const RIGHT = { "src/add.js": "exports.add = (a, b) => a + b;" };

function judging(command: string) {
  const [folder, blobs, home] = [tempDir("reports"), memoryBlobs(), tempDir("home")];
  const check = commandCheck(
    { name: "test", kind: "command", command, required: true, timeoutMs: LIMIT_MS },
    {
      run: "r-left",
      environment: { PATH: `${join(MODULES, ".bin")}:${process.env["PATH"] ?? ""}`, HOME: home, TMPDIR: home },
      blobs,
      reports: { folder, at: folder },
    },
  );
  return async (files: Record<string, string>, baseline?: Verdict): Promise<Verdict> => {
    const path = tempDir("left");
    writeFiles(path, { ...TESTS, ...files });
    symlinkSync(MODULES, join(path, "node_modules"));
    const tree = { path, tree: TREE, isolation: "copy", release: async () => {} };
    return await check.judge(tree, new AbortController().signal, { ...noAbout, baseline });
  };
}

it.each(["mocha", "mocha; test $? = 0", "jest"])(
  "%s that ends well without its tests is red where the base could not load them",
  { timeout: LIMIT_MS },
  async (command) => {
    const judge = judging(command);
    const base = await judge({});
    expect(base.is).toBe("fail");
    expect(await judge(RIGHT, base)).toMatchObject({ is: "pass", evidence: { tests: { passed: 2 } } });
    const left = await judge(LEAVES, base);
    const failures = [{ fingerprint: "tests-missing:report" }];
    expect(left).toMatchObject({ is: "fail", evidence: { exitCode: 0 }, failures });
  },
);

it("mocha that could not load a file is told so, with what it said", { timeout: LIMIT_MS }, async () => {
  const base = await judging("mocha")({});
  expect(base).toMatchObject({
    is: "fail",
    evidence: { tests: { passed: 0, failed: 0, broken: 1 } },
    failures: expect.arrayContaining([
      expect.objectContaining({ message: "mocha began and ended without a report of its tests" }),
    ]) as unknown,
    excerpt: expect.stringContaining("Cannot find module '../src/add.js'") as string,
  });
});

it("a runner that only tells of itself has not begun", { timeout: LIMIT_MS }, async () => {
  const judge = judging("mocha --version && test -e src/add.js");
  const base = await judge({});
  expect(base).toMatchObject({ is: "fail", evidence: { tests: null } });
  expect((await judge(RIGHT, base)).is).toBe("pass");
});
