/** A run in a program's hands: it is driven in this process, followed through the journal and steered through the inbox. */
import { composeForRun, type Environment, type State } from "../../compose.ts";
import { UsageError } from "../../errors.ts";
import type { Directive, Fact, Outcome } from "../../events.ts";
import type { Between } from "../../loop/between.ts";
import { drive } from "../../loop/drive.ts";
import { isNoOption } from "../../loop/questions.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import type { Agent, Base, Receipt } from "../../ports.ts";
import type { Executor } from "../../ports/executor.ts";
import { recipeNamed } from "../../recipes/by-name.ts";
import type { CheckSpec, Limits, RunSpec } from "../../spec.ts";
import { branchOf } from "../summary.ts";
import { factsUntil } from "./facts.ts";
import { directivesOf, iterationState, type OnIteration } from "./iteration.ts";
import { portOf, type OwnCheck } from "./own-check.ts";

const SOURCE = "library";
const MAX_SOURCE_CHARS = 300;

export interface RunEnd {
  outcome: Outcome;
  state: RunState;
  /** Where the work is; undefined when nothing is committed. */
  branch: string | undefined;
  /** The last commit that was handed over. */
  commit: string | null;
}

export interface RunHandle {
  readonly id: string;
  /** The frozen specification. */
  readonly spec: RunSpec;
  /** The facts from the first one on; ends with the driving, and rejects where that broke. Can be iterated several times. */
  readonly events: AsyncIterable<Fact>;
  /** Rejects when the driving broke (TerminalError, an error of `onIteration`) or was aborted; the run can be resumed. */
  readonly outcome: Promise<RunEnd>;
  /** Where the run is now. Read only. */
  state(): RunState;
  /** `now`: into the running turn where the agent can take it; `next` (unless said): in the next prompt. */
  say(text: string, options?: { when?: "now" | "next" | "only-now" }): Promise<Receipt>;
  /** Ends the running turn; its work is kept and judged. */
  interrupt(): Promise<Receipt>;
  /** No new turn starts. */
  pause(): Promise<Receipt>;
  resume(): Promise<Receipt>;
  /** `after` this iteration unless said. */
  stop(options?: { when?: "now" | "after" }): Promise<Receipt>;
  model(name: string): Promise<Receipt>;
  budget(limits: Limits): Promise<Receipt>;
  answer(question: string, text: string): Promise<Receipt>;
}

/** What a program may give to a run that it drives. */
export interface DriveParts {
  /** Awaited between iterations, before the next one starts; its answer counts for the next. */
  onIteration?: OnIteration;
  onFact?: (fact: Fact, state: RunState) => void;
  /** Aborting stops the driving, not the run: it can be resumed. */
  signal?: AbortSignal;
}

interface Driven extends DriveParts {
  start: { spec: RunSpec; base: Base };
  folded: RunState;
  env: Environment;
  state: State;
  /** The program's own. */
  agents: readonly Agent[];
  checks: readonly OwnCheck[];
  executor?: Executor;
  reopen?: { limits: Limits; model?: string };
  /** Called first when it broke. */
  broken?: (error: unknown) => Promise<void>;
  /** Called once the driving is over, whatever came of it. */
  release: () => void;
}

export function driveInProgram(driven: Driven): RunHandle {
  const { env, state, start } = driven;
  const { spec } = start;
  const { run } = spec;
  let now = driven.folded;
  let isOver = false;
  const keep = (latest: RunState): void => {
    now = latest;
  };
  const outcome = driveOn(driven, keep)
    .catch(async (error: unknown) => {
      await driven.broken?.(error);
      throw error;
    })
    .finally(() => {
      isOver = true;
      driven.release();
    });
  const lastSeq = outcome.then(
    () => now.seq,
    () => now.seq,
  );
  // Whoever only follows the events is told by them.
  outcome.catch(() => undefined);
  const put = async (directive: Directive): Promise<Receipt> => {
    if (isOver) throw new UsageError(`run ${run} is not driven any more`, { hint: `resume("${run}") drives it again` });
    return await state.inbox.put(run, directive, { source: SOURCE });
  };
  return {
    id: run,
    spec,
    outcome,
    state: () => now,
    events: { [Symbol.asyncIterator]: () => factsUntil({ run, env, lastSeq, outcome, signal: driven.signal }) },
    say: async (text, { when = "next" } = {}) => await put({ kind: "say", text, when }),
    interrupt: async () => await put({ kind: "interrupt" }),
    pause: async () => await put({ kind: "pause" }),
    resume: async () => await put({ kind: "resume" }),
    stop: async ({ when = "after" } = {}) => await put({ kind: "stop", when }),
    model: async (name) => await put({ kind: "model", model: name }),
    budget: async (limits) => await put({ kind: "budget", limits }),
    answer: async (question, text) => {
      const asked = now.questions.get(question);
      if (asked !== undefined && isNoOption(asked, text))
        throw new UsageError(`${question} has no option ${text}`, { hint: `there is: ${asked.options.join(", ")}` });
      return await put({ kind: "answer", question, text });
    },
  };
}

async function driveOn(driven: Driven, keep: (state: RunState) => void): Promise<RunEnd> {
  const { start, env, state, agents, checks, executor, onIteration, onFact, reopen } = driven;
  const { run } = start.spec;
  const signal = driven.signal ?? new AbortController().signal;
  const composed = await composeForRun({
    run,
    env,
    state,
    start,
    agents: Object.fromEntries(agents.map((agent) => [agent.name, agent])),
    checks: ownChecks(start.spec.checks, checks),
    ...(executor === undefined ? {} : { executor }),
  });
  try {
    const ended = await drive({
      run,
      recipe: recipeNamed(start.spec.recipe),
      ports: composed.ports,
      signal,
      ...(reopen === undefined ? {} : { reopen }),
      ...(onIteration === undefined ? {} : { between: betweenOf(onIteration, state) }),
      onFact(fact, latest) {
        keep(latest);
        onFact?.(fact, latest);
      },
    });
    keep(ended);
    if (ended.outcome === undefined) throw abortReason(signal);
    return { outcome: ended.outcome, state: ended, branch: branchOf(ended), commit: mainLane(ended).lastCommit };
  } finally {
    await composed.close();
  }
}

const abortReason = ({ reason }: AbortSignal): unknown => reason ?? new Error("the driving was stopped");

function ownChecks(specs: readonly CheckSpec[], checks: readonly OwnCheck[]): ReturnType<typeof portOf>[] {
  return specs.flatMap((spec) => {
    const own = spec.kind === "custom" ? checks.find(({ name }) => name === spec.name) : undefined;
    return own === undefined ? [] : [portOf(own, spec)];
  });
}

/**
 * The answer goes through the inbox like every directive, under keys of its boundary: a boundary that is asked about
 * again, because its driver was killed, is not answered twice. What it throws pauses the run, and the driving ends.
 */
function betweenOf(onIteration: OnIteration, { inbox }: State): Between {
  return async (state, signal) => {
    const { run, reopened } = state;
    const { iteration } = mainLane(state);
    const key = (n: number | string): string => `onIteration/${reopened}/${iteration}/${n}`;
    try {
      const answer = await onIteration(iterationState(state), signal);
      if (signal.aborted || !answer) return;
      for (const [n, directive] of directivesOf(answer).entries()) {
        await inbox.put(run, directive, { source: SOURCE, key: key(n) });
      }
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const source = `${SOURCE}: onIteration failed: ${why}`.slice(0, MAX_SOURCE_CHARS);
      if (!signal.aborted) await inbox.put(run, { kind: "pause" }, { source });
      throw error;
    }
  };
}
