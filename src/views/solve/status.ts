/** Where a run that solves is: its plan and its last attempts, for `status` and `show`. Pure. */
import { solveOf, type Attempt, type StepState } from "../../loop/solve-state.ts";
import type { RunState } from "../../loop/state.ts";
import { oneLine } from "../plain.ts";

const MAX_ATTEMPTS = 8;
const MAX_CHARS = 100;
const short = (text: string): string => oneLine(text, { max: MAX_CHARS });

export interface AttemptView {
  attempt: number;
  lane: string;
  iteration: number;
  does: Attempt["does"];
  note: string;
  /** `ok`, or how it failed; null: nothing was run. */
  kind: string | null;
  /** What it printed, answered or failed with, in one line. */
  came: string;
}

export interface SolveView {
  executor: string;
  plan: {
    revision: number;
    steps: (Pick<StepState, "id" | "title" | "needs" | "is"> & { result: string | null })[];
  } | null;
  /** The newest last. */
  attempts: AttemptView[];
  attemptCount: number;
}

export function solveView(state: RunState): SolveView | null {
  const { solve: spec } = state.spec;
  if (spec === undefined) return null;
  const { plan, attempts, forgotten } = solveOf(state);
  return {
    executor: spec.executor,
    plan:
      plan === undefined
        ? null
        : {
            revision: plan.revision,
            steps: plan.steps.map(({ id, title, needs, is, result }) => ({
              id,
              title,
              needs,
              is,
              result: result === undefined ? null : short(result.text),
            })),
          },
    attempts: attempts.slice(-MAX_ATTEMPTS).map(attemptView),
    attemptCount: attempts.length + forgotten,
  };
}

export function attemptView(attempt: Attempt): AttemptView {
  const { turn, lane, iteration, does, note, executed } = attempt;
  return {
    attempt: turn,
    lane,
    iteration,
    does,
    note: short(note),
    kind: executed?.kind ?? null,
    came: cameTo(attempt),
  };
}

function cameTo({ problem, answer, executed, does }: Attempt): string {
  if (problem !== undefined) return `not usable: ${short(problem)}`;
  if (answer !== undefined) return short(answer.text);
  if (executed === undefined) return does === "run" ? "not run yet" : "";
  if (executed.kind !== "ok") return short(executed.message);
  return executed.stdout.text.trim() === "" ? "printed nothing" : short(executed.stdout.text);
}

export const planCells = (view: SolveView | null): string[][] =>
  (view?.plan?.steps ?? []).map(({ id, title, needs, is, result }) => [
    id,
    is,
    `${short(title)}${needs.length === 0 ? "" : ` (needs ${needs.join(", ")})`}`,
    result ?? "",
  ]);

export const attemptCells = (view: SolveView | null): string[][] => (view?.attempts ?? []).map(cellsOf);

export const cellsOf = ({ attempt, lane, does, kind, came, note }: AttemptView): string[] => [
  `${attempt}`,
  lane === "main" ? "" : lane,
  kind === null ? does : `${does}: ${kind}`,
  came,
  note,
];
