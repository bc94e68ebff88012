/** What a fenced check's runner reports is in the evidence, and the command neither knows nor prints more for it. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { CLAIM, cliPlace } from "../support/cli.ts";

const LIMIT_MS = 240_000;
const TEST = `
import { equal } from "node:assert/strict";
import { test } from "node:test";
import { sum } from "../sum.mjs";
test("adds", () => equal(sum(1, 2), 3));
test("adds nothing", () => equal(sum(0, 0), 0));
test("knows of no report", () => equal(process.env.NODE_OPTIONS + /pawl/.test(process.env.PATH), "--no-warningsfalse"));
`;

it("names the failing test and its values, then counts all of them", { timeout: LIMIT_MS }, async () => {
  const place = await cliPlace({
    files: { "sum.mjs": "export const sum = (a, b) => a - b;\n", "test/sum.test.mjs": TEST },
    shellAgent: { 1: ["echo '// one' >> sum.mjs", CLAIM], 2: ["sed -i 's/a - b/a + b/' sum.mjs", CLAIM] },
  });
  // A script's own options stay, and take no report away.
  const check = ["--check", "test=NODE_OPTIONS=--no-warnings node --test"];
  const result = await place.pawl("run", "repair sum", "--fence", "bwrap", "--json", ...check, "--max-iterations", "2");
  const [red, green] = result.of("check-end").map(({ verdict }) => verdict);
  expect(red, result.stdout).toMatchObject({
    is: "fail",
    failures: [
      { fingerprint: "test:test/sum.test.mjs > adds", file: "test/sum.test.mjs", line: 5, expected: "3", actual: "-1" },
    ],
    evidence: { tests: { passed: 2, failed: 1, skipped: 0 } },
  });
  expect(green).toMatchObject({ is: "pass", evidence: { tests: { passed: 3, failed: 0, skipped: 0 } } });
  const { path } = place.repository;
  expect(execFileSync("git", ["status", "--porcelain"], { cwd: path, encoding: "utf8" })).toBe("");
});
