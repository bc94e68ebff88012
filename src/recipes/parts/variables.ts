/** What a person's template can say beside the parts. */
import type { Recipe } from "../../loop/actions.ts";
import { currentTask } from "../../loop/tasks.ts";

export const variables: Recipe["variables"] = (state, { iteration, attempt }) => {
  const { spec, limits, run } = state;
  return {
    goal: spec.goal,
    run,
    iteration: String(iteration),
    max_iterations: limits.iterations === undefined ? "" : String(limits.iterations),
    min_iterations: String(spec.minIterations),
    attempt: String(attempt),
    promise: spec.claim.promise,
    abort_promise: spec.claim.abort ?? "",
    task_promise: spec.tasks?.promise ?? "",
    task: currentTask(state)?.task.text ?? "",
    checks: spec.checks.map(({ name, command }) => `- ${name}: \`${command}\``).join("\n"),
  };
};
