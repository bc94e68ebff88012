/** A specification of the recipe `solve`, for tests and benchmarks to change. */
import type { RunSpec } from "../../src/spec.ts";
import type { SolveSpec } from "../../src/spec/solve.ts";
import { makeSpec } from "./world.ts";

export const plainSolve: SolveSpec = {
  executor: "local",
  files: [],
  history: "pruned",
  requestTokens: 20_000,
  repeats: 2,
  parallel: 2,
  stepTries: 3,
  limits: { timeoutMs: 10_000, memoryBytes: 5e8, processes: 64, diskBytes: 1e8, outputBytes: 1e6 },
  planOnly: false,
};

export function solveSpec(over: Partial<RunSpec> = {}, solve: Partial<SolveSpec> = {}): RunSpec {
  const base = makeSpec();
  return {
    ...base,
    recipe: "solve",
    goal: "how many primes are there below 100?",
    agent: { ...base.agent, context: "fresh" },
    checks: [],
    limits: { iterations: 10 },
    ...over,
    solve: { ...plainSolve, ...solve },
  };
}
