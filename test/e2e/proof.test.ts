/** What a person sees of the proof before `verified`, and of an end without a planted failure. */
import { availableParallelism } from "node:os";
import { expect, it } from "vitest";
import type { Fact } from "../../src/events.ts";
import { CLAIM, cliPlace } from "../support/cli.ts";

const FILES = {
  "package.json": '{"type":"module","scripts":{"test":"node --test"}}\n',
  "sum.js": "export const sum = (a, b) => a - b;\n",
  "test/sum.test.js":
    'import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "../sum.js";\ntest("adds", () => assert.equal(sum(1, 2), 3));\n',
};
const FIXES = { 1: ["sed -i 's/a - b/a + b/' sum.js", CLAIM] } as const;

/** The most parts of the proof that were under way together. */
function mostAtOnce(facts: readonly Fact[]): number {
  let [now, most] = [0, 0];
  for (const { type } of facts) {
    if (type === "proof-start") most = Math.max(most, (now += 1));
    if (type === "proof-end") now -= 1;
  }
  return most;
}

it("the baseline and each part of the proof are lines of their own, and parts run side by side", async () => {
  const place = await cliPlace({ files: FILES, shellAgent: FIXES });
  const run = ["run", "mend sum", "--check", "npm test", "--fence", "bwrap", "--passes", "3"];
  const { code, stderr } = await place.pawl(...run);
  expect(code).toBe(0);
  expect(stderr).toContain("  before `verified` each check runs about 5 times: ");
  const lines = stderr.split("\n").map((line) => line.replace(/^\d\d:\d\d:\d\d /, ""));
  const told = lines.filter((line) => /^ {2}(baseline|proof):/.test(line));
  expect(told[0]).toBe("  baseline: npm test fails (1 test failed before the run)");
  expect(told.slice(1).toSorted()).toEqual([
    "  proof: npm test passes again (2 of 3)",
    "  proof: npm test passes again (3 of 3)",
    "  proof: planted failure seen by npm test",
  ]);
  const facts = (await place.pawl("logs", "--facts", "--json")).facts();
  if (availableParallelism() > 1) expect(mostAtOnce(facts)).toBeGreaterThan(1);
});

it("a check that nothing can be planted for is said to have none, and is a person's with --require-control", async () => {
  const agent = { 1: ["echo done > work.txt", CLAIM] } as const;
  const place = await cliPlace({ shellAgent: agent });
  const none = "no planted failure could be tried";
  const { code, stderr } = await place.pawl(
    "run",
    "do it",
    "--check",
    "done=grep -q done work.txt",
    "--require-control",
  );
  expect(code).toBe(4);
  expect(stderr).toContain(`needs-human: ${none} with done, and this run requires it`);
  expect(stderr).toMatch(new RegExp(`^ {2}checks +done \\(grep -q done work\\.txt\\): pass in .*, ${none}`, "m"));
  expect((await place.pawl("show", "--verdict")).stdout).toMatch(new RegExp(`planted failure +${none}: .+$`, "m"));
  const verified = await place.pawl("verify", "--json");
  expect(JSON.stringify(JSON.parse(verified.stdout))).toContain(`done: ${none}`);
  expect(place.repository.git("show", "pawl/do-it:work.txt")).toBe("done");
});
