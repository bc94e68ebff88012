/** Every code of the problems, run as it would be for a model: what errs does so as it should, what is right is. */
import { copyFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { codePlace, emptyFolder, type CodePlace } from "../../test/support/code-place.ts";
import { readPng } from "../../test/support/png.ts";
import { PROBLEMS } from "../../test/support/problems/all.ts";
import {
  ERROR_CLASSES,
  PROBLEM_LIMITS,
  problemFile,
  TOPICS,
  type ErrorClass,
} from "../../test/support/problems/problem.ts";
import { explainExecution, failureMessage, type FailureKind } from "../loop/explain-execution.ts";

const KINDS: Readonly<Record<ErrorClass, readonly FailureKind[]>> = {
  exception: ["exception"],
  syntax: ["syntax"],
  assertion: ["assertion"],
  exit: ["exit"],
  timeout: ["timeout"],
  killed: ["killed"],
  memory: ["memory"],
  disk: ["limit"],
  output: ["limit"],
  "wrong-answer": ["ok"],
  "missing-file": ["exception", "exit"],
};
/** Long enough to begin on a busy machine. */
const SHORT_MS = 1_500;

let place: CodePlace;
beforeAll(async () => {
  place = await codePlace(tempDir("code"));
});
afterAll(() => place.close());
beforeEach(() => emptyFolder(place.folder));

describe.for(PROBLEMS)("$name", ({ files, attempts, right, answer, picture }) => {
  beforeEach(() => {
    for (const name of files) copyFileSync(problemFile(name), join(place.folder, name));
  });

  it.for(attempts)("errs: $errs", async ({ errs, tells, language, text }) => {
    const limits = errs === "timeout" ? { ...PROBLEM_LIMITS, timeoutMs: SHORT_MS } : PROBLEM_LIMITS;
    const execution = await place.run(language, text, limits);
    const code = { language, text };
    const told = failureMessage(execution, code);
    expect(KINDS[errs], told).toContain(explainExecution(execution, code).kind);
    expect(errs === "wrong-answer" ? execution.stdout.text : told).toContain(tells);
    expect(execution.stdout.text.trim()).not.toBe(answer);
    expect(told).not.toContain(place.root);
  });

  it("comes to the right answer", async () => {
    const { end, stdout, stderr, files: made } = await place.run(right.language, right.text, PROBLEM_LIMITS);
    expect({ end, answer: stdout.text, told: stderr.text }).toEqual({
      end: { is: "exit", code: 0 },
      answer: `${answer}\n`,
      told: "",
    });
    expect(made.map(({ path }) => path)).toEqual(picture === undefined ? [] : [picture.path]);
    if (picture === undefined) return;
    const { width, height, black } = readPng(readFileSync(join(place.folder, picture.path)));
    expect({ width, height }).toEqual({ width: picture.width, height: picture.height });
    const drawn = answer.split(" ").map(Number);
    expect(black).toBe(drawn.length === 1 ? drawn[0] : drawn.reduce((sum, count) => sum + 10 * count, 0));
  });
});

it("covers every topic, and every way to err at least twice (S1)", () => {
  expect(PROBLEMS.length).toBeGreaterThanOrEqual(32);
  expect(new Set(PROBLEMS.map(({ name }) => name)).size).toBe(PROBLEMS.length);
  expect(new Set(PROBLEMS.map(({ topic }) => topic))).toEqual(new Set(TOPICS));
  const count = (how: ErrorClass): number =>
    PROBLEMS.flatMap(({ attempts }) => attempts).filter(({ errs }) => errs === how).length;
  expect(ERROR_CLASSES.filter((how) => count(how) < 2)).toEqual([]);
});
