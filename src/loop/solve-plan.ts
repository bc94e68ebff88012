/** Plans: how one is read, what is wrong with one, and which of its steps can be worked on. Pure. */
import { MAX_STEPS, STEP_ID } from "../spec/solve-names.ts";
import type { PlanStep } from "../spec/solve.ts";
import type { PlanState, StepState } from "./solve-state.ts";

const MAX_TITLE_CHARS = 500;

/** As a model or a person writes them; what is wrong, in words. */
export function readSteps(given: unknown): PlanStep[] | string {
  if (!Array.isArray(given)) return "a plan needs `steps`: a list";
  const steps: PlanStep[] = [];
  for (const one of given as unknown[]) {
    if (typeof one !== "object" || one === null) return "a step is an object with id, title, needs and expect";
    const { id, title, needs = [], expect = "" } = one as Record<string, unknown>;
    if (typeof id !== "string" || !STEP_ID.test(id))
      return `a step's id is a short name of small letters and digits, not ${JSON.stringify(id)}`;
    if (typeof title !== "string" || title.trim() === "") return `step ${id} has no title`;
    if (!Array.isArray(needs) || needs.some((need) => typeof need !== "string"))
      return `what step ${id} needs is a list of ids`;
    if (typeof expect !== "string") return `what step ${id} expects is a text`;
    const cut = (words: string): string => words.trim().slice(0, MAX_TITLE_CHARS);
    steps.push({ id, title: cut(title), needs: [...new Set(needs as string[])], expect: cut(expect) });
  }
  return steps;
}

/** Why it cannot be carried out; undefined: it can. */
export function planProblem(steps: readonly PlanStep[]): string | undefined {
  if (steps.length === 0) return "the plan has no steps";
  if (steps.length > MAX_STEPS) return `the plan has ${steps.length} steps; at most ${MAX_STEPS}`;
  const ids = new Set(steps.map(({ id }) => id));
  if (ids.size < steps.length) return "two steps of the plan have the same id";
  for (const { id, needs } of steps) {
    const missing = needs.find((need) => !ids.has(need));
    if (missing !== undefined) return `step ${id} needs ${missing}, which is no step`;
  }
  const done = new Set<string>();
  for (let left = [...steps]; left.length > 0;) {
    const next = left.filter(({ needs }) => !needs.every((need) => done.has(need)));
    if (next.length === left.length) return `these steps need each other: ${left.map(({ id }) => id).join(", ")}`;
    for (const step of left) if (!next.includes(step)) done.add(step.id);
    left = next;
  }
  return undefined;
}

const isIn = (plan: PlanState, id: string, is: StepState["is"]): boolean =>
  plan.steps.some((step) => step.id === id && step.is === is);

/** Their needs are met. */
export const readySteps = (plan: PlanState): StepState[] =>
  plan.steps.filter(({ is, needs }) => is === "todo" && needs.every((need) => isIn(plan, need, "done")));

/** What they need will never be there. */
export const hopelessSteps = (plan: PlanState): StepState[] =>
  plan.steps.filter(
    ({ is, needs }) => is === "todo" && needs.some((need) => isIn(plan, need, "failed") || isIn(plan, need, "skipped")),
  );

export const isCarriedOut = (plan: PlanState): boolean => plan.steps.every(({ is }) => is !== "todo");
