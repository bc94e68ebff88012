/**
 * A new run from a snapshot of another: a branch at that snapshot, a worktree on it, and the point of the conversation
 * where the agent can take it up. The other run is only read.
 */
import { isKnown } from "../agent-entry.ts";
import { checkAgents } from "./agents.ts";
import { UsageError } from "../errors.ts";
import type { Fact, FactOf } from "../events.ts";
import { redBefore } from "../loop/pre-existing.ts";
import { rosterOf } from "../loop/seats.ts";
import { mainLane, MAIN_LANE, type RunState } from "../loop/state.ts";
import { agentHome } from "../platform/paths.ts";
import type { Base } from "../ports.ts";
import type { RunSpec } from "../spec.ts";
import { branchSlug, freeBranchName } from "../workspace/branch.ts";
import { restoreRun } from "../workspace/runs.ts";
import { userGit } from "../workspace/user-git.ts";
import { createWorktree } from "../workspace/worktrees.ts";
import { takeConversation } from "./fork-conversation.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface Fork {
  folded: RunState;
  facts: readonly Fact[];
  /** Its snapshot. */
  at: number;
  /** Name of the new run. */
  run: string;
  model: string | undefined;
  stateDir: string;
  env: Environment;
}

export interface Forked {
  spec: RunSpec;
  base: Base;
  warnings: readonly string[];
  /** Why the new run begins in a fresh conversation; undefined: it goes on in that of then. */
  fresh: string | undefined;
  /** For a start that goes no further. */
  undo(): Promise<void>;
}

/** UsageError, with nothing changed, when there is no such snapshot or it cannot be gone on from. */
export async function forkRun(fork: Fork): Promise<Forked> {
  const { folded, facts, at, run, stateDir, env } = fork;
  const { spec } = folded;
  const change = snapshotOf(facts, { run: spec.run, at });
  const custom = spec.checks.find(({ kind }) => kind === "custom");
  if (custom !== undefined)
    throw new UsageError(`the check ${custom.name} belongs to the program that started the run`, {
      hint: "start a new run with that program",
    });
  const foreign = rosterOf(spec).find(({ agent }) => !isKnown(agent, Object.keys(spec.commands ?? {})));
  if (foreign !== undefined)
    throw new UsageError(`the agent ${foreign.agent} belongs to the program that started the run`, {
      hint: "start a new run with that program",
    });
  await checkAgents(spec, { env, own: [] });
  const { repository } = spec.workspace;
  const place = { repository, environment: env };
  const name = await freeBranchName(branchSlug(spec.goal), { ...place, prefix: "pawl/" });
  await restoreRun({ spec: spec.workspace, run: spec.run, lane: MAIN_LANE, stateDir, at, branch: name });
  const ask = async (what: string): Promise<string> =>
    (await userGit(["rev-parse", "--verify", what], { cwd: repository, environment: env })).stdout.toString().trim();
  const commit = await ask(`refs/heads/${name}`);
  const dropBranch = async (): Promise<void> =>
    void (await userGit(["update-ref", "-d", `refs/heads/${name}`, commit], { cwd: repository, environment: env }));
  try {
    const made = await createWorktree({ ...place, stateDir, name: run, run, branch: async () => name });
    const undo = async (): Promise<void> => {
      await made.undo();
      await dropBranch();
    };
    const planned = newSpec(fork, { change, path: made.path, branch: name });
    const base = { commit, tree: await ask(`${commit}^{tree}`), branch: folded.base.branch, detached: false };
    return { ...(await withConversation(planned, fork)), base, warnings: made.warnings, undo };
  } catch (error) {
    await dropBranch();
    throw error;
  }
}

function snapshotOf(facts: readonly Fact[], { run, at }: { run: string; at: number }): FactOf<"change-recorded"> {
  const all = facts.filter((fact) => fact.type === "change-recorded");
  const found = all.findLast(({ snapshot }) => snapshot === at);
  if (found !== undefined && found.refused === undefined) return found;
  throw new UsageError(`run ${run} has no snapshot ${at}`, {
    hint: all.length === 0 ? "it has none" : `it has 0 to ${all.at(-1)?.snapshot}: pawl restore ${run} --list`,
  });
}

function newSpec(
  { folded, facts, run, at, model }: Fork,
  { change, path, branch }: { change: FactOf<"change-recorded">; path: string; branch: string },
): RunSpec {
  const { spec } = folded;
  const named = model === undefined ? {} : { model };
  const [first, ...rest] = spec.mix?.rotate ?? [];
  const suspicions = suspicionsOf(facts, change);
  const before = redBeforeOf(folded, at);
  return {
    ...spec,
    run,
    workspace: { ...spec.workspace, path, branch, commit: "branch", allowDirty: false },
    agent: { ...spec.agent, ...named },
    ...(spec.mix === undefined || first === undefined
      ? {}
      : { mix: { ...spec.mix, rotate: [{ ...first, ...named }, ...rest] } }),
    fork: {
      run: spec.run,
      snapshot: at,
      iteration: change.iteration,
      ...(suspicions.length === 0 ? {} : { suspicions }),
      ...(before === undefined ? {} : { redBefore: before }),
    },
  };
}

/** What the agent broke until the snapshot was not red before. */
function redBeforeOf(folded: RunState, at: number): Record<string, string[]> | undefined {
  if (at === 0) return folded.spec.fork?.redBefore;
  return Object.fromEntries(folded.spec.checks.map(({ name }) => [name, [...redBefore(folded, name)]]));
}

/** The new run takes the snapshot for its base, and would not see them any more. */
function suspicionsOf(facts: readonly Fact[], { judged }: FactOf<"change-recorded">): string[] {
  const ends = facts.filter((fact) => fact.type === "check-end" && fact.tree === judged) as FactOf<"check-end">[];
  const told = ends.flatMap(({ verdict }) => ("evidence" in verdict ? verdict.evidence.suspicions : []));
  const before = facts.find((fact) => fact.type === "run-start")?.spec.fork?.suspicions ?? [];
  return [...new Set([...before, ...told])];
}

async function withConversation(
  spec: RunSpec,
  { folded, at, stateDir }: Fork,
): Promise<Pick<Forked, "spec" | "fresh">> {
  const found = mainLane(folded).marks.get(at);
  if (spec.fork === undefined || found === undefined) return { spec, fresh: `at snapshot ${at} there is none` };
  const { agent = folded.spec.agent.name, ...mark } = found;
  if (agent !== spec.agent.name) return { spec, fresh: `that of snapshot ${at} is one of ${agent}'s` };
  const why = await takeConversation({
    ref: mark.ref,
    from: agentHome(stateDir, { run: folded.run, lane: MAIN_LANE }),
    to: agentHome(stateDir, { run: spec.run, lane: MAIN_LANE }),
    workspace: spec.workspace.path,
    agent: spec.agent,
  });
  if (why !== undefined) return { spec, fresh: why };
  return { spec: { ...spec, fork: { ...spec.fork, mark: { agent, ...mark } } }, fresh: undefined };
}
