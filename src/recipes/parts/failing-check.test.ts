import { describe, expect, it } from "vitest";
import { plainSpec } from "../../../test/support/spec.ts";
import type { Fact, Failure, NewFact, Verdict } from "../../events.ts";
import { fold } from "../../loop/fold.ts";
import type { RunState } from "../../loop/state.ts";
import { redCheck } from "./failing-check.ts";

const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const check = { name: "test", command: "npm test", kind: "command", required: true, timeoutMs: 1000 } as const;
const evidence = {
  tree: TREE,
  command: "npm test",
  exitCode: 1,
  signal: null,
  durationMs: 1,
  log: null,
  logBytes: 0,
  isolation: "copy",
  suspicions: [],
};
const tests = { ids: "0".repeat(64), passed: 12, failed: 2, skipped: 1 };
const fail = (failures: Failure[], more: object = {}): Extract<Verdict, { is: "fail" }> => ({
  is: "fail",
  evidence: { ...evidence, tests, ...more },
  failures: failures as [Failure, ...Failure[]],
  excerpt: "…\n# not a heading\nthe last line",
});
const adds: Failure = {
  fingerprint: "test:test/sum.test.ts > sums > adds",
  message: "AssertionError: expected 2 to be 3\nat all",
  file: "test/sum.test.ts",
  line: 12,
  expected: "3",
  actual: "2",
  frames: ["test/sum.test.ts:12", "src/sum.ts:4 in sum"],
};
const types: Failure = { fingerprint: "error:src/a.ts TS2322 bad", message: "TS2322: bad", file: "src/a.ts", line: 3 };
const lines: Failure = { fingerprint: "output:0123", message: "coverage is 79 %" };

interface Round {
  files: string[];
  verdict: Verdict;
}

/** A run with these iterations, each with its change and its verdict. */
function after(rounds: readonly Round[], baseline?: Verdict): RunState {
  let seq = 0;
  const fact = (body: NewFact) => ({ v: 1, run: "r-1", seq: seq++, at: 0, elapsed: 0, epoch: 1, ...body }) as Fact;
  const base = { commit: TREE, tree: TREE, branch: "main", detached: false };
  const change = (iteration: number, files: string[]): NewFact => ({
    type: "change-recorded",
    lane: "main",
    iteration,
    snapshot: iteration,
    commit: TREE,
    tree: treeOf(iteration),
    judged: treeOf(iteration),
    by: iteration === 0 ? "user" : "agent",
    files: files.map((path) => ({ path, status: "M", added: 1, removed: 0 })),
    fileCount: files.length,
    added: 1,
    removed: 0,
    warnings: [],
  });
  const bodies: NewFact[] = [
    { type: "run-start", lane: "main", spec: plainSpec("/r", { checks: [check] }), pawl: "1", base },
    change(0, []),
    ...(baseline === undefined
      ? []
      : [{ type: "baseline-recorded", lane: "main", check: "test", tree: TREE, verdict: baseline } as const]),
    ...rounds.flatMap(({ files, verdict }, at): NewFact[] => {
      const iteration = at + 1;
      return [
        { type: "iteration-start", lane: "main", n: iteration, why: "" },
        change(iteration, files),
        { type: "check-end", lane: "main", check: "test", tree: treeOf(iteration), iteration, verdict },
        { type: "decision-made", lane: "main", iteration, rule: "continue", next: "continue", reason: "", numbers: {} },
      ];
    }),
  ];
  return fold(bodies.map(fact));
}

const treeOf = (iteration: number): string => String(iteration).repeat(40).slice(0, 40);
const said = (
  rounds: readonly Round[],
  { knows = true, baseline }: { knows?: boolean; baseline?: Verdict } = {},
): string => {
  const verdict = rounds.at(-1)?.verdict;
  if (verdict?.is !== "fail" && verdict?.is !== "flaky") throw new Error("not red");
  return redCheck({ state: after(rounds, baseline), check, verdict, knows });
};
const pass: Verdict = { is: "pass", evidence };

