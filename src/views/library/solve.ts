/** `solve` of the library: the same as `pawl solve`, in the hands of a program. */
import type { Environment } from "../../compose.ts";
import { takeBack } from "../../compose/forget.ts";
import { UsageError } from "../../errors.ts";
import { fold } from "../../loop/fold.ts";
import type { Agent } from "../../ports.ts";
import type { Executor } from "../../ports/executor.ts";
import { answerOf, answerValue, type ProgramBehind } from "../solve/answer.ts";
import { writeArtifacts } from "../solve/artifacts.ts";
import { beginSolve } from "../solve/begin-solve.ts";
import { planSolve } from "../solve/plan-solve.ts";
import { driveInProgram, type DriveParts, type RunEnd, type RunHandle } from "./handle.ts";
import { holding } from "./holding.ts";
import { isOwnCheck, type OwnCheck } from "./own-check.ts";
import { settingOf, type CheckSetting } from "./run.ts";
import { toFlags, type RunSettings } from "./settings.ts";

export interface SolveOptions extends RunSettings, DriveParts {
  question: string;
  /** Paths of data for the code. */
  files?: readonly string[];
  /** The answer is right when it is this; the model is not told. */
  expect?: string;
  /** The answer is JSON that fits this JSON Schema. */
  schema?: Readonly<Record<string, unknown>>;
  checks?: readonly (CheckSetting | OwnCheck)[];
  /** An agent pawl knows by name, or an object of your own. */
  agent?: string | Agent;
  /** Of your own, instead of pawl's. */
  runsCode?: Executor;
  /** A file with a plan to carry out first. */
  plan?: string;
  planOnly?: boolean;
  /** A folder for what the code made, the answer and a transcript. */
  out?: string;
  /** A file for the final program. */
  save?: string;
  /** True: settings files and PAWL_… variables count, under what is given here. */
  config?: boolean;
  environment?: Environment;
}

export interface SolveEnd extends RunEnd {
  /** A JSON value where a schema was given, else text; null: none was found. */
  answer: unknown;
  /** The same as it was judged: numbers that JavaScript has not are whole here. */
  answerText: string | null;
  /** The program behind it. */
  code: ProgramBehind | null;
  /** What of `out` and `save` could not be written, in words. */
  missing: readonly string[];
}

export interface SolveHandle extends Omit<RunHandle, "outcome"> {
  readonly outcome: Promise<SolveEnd>;
}

/** UsageError, before anything was spent or changed, when it cannot be. */
export async function solve(options: SolveOptions): Promise<SolveHandle> {
  const {
    question,
    files = [],
    expect,
    schema,
    checks = [],
    agent,
    runsCode,
    plan,
    planOnly = false,
    ...more
  } = options;
  const { out, save, config = false, environment: env = process.env, onIteration, onFact, signal, ...settings } = more;
  if (typeof question !== "string" || question.trim() === "") throw new UsageError("a question is needed: a text");
  const own = checks.filter(isOwnCheck);
  const brought = typeof agent === "object" ? [agent] : [];
  const planned = await planSolve({
    question,
    files,
    expect,
    schema: schema === undefined ? undefined : JSON.stringify(schema),
    plan,
    planOnly,
    out,
    save,
    flags: {
      ...toFlags(settings),
      ...(checks.length === 0 ? {} : { checks: checks.map(settingOf) }),
      ...(typeof agent === "string" ? { agent } : {}),
    },
    env,
    cwd: process.cwd(),
    own: {
      config,
      checks: own.map(({ name }) => name),
      agents: brought.map(({ name }) => name),
      executor: runsCode !== undefined,
      ...(typeof agent === "object" ? { agent: agent.name } : {}),
    },
  });
  signal?.throwIfAborted();
  return await holding(env, async ({ state, lock, unlock, release }) => {
    const { spec } = planned;
    const base = await beginSolve(state, planned, lock);
    const folded = fold(await state.journal.read(spec.run));
    const handle = driveInProgram({
      start: { spec, base },
      folded,
      env,
      state,
      agents: brought,
      checks: own,
      broken: async (error) => void (await takeBack(state, spec, error)),
      release: unlock,
      ...(runsCode === undefined ? {} : { executor: runsCode }),
      ...(onIteration === undefined ? {} : { onIteration }),
      ...(onFact === undefined ? {} : { onFact }),
      ...(signal === undefined ? {} : { signal }),
    });
    const { blobs } = state;
    const outcome = handle.outcome
      .then(async (end): Promise<SolveEnd> => {
        const answer = await answerOf(end.state, blobs);
        const { missing } = await writeArtifacts(end.state, { out, save, blobs, answer });
        return {
          ...end,
          answer: answer.settled ? answerValue(end.state, answer.text) : null,
          answerText: answer.settled ? answer.text : null,
          code: answer.code,
          missing,
        };
      })
      .finally(release);
    outcome.catch(() => undefined);
    return { ...handle, outcome };
  });
}
