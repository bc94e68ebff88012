import { expect, it } from "vitest";
import { judgedSpec, verdictFrom, type Says } from "../../test/support/judging.ts";
import type { Check, Workspace } from "../ports.ts";
import type { RunSpec } from "../spec.ts";
import { judgedOnce } from "./judge.ts";

const workspace = {
  verifyTree: async (tree: string) => ({ path: "/", tree, isolation: "none", release: async () => undefined }),
  changes: async () => [],
} as Partial<Workspace> as Workspace;

/** What a change with new tests comes to: `alone` is said of the base's own tests, `all` of both. */
async function said(
  spec: RunSpec,
  { before, alone, all, testsFollowed = false }: { before: Says; alone: Says; all: Says; testsFollowed?: boolean },
) {
  const check: Check = {
    name: "tests",
    required: true,
    cost: "slow",
    judge: async ({ tree }) => verdictFrom(tree, tree === "all" ? all : alone),
  };
  return await judgedOnce(check, {
    ports: { workspace },
    spec,
    base: "base",
    tree: "all",
    baseTests: "alone",
    wall: 0,
    undone: [],
    baselines: new Map([["tests", verdictFrom("base", before)]]),
    testsFollowed,
    verdicts: new Map(),
    redact: (text) => text,
    signal: new AbortController().signal,
  });
}

const failing = (verdict: object): string[] =>
  "failures" in verdict ? (verdict.failures as { fingerprint: string }[]).map(({ fingerprint }) => fingerprint) : [];

it("goes on to the new tests where what the base's own say is left failing, as the run did", async () => {
  const spec = judgedSpec({ preExisting: "leave" });
  expect(failing(await said(spec, { before: ["old"], alone: ["old"], all: ["old", "new"] }))).toEqual(["old", "new"]);
  // Anything else that fails there settles it.
  expect(failing(await said(spec, { before: ["old"], alone: ["other"], all: [] }))).toEqual(["other"]);
  expect(failing(await said(judgedSpec(), { before: ["old"], alone: ["old"], all: [] }))).toEqual(["old"]);
});

it("excuses nothing by a base whose tests a person has changed since, as the run does not", async () => {
  const green = { ids: "0".repeat(64), passed: 5, failed: 0, skipped: 0 };
  const red = { fails: ["coverage"], evidence: { tests: green } };
  const given = { before: red, alone: red, all: true };
  expect(await said(judgedSpec(), given)).toMatchObject({ is: "pass" });
  expect(await said(judgedSpec(), { ...given, testsFollowed: true })).toMatchObject({ is: "fail" });
});
