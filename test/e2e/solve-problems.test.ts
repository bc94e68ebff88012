/** Problems with real files through `pawl solve`, with code run here and in the provider's container; scripted to err first. */
import { afterAll, describe, expect, it } from "vitest";
import type { Standin } from "../../src/standin/server.ts";
import { countOf, figure } from "../support/figure.ts";
import { ERROR_CLASSES } from "../support/problems/problem.ts";
import { PROBLEMS } from "../support/problems/all.ts";
import { problemRoom, type Solved, type Where } from "../support/solve-problems.ts";

/** Of each executor; the campaign takes them all. */
const COUNT = countOf("PAWL_TEST_PROBLEMS", 4);
const AT_ONCE = 2;
const LIMIT_MS = 120_000 + COUNT * 40_000;

/** As many kinds of errors as can be. */
function sample(count: number): typeof PROBLEMS {
  const byClass = ERROR_CLASSES.flatMap((wanted) => PROBLEMS.find(({ attempts }) => attempts[0].errs === wanted) ?? []);
  return [...new Set([...byClass, ...PROBLEMS])].slice(0, count);
}

const standins: Standin[] = [];
afterAll(async () => {
  await Promise.all(standins.map((standin) => standin.close()));
});

async function solveAll(where: Where): Promise<Solved[]> {
  const room = await problemRoom(standins);
  const left = [...sample(COUNT)];
  const solved: Solved[] = [];
  const work = async (): Promise<void> => {
    for (let problem = left.shift(); problem !== undefined; problem = left.shift())
      solved.push(await room.solve(problem, where));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return solved;
}

describe("the set of problems", () => {
  it.each(["local", "claude"] as const)(
    "with --executor %s the right answer comes out, and the model is told why the first code was wrong (S1)",
    async (where) => {
      const solved = await solveAll(where);
      figure("problems", {
        where,
        solved: solved.filter(({ wrongs }) => wrongs.length === 0).length,
        of: solved.length,
      });
      expect(solved.filter(({ wrongs }) => wrongs.length > 0)).toEqual([]);
    },
    LIMIT_MS,
  );
});
