/** The prompt of a run's first turn, before there is a run: for `--dry-run`, and to know what a template may say. */
import type { Fact, Task } from "../events.ts";
import type { PromptContext, TurnAction } from "../loop/actions.ts";
import { composePrompt } from "../loop/compose-prompt.ts";
import { fold } from "../loop/fold.ts";
import { variableOf } from "../loop/template-prompt.ts";
import type { Base } from "../ports.ts";
import { runRecipe } from "../recipes/run.ts";
import type { RunSpec } from "../spec.ts";
import { VERSION } from "../version.ts";

const FIRST: TurnAction = {
  do: "turn",
  key: "turn",
  lane: "main",
  why: "dry run",
  iteration: 1,
  attempt: 1,
  session: { mode: "new" },
};

/** `tasks`: as its task file lists them. */
type Beginning = { spec: RunSpec; base: Base; tasks?: Task[] | undefined };

function beginningOf({ spec, base, tasks = [] }: Beginning): ReturnType<typeof fold> {
  const at = { v: 1, run: spec.run, lane: "main", seq: 0, at: 0, elapsed: 0, epoch: 0 } as const;
  const first: Fact[] = [{ ...at, type: "run-start", spec, base, pawl: VERSION }];
  if (tasks.length > 0)
    first.push({ ...at, seq: 1, type: "tasks-recorded", iteration: 0, by: "person", tasks, suspicions: [] });
  return fold(first);
}

export const firstPrompt = (run: Beginning, context: PromptContext): ReturnType<typeof composePrompt> =>
  composePrompt(runRecipe, { state: beginningOf(run), turn: FIRST, context });

/** What a template may say, and which of it must not stand twice. */
export function templateNames(run: Beginning): { names: string[]; once: string[] } {
  const state = beginningOf(run);
  const parts = runRecipe.prompt(state, FIRST, {});
  const names = [...Object.keys(runRecipe.variables(state, FIRST)), ...parts.map(({ name }) => variableOf(name))];
  const once = parts.filter(({ always }) => always === true).map(({ name }) => variableOf(name));
  return { names: [...new Set(names)], once };
}
