/** From a check's specification to the object that judges, and how many of them may run at once. */
import { availableParallelism } from "node:os";
import { commandCheck } from "../checks/command.ts";
import { guardCheck } from "../checks/guard.ts";
import { judgeCheck } from "../checks/judge.ts";
import { metricCheck } from "../checks/metric.ts";
import { requirementCheck } from "../checks/requirement.ts";
import { UsageError } from "../errors.ts";
import { globMatcher } from "../platform/glob.ts";
import type { Agent, Check } from "../ports.ts";
import type { CheckSpec, RunSpec } from "../spec.ts";
import type { RunFence } from "./fence.ts";

/** Checks at the same time, whatever the machine: each may keep several cores busy by itself. */
const MAX_CHECKS_AT_ONCE = 4;

interface Given extends NonNullable<Parameters<typeof commandCheck>[1]> {
  /** The program's own, for the checks of kind `custom`. */
  custom: readonly Check[];
  /** Patterns of the files that are tests. */
  tests: readonly string[];
  /** Who answers for checks of kind `judge`: the run's own agent, in a place of its own. */
  judge: Pick<Parameters<typeof judgeCheck>[1], "settings" | "place"> & { agent: Agent | undefined };
}

export function makeCheck(spec: CheckSpec, { custom, tests, judge, ...surroundings }: Given): Check {
  switch (spec.kind) {
    case "command":
      return commandCheck(spec, { ...surroundings, isTest: globMatcher(tests) });
    case "custom":
      return customCheck(spec.name, custom);
    case "requirement":
      return requirementCheck(spec);
    case "guard":
      return guardCheck(spec, { tests });
    case "metric":
      return metricCheck(spec, surroundings);
    case "judge": {
      const { agent, settings, place } = judge;
      if (agent === undefined) throw new UsageError(`there is no agent called ${settings.name} that could judge`);
      const { run, blobs } = surroundings;
      return judgeCheck(spec, { run, blobs, agent, settings, place });
    }
  }
}

/** One where they could meet, in a folder or by a network: a port that is taken, a database that both write to. */
export function checksAtOnce({ fence }: Pick<RunSpec, "fence">, { layers }: Pick<RunFence, "layers">): number {
  const areApart = layers !== undefined && fence.network !== "open" && fence.hosts.length === 0;
  return areApart ? Math.min(MAX_CHECKS_AT_ONCE, availableParallelism()) : 1;
}

function customCheck(name: string, checks: readonly Check[]): Check {
  const found = checks.find((check) => check.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`the check ${name} belongs to the program that started the run`, {
    hint: "go on with that program: resume(id, { checks: [...] }) of the library",
  });
}
