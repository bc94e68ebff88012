/** `resume` and `open` of the library: a run that exists, driven again or only looked at. */
import { existsSync } from "node:fs";
import { openState, type Environment, type State } from "../../compose.ts";
import { UsageError } from "../../errors.ts";
import type { Fact } from "../../events.ts";
import { exhausted } from "../../loop/budget.ts";
import { fold } from "../../loop/fold.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import type { Agent } from "../../ports.ts";
import type { Limits } from "../../spec.ts";
import { directivesOf, isHeld, type Change } from "../going-on.ts";
import { driveInProgram, type DriveParts, type RunHandle } from "./handle.ts";
import { holding } from "./holding.ts";
import type { OwnCheck } from "./own-check.ts";

export interface ResumeOptions extends DriveParts {
  /** Changed from here on; everything else was frozen at the start. */
  limits?: Limits;
  model?: string;
  /** Those of your own that the run began with. */
  agent?: Agent;
  agents?: readonly Agent[];
  checks?: readonly OwnCheck[];
  environment?: Environment;
}

/** Drives a run that nobody drives: one that was killed, aborted, paused, or ended as anything but `verified`. */
export async function resume(id: string, options: ResumeOptions = {}): Promise<RunHandle> {
  const { limits = {}, model, agent, agents = [], checks = [], environment: env = process.env, ...parts } = options;
  return await holding(env, async ({ state, lock, release }) => {
    const folded = await stateOf(state, id);
    refuse(folded, limits);
    const { path } = folded.spec.workspace;
    if (!existsSync(path))
      throw new UsageError(`the workspace of run ${id} is gone: ${path}`, {
        hint: `its work is kept: pawl restore ${id} --at N --branch NAME`,
      });
    lock(path);
    const change = { limits, ...(model === undefined ? {} : { model }) };
    if (folded.outcome === undefined) await queue(state, { folded, change });
    return driveInProgram({
      start: folded,
      folded,
      env,
      state,
      agents: [...(agent === undefined ? [] : [agent]), ...agents],
      checks,
      release,
      ...(folded.outcome === undefined ? {} : { reopen: change }),
      ...parts,
    });
  });
}

async function stateOf({ journal }: State, id: string): Promise<RunState> {
  const row = (await journal.runs()).find(({ run }) => run === id);
  if (row === undefined)
    throw new UsageError(`there is no run ${JSON.stringify(id)}`, { hint: "`pawl runs --all` lists them" });
  if (row.owner !== undefined)
    throw new UsageError(`run ${id} is driven already, by process ${row.owner.pid} on ${row.owner.host}`, {
      hint: "open(id) follows it",
    });
  return fold(await journal.read(id));
}

function refuse(state: RunState, limits: Limits): void {
  const { run, outcome } = state;
  if (outcome?.is === "verified") throw new UsageError(`run ${run} is verified: there is nothing left to do`);
  if (outcome?.is !== "exhausted") return;
  const raised = { ...state, limits: { ...state.limits, ...limits } };
  const over = exhausted(raised, { iteration: mainLane(state).iteration, elapsed: state.elapsed });
  if (over === undefined) return;
  throw new UsageError(`run ${run} ended at its limit on ${over.which}: ${outcome.reason}`, {
    hint: "raise it with `limits`",
  });
}

async function queue({ inbox }: State, { folded, change }: { folded: RunState; change: Change }): Promise<void> {
  for (const directive of directivesOf(change, { held: await isHeld(inbox, folded) }))
    await inbox.put(folded.run, directive, { source: "library" });
}

/** A run to look at, whoever drives it. */
export interface RunView {
  readonly id: string;
  state(): Promise<RunState>;
  facts(options?: { from?: number }): Promise<Fact[]>;
  /** Facts from `from` on, then new ones as they come, until aborted or left. */
  follow(options?: { from?: number; signal?: AbortSignal }): AsyncIterable<Fact>;
}

/** UsageError when there is no such run. Changes nothing. */
export async function open(
  id: string,
  { environment: env = process.env }: { environment?: Environment } = {},
): Promise<RunView> {
  const reading = async <T>(read: (state: State) => Promise<T>): Promise<T> => {
    const state = openState(env);
    try {
      return await read(state);
    } finally {
      state.close();
    }
  };
  const facts = async (from: number): Promise<Fact[]> => await reading(({ journal }) => journal.read(id, from));
  await facts(0);
  return {
    id,
    state: async () => fold(await facts(0)),
    facts: async ({ from = 0 } = {}) => await facts(from),
    async *follow({ from = 0, signal = new AbortController().signal } = {}) {
      const state = openState(env);
      try {
        yield* state.journal.follow(id, { from, signal });
      } finally {
        state.close();
      }
    },
  };
}
