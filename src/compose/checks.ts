/** From a check's specification to the object that judges. */
import { commandCheck } from "../checks/command.ts";
import { UsageError } from "../errors.ts";
import type { Check } from "../ports.ts";
import type { CheckSpec } from "../spec.ts";

interface Given extends NonNullable<Parameters<typeof commandCheck>[1]> {
  /** The program's own, for the checks of kind `custom`. */
  custom: readonly Check[];
}

export function makeCheck(spec: CheckSpec, { custom, ...surroundings }: Given): Check {
  switch (spec.kind) {
    case "command":
      return commandCheck(spec, surroundings);
    case "custom":
      return customCheck(spec.name, custom);
    case "requirement":
    case "guard":
    case "judge":
    case "metric":
      throw new UsageError(`no check of kind ${spec.kind} is known here`);
  }
}

function customCheck(name: string, checks: readonly Check[]): Check {
  const found = checks.find((check) => check.name === name);
  if (found !== undefined) return found;
  throw new UsageError(`the check ${name} belongs to the program that started the run`, {
    hint: "go on with that program: resume(id, { checks: [...] }) of the library",
  });
}
