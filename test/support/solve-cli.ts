/** `pawl solve` in tests: what a scripted model proposes, and what is in the journal afterwards. */
import { openState } from "../../src/compose.ts";
import type { Fact, FactOf, FactType } from "../../src/events.ts";
import type { Step } from "../../src/standin/script.ts";
import { cliPlace, type CliPlace } from "./cli.ts";

export const python = (code: string): Step => ({
  answer: { do: "run", note: "by a program", language: "python", code },
});
/** In a step: what it prints is the result. */
export const last = (code: string): Step => ({
  answer: { do: "run", note: "by a program", language: "python", code, final: true },
});
export const answer = (text: string): Step => ({ answer: { do: "answer", note: "known", answer: text } });
export const when = (promptIncludes: string, ...steps: Step[]) => ({ when: { promptIncludes }, steps });

export async function solvePlace(script: { rules?: ReturnType<typeof when>[]; steps?: Step[] }): Promise<CliPlace> {
  return await cliPlace({ script, env: { PAWL_MODEL: "claude-opus-5-5" } });
}

export async function factsOf({ env }: CliPlace, run: string): Promise<Fact[]> {
  const state = openState(env);
  try {
    return await state.journal.read(run);
  } catch {
    return [];
  } finally {
    state.close();
  }
}

export const only = <T extends FactType>(facts: readonly Fact[], type: T): FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);
export const runIn = (stderr: string): string => /^(r-\S+) /m.exec(stderr)?.[1] ?? "";
