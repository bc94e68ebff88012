/** Where a run that solves is: its attempts, its plan, and how often each error came. Bounded, like all of the state. */
import type { FactOf, Kept } from "../events.ts";
import type { PlanStep } from "../spec/solve.ts";
import type { LaneState, RunState } from "./state.ts";

/** What came of running code once. */
export type Executed = Pick<
  FactOf<"execution-recorded">,
  "by" | "language" | "code" | "end" | "stdout" | "stderr" | "files" | "durationMs" | "kind" | "fingerprint" | "message"
>;

/** One turn of the model and what came of it. It is known by the number of its turn. */
export interface Attempt {
  turn: number;
  lane: string;
  iteration: number;
  /** Of the driver that recorded it. */
  epoch: number;
  does: FactOf<"proposal-made">["do"];
  note: string;
  problem: string | undefined;
  code: { language: NonNullable<FactOf<"proposal-made">["language"]>; kept: Kept } | undefined;
  /** Of a step: it was said before it ran that what it prints is the result. */
  final?: true;
  answer: Kept | undefined;
  /** The last of them, where the model ran several. */
  executed: Executed | undefined;
  executions: number;
}

export interface StepState extends PlanStep {
  is: "todo" | "done" | "failed" | "skipped";
  result: Kept | undefined;
}

export interface PlanState {
  revision: number;
  by: "agent" | "person";
  turn: number | null;
  steps: StepState[];
}

export interface SolveState {
  /** The newest last. */
  attempts: Attempt[];
  /** Older ones that only the journal has. */
  forgotten: number;
  plan: PlanState | undefined;
  /** Of results of earlier plans that the present one does not have, the newest last. */
  settled: StepState[];
  /** By fingerprint of the failure. */
  errors: Map<string, number>;
  /** So often a prompt had more tokens than it was thought to have, and the room of all that follow was halved. */
  tightened?: number;
}

export const noAttempts = (): SolveState => ({
  attempts: [],
  forgotten: 0,
  plan: undefined,
  settled: [],
  errors: new Map(),
});

/** Of a run of another recipe it is empty. */
export const solveOf = ({ solve }: RunState): SolveState => solve ?? noAttempts();

/** Who reopens such a run wants the plan carried out. */
export const endsWithPlan = ({ spec, reopened }: RunState): boolean => spec.solve?.planOnly === true && reopened === 0;

export const attemptsIn = (state: RunState, lane: string): Attempt[] =>
  solveOf(state).attempts.filter((attempt) => attempt.lane === lane);

/** What the last turn of this iteration came to; undefined before its end. */
export function attemptOf(state: RunState, { ended }: Pick<LaneState, "ended">): Attempt | undefined {
  if (ended === undefined) return undefined;
  return solveOf(state).attempts.findLast(({ turn }) => turn === ended.turn);
}
