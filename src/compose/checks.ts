/** From a check's specification to the object that judges. */
import { commandCheck } from "../checks/command.ts";
import { guardCheck } from "../checks/guard.ts";
import { judgeCheck } from "../checks/judge.ts";
import { metricCheck } from "../checks/metric.ts";
import { requirementCheck } from "../checks/requirement.ts";
import { UsageError } from "../errors.ts";
import { globMatcher } from "../platform/glob.ts";
import type { Agent, Check } from "../ports.ts";
import type { CheckSpec } from "../spec.ts";

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

function customCheck(name: string, checks: readonly Check[]): Check {
  const found = checks.find((check) => check.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`the check ${name} belongs to the program that started the run`, {
    hint: "go on with that program: resume(id, { checks: [...] }) of the library",
  });
}
