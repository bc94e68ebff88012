/** A run's specification with nothing special in it, for tests and benchmarks to change. */
import { NOTHING_PROTECTED, PLAIN_VERDICTS } from "../../src/verdict-defaults.ts";
import type { RunSpec } from "../../src/spec.ts";

export const plainAgent: RunSpec["agent"] = {
  name: "scripted",
  context: "persistent",
  contextLimitTokens: 100_000,
  idleTimeoutMs: 600_000,
  turnTimeoutMs: 600_000,
  completionGraceMs: 60_000,
  ask: { permissions: "allow", questions: "deny", timeoutMs: 60_000 },
  options: {},
};

export function plainSpec(repository: string, over: Partial<RunSpec> = {}): RunSpec {
  return {
    run: "r-1",
    recipe: "run",
    goal: "make the tests pass",
    workspace: {
      repository,
      path: repository,
      commit: "branch",
      allowDirty: false,
      memos: [],
      maxSnapshotBytes: 1e9,
      maxSnapshotFiles: 1e6,
    },
    agent: plainAgent,
    fence: {
      kind: "none",
      network: "off",
      hosts: [],
      memoryBytes: 8e9,
      processes: 2_000,
      fileBytes: 4e9,
      diskBytes: 20e9,
      outputBytes: 1e9,
    },
    checks: [],
    claim: { promise: "COMPLETE", required: true, confirmations: 1 },
    criteria: [],
    protect: NOTHING_PROTECTED,
    verdicts: PLAIN_VERDICTS,
    rules: [],
    hooks: [],
    onErrors: "fail",
    minIterations: 1,
    maxErrors: 3,
    limits: { iterations: 20 },
    struggle: { patience: 3, shortTurnMs: 0, ladder: ["hint", "stop"] },
    waits: { backoffBaseMs: 100, backoffMaxMs: 10_000, limitCapMs: 86_400_000 },
    environment: {},
    ...over,
  };
}
