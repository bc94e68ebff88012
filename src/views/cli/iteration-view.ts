/** Everything the journal says about one iteration. Pure; what lies in blobs is named by hash. */
import { UsageError } from "../../errors.ts";
import type { Fact, FactOf } from "../../events.ts";
import { fenceOf, MAIN_LANE, wholeSpec } from "../../loop/state.ts";
import type { FenceSpec } from "../../spec.ts";
import { criteriaOf, type CriterionView } from "../criteria.ts";

interface TurnView {
  start: FactOf<"turn-start">;
  end: FactOf<"turn-end"> | null;
}

export interface IterationView {
  v: 1;
  run: string;
  iteration: number;
  criteria: CriterionView[];
  /** What held the agent and the checks. */
  fence: FenceSpec | null;
  turns: TurnView[];
  change: FactOf<"change-recorded"> | null;
  /** As the agent left them, where it changed them. */
  tasks: FactOf<"tasks-recorded"> | null;
  checks: FactOf<"check-end">[];
  /** Of a run that solves: what was proposed, and what came of running it. */
  proposals: FactOf<"proposal-made">[];
  executions: FactOf<"execution-recorded">[];
  failure: FactOf<"failure-recorded"> | null;
  decision: FactOf<"decision-made"> | null;
  accepted: FactOf<"change-accepted"> | null;
  restored: FactOf<"change-restored"> | null;
}

const ofType = <T extends Fact["type"]>(facts: readonly Fact[], type: T): FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

/** `n` undefined: the last one. */
export function iterationView(all: readonly Fact[], { n }: { n: number | undefined }): IterationView {
  // Steps of a plan have lanes, and numbers, of their own.
  const facts = all.filter(({ lane }) => lane === MAIN_LANE);
  const numbers = ofType(facts, "iteration-start").map((fact) => fact.n);
  const run = facts[0]?.run ?? "";
  const iteration = n ?? numbers.at(-1);
  if (iteration === undefined || !numbers.includes(iteration)) {
    throw new UsageError(
      numbers.length === 0 ? `run ${run} has no iteration yet` : `run ${run} has no iteration ${iteration}`,
      numbers.length === 0 ? {} : { hint: `there are 1 to ${numbers.at(-1)}` },
    );
  }
  const ends = new Map(ofType(facts, "turn-end").map((fact) => [fact.turn, fact]));
  const mine = <T extends { iteration: number }>(list: readonly T[]): T[] =>
    list.filter((fact) => fact.iteration === iteration);
  const checks = mine(ofType(facts, "check-end"));
  return {
    v: 1,
    run,
    iteration,
    fence: facts[0]?.type === "run-start" ? fenceOf(facts[0].spec) : null,
    criteria:
      facts[0]?.type === "run-start"
        ? criteriaOf(
            wholeSpec(facts[0].spec).criteria,
            (name) => checks.findLast(({ check }) => check === name)?.verdict,
          )
        : [],
    turns: mine(ofType(facts, "turn-start")).map((start) => ({ start, end: ends.get(start.turn) ?? null })),
    change: mine(ofType(facts, "change-recorded")).findLast(({ by }) => by === "agent") ?? null,
    tasks: mine(ofType(facts, "tasks-recorded")).findLast(({ by }) => by === "agent") ?? null,
    checks,
    proposals: mine(ofType(facts, "proposal-made")),
    executions: mine(ofType(facts, "execution-recorded")),
    failure: mine(ofType(facts, "failure-recorded")).at(-1) ?? null,
    decision: mine(ofType(facts, "decision-made")).at(-1) ?? null,
    accepted: mine(ofType(facts, "change-accepted")).at(-1) ?? null,
    restored: mine(ofType(facts, "change-restored")).findLast(({ failed }) => failed === undefined) ?? null,
  };
}
