/** The control point between iterations as a program sees it: where the run is, and what it may answer. */
import { UsageError } from "../../errors.ts";
import type { Directive, Task, Verdict } from "../../events.ts";
import type { Spent } from "../../loop/budget.ts";
import { mainLane, verdictOf, type IterationRecord, type RunState } from "../../loop/state.ts";
import type { Limits } from "../../spec.ts";

/** Where the run is when an iteration has been judged and the next has not begun. */
export interface IterationState {
  run: string;
  /** The one that has just ended. */
  iteration: number;
  /** Its numbers: time, turns, tools, files, cost. */
  record: IterationRecord;
  /** Why the run goes on: the rule that fired, in words too. */
  decision: { rule: string; reason: string };
  verdicts: { check: string; verdict: Verdict | undefined }[];
  /** Iterations in a row with a sign of struggle (`pawl status` names the signs) and no progress. */
  struggling: number;
  /** Iterations in a row without a changed file; five at most, for no more are remembered. */
  unchanged: number;
  /** The agent's last words. */
  text: string;
  model: string | undefined;
  spent: Spent;
  limits: Limits;
  tasks: readonly Task[];
  /** Everything, as folded from the journal. Read only. */
  state: RunState;
}

/** What the program wants; nothing at all lets the run go on as it would. */
export interface IterationAnswer {
  /** Stands in the next prompt, under a heading of its own. */
  say?: string;
  /** True: the run ends here, as `stopped`. */
  stop?: boolean;
  /** For the next turns. */
  model?: string;
  /** Changes these limits only. */
  budget?: Limits;
  /** In tasks mode: the current task is left out. */
  skipTask?: boolean;
  /** No new iteration until somebody resumes the run. */
  pause?: boolean;
}

// eslint-disable-next-line typescript/no-invalid-void-type -- a callback that returns nothing is the usual one
export type OnIteration = (state: IterationState, signal: AbortSignal) => Answer | Promise<Answer>;
// eslint-disable-next-line typescript/no-invalid-void-type -- as above
type Answer = IterationAnswer | undefined | void;

export function iterationState(state: RunState): IterationState {
  const lane = mainLane(state);
  const tree = lane.change?.judged;
  return {
    run: state.run,
    iteration: lane.iteration,
    record: lane.record,
    decision: { rule: lane.decision?.rule ?? "", reason: lane.decision?.reason ?? "" },
    verdicts: state.spec.checks.map(({ name }) => ({
      check: name,
      verdict: tree === undefined ? undefined : verdictOf(state, tree, name),
    })),
    struggling: lane.track.struggling,
    unchanged: state.recent.length - 1 - state.recent.findLastIndex(({ files }) => files > 0),
    text: lane.ended?.text ?? "",
    model: state.model,
    spent: state.spent,
    limits: state.limits,
    tasks: state.tasks?.list ?? [],
    state,
  };
}

const SWITCHES = ["stop", "skipTask", "pause"];
const ANSWERS = ["say", "model", "budget", ...SWITCHES];

/** A stop that is misspelt must not be none: the run would go on and cost. */
function refuseUnknown(answer: unknown): void {
  const known = `it may return ${ANSWERS.join(", ")}`;
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    throw new UsageError(`onIteration returned ${JSON.stringify(answer) ?? typeof answer}, no object`, { hint: known });
  for (const [name, value] of Object.entries(answer)) {
    if (!ANSWERS.includes(name))
      throw new UsageError(`onIteration returned ${JSON.stringify(name)}, which is no answer`, { hint: known });
    if (SWITCHES.includes(name) && value !== undefined && typeof value !== "boolean")
      throw new UsageError(`onIteration returned ${name}: ${JSON.stringify(value)}; it is true or false`);
  }
}

/** In the order in which they count. UsageError for what is no answer. */
export function directivesOf(answer: IterationAnswer): Directive[] {
  refuseUnknown(answer);
  const { say, stop, model, budget, skipTask, pause } = answer;
  return [
    ...(budget === undefined ? [] : [{ kind: "budget" as const, limits: budget }]),
    ...(model === undefined ? [] : [{ kind: "model" as const, model }]),
    ...(skipTask === true ? [{ kind: "task-mark" as const, as: "skipped" as const }] : []),
    ...(say === undefined || say === "" ? [] : [{ kind: "say" as const, text: say, when: "next" as const }]),
    ...(pause === true ? [{ kind: "pause" as const }] : []),
    ...(stop === true ? [{ kind: "stop" as const, when: "after" as const }] : []),
  ];
}