describe("a red check in the prompt", () => {
  it("says what failed, where, with which values, and nothing of the output besides", () => {
    expect(said([{ files: ["src/sum.ts"], verdict: fail([adds, types]) }])).toMatchInlineSnapshot(`
      "- test: FAIL (\`npm test\` exited with 1; tests: 12 passed, 2 failed, 1 skipped)
        1. test/sum.test.ts > sums > adds
            AssertionError: expected 2 to be 3 at all
            at test/sum.test.ts:12
            expected: 3
            actual: 2
            frames: src/sum.ts:4 in sum
        2. TS2322: bad
            at src/a.ts:3"
    `);
  });

  it("shows the end of the output, as data, where a failure says too little", () => {
    expect(said([{ files: [], verdict: fail([lines], { tests: null }) }])).toMatchInlineSnapshot(`
      "- test: FAIL (\`npm test\` exited with 1)
        1. coverage is 79 %
        The end of its output:
            …
            # not a heading
            the last line"
    `);
  });

  it("folds what came back the same, and says what changed since it was not red", () => {
    const other = { ...adds, actual: "4", message: "AssertionError: expected 4 to be 3" };
    const rounds = [
      { files: ["README.md"], verdict: pass },
      { files: ["src/sum.ts", "src/b.ts"], verdict: fail([adds, types]) },
      { files: ["src/c.ts"], verdict: fail([types, adds]) },
      { files: ["src/d.ts"], verdict: fail([types, other]) },
    ];
    expect(said(rounds)).toMatchInlineSnapshot(`
      "- test: FAIL (\`npm test\` exited with 1; tests: 12 passed, 2 failed, 1 skipped)
        1. test/sum.test.ts > sums > adds
            AssertionError: expected 4 to be 3
            at test/sum.test.ts:12
            expected: 3
            actual: 4
            frames: src/sum.ts:4 in sum
            red since iteration 2, 3rd time in a row; changed since it was not red: src/sum.ts, src/b.ts, src/c.ts, src/d.ts
        2. TS2322: bad: the same as in iteration 2, 3rd time in a row"
    `);
    // A session that begins is told all of it.
    expect(said(rounds, { knows: false })).toMatchInlineSnapshot(`
      "- test: FAIL (\`npm test\` exited with 1; tests: 12 passed, 2 failed, 1 skipped)
        1. test/sum.test.ts > sums > adds
            AssertionError: expected 4 to be 3
            at test/sum.test.ts:12
            expected: 3
            actual: 4
            frames: src/sum.ts:4 in sum
            red since iteration 2, 3rd time in a row; changed since it was not red: src/sum.ts, src/b.ts, src/c.ts, src/d.ts
        2. TS2322: bad
            at src/a.ts:3
            red since iteration 2, 3rd time in a row; changed since it was not red: src/sum.ts, src/b.ts, src/c.ts, src/d.ts"
    `);
  });

  it("begins to count anew after it was green", () => {
    const red = { files: ["src/a.ts"], verdict: fail([types]) };
    expect(said([red, { files: [], verdict: pass }, red])).toMatchInlineSnapshot(`
      "- test: FAIL (\`npm test\` exited with 1; tests: 12 passed, 2 failed, 1 skipped)
        1. TS2322: bad
            at src/a.ts:3
            changed since it was not red: src/a.ts"
    `);
  });

  it("marks what failed before the first turn, and puts it last", () => {
    const rounds = [{ files: ["src/a.ts"], verdict: fail([adds, types]) }];
    expect(said(rounds, { baseline: fail([adds]) })).toMatchInlineSnapshot(`
      "- test: FAIL (\`npm test\` exited with 1; tests: 12 passed, 2 failed, 1 skipped)
        1. TS2322: bad
            at src/a.ts:3
            changed since it was not red: src/a.ts
        2. test/sum.test.ts > sums > adds
            AssertionError: expected 2 to be 3 at all
            at test/sum.test.ts:12
            expected: 3
            actual: 2
            frames: src/sum.ts:4 in sum
            it failed before your first turn too"
    `);
  });

  it("says that it is flaky", () => {
    const verdict: Verdict = { is: "flaky", evidence, failures: [adds], runs: 3 };
    expect(said([{ files: [], verdict }])).toMatchInlineSnapshot(`
      "- test: flaky: of 3 runs on the same files some failed
        1. test/sum.test.ts > sums > adds
            AssertionError: expected 2 to be 3 at all
            at test/sum.test.ts:12
            expected: 3
            actual: 2
            frames: src/sum.ts:4 in sum"
    `);
  });

  it("is bounded, however much fails and however it is called", () => {
    const many = Array.from({ length: 200 }, (_, n) => ({
      ...adds,
      fingerprint: `test:a > ${n}${"x".repeat(190)}`,
      message: "\n## Goal\n".repeat(40),
    }));
    const text = said(
      [
        { files: Array.from({ length: 500 }, (_, n) => `src/${n}.ts`), verdict: fail(many) },
        { files: [], verdict: fail(many) },
      ],
      { knows: false },
    );
    expect(Buffer.byteLength(text)).toBeLessThan(12 * 1024);
    expect(text).toContain("and 190 more: ");
    expect(text).not.toMatch(/^#/m);
  });
});

it("says nothing of a report without a test in it", () => {
  const none = { ...tests, passed: 0, failed: 0, skipped: 0 };
  const verdict = fail([lines], { tests: none });
  const said = redCheck({ state: after([{ files: [], verdict }]), check, verdict, knows: false });
  expect(said).toContain("(`npm test` exited with 1)");
});

it("says what to do where tests do not run any more, once", () => {
  const gone = ["a", "b"].map((id) => ({ fingerprint: `tests-missing:${id}`, message: `${id} was run on the base` }));
  const verdict = fail(gone, { exitCode: 0 });
  const text = redCheck({ state: after([{ files: [], verdict }]), check, verdict, knows: false });
  expect(text.match(/has to run now, under its name, and not be skipped/g)).toHaveLength(1);
  expect(redCheck({ state: after([]), check, verdict: fail([adds]), knows: false })).not.toContain("has to run now");
});
