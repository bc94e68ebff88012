/** A new run, from its words to its exit code: `pawl run` and `pawl demo` are both this. */
import { openDriverState, startAhead, type Environment, type State } from "../../compose.ts";
import { EXIT } from "../../errors.ts";
import { currentOwner } from "../../platform/owner.ts";
import { lockWorkspace } from "../../workspace/lock.ts";
import { createWorktree } from "../../workspace/worktrees.ts";
import type { Loudness } from "../terminal.ts";
import { printDryRun } from "./dry-run.ts";
import { header } from "./header.ts";
import { printFact } from "./print-fact.ts";
import type { Flags } from "./setting-options.ts";
import { watchSignals } from "./signals.ts";
import { begin, planRun, type Planned } from "./start-run.ts";

export interface RunRequest {
  goal: string;
  flags: Flags;
  env: Environment;
  cwd: string;
  /** Its name; true: the run's own. */
  worktree: string | true | undefined;
  json: boolean;
  dryRun: boolean;
  loudness: Loudness;
}

export async function runHere(request: RunRequest): Promise<number> {
  const { env, worktree, json, loudness } = request;
  const planned = await planRun({ ...request, elsewhere: worktree !== undefined });
  if (request.dryRun) {
    printDryRun(planned, { json });
    return EXIT.ok;
  }
  const state = await openDriverState(env);
  try {
    const placed = worktree === undefined ? planned : await inWorktree(planned, { worktree, stateDir: state.dir, env });
    const { spec } = placed;
    const lock = lockWorkspace({ path: spec.workspace.path, stateDir: state.dir, owner: currentOwner() });
    try {
      await begin(state, placed);
      if (json) for (const fact of await state.journal.read(spec.run)) printFact(fact);
      else if (loudness !== "quiet") process.stderr.write(`${header(spec)}\n`);
      return await driveNew(placed, { ...request, state });
    } finally {
      lock.release();
    }
  } finally {
    state.close();
  }
}

/** The agent's program is started first: what driving needs is loaded while that starts. */
async function driveNew(
  { spec, base, resolved }: Planned,
  { env, state, json, loudness }: RunRequest & { state: State },
): Promise<number> {
  const { run } = spec;
  const start = { spec, base };
  const signals = watchSignals({ run, inbox: state.inbox });
  let ahead: Awaited<ReturnType<typeof startAhead>> | undefined;
  try {
    ahead = await startAhead({ run, env, state, start });
    const { driveHere } = await import("./drive.ts");
    const trustPromise = resolved.settings["trust-promise"];
    return await driveHere({ run, start, env, state, json, loudness, trustPromise, begun: { signals, ahead } });
  } finally {
    await ahead?.session.close();
    signals.close();
  }
}

interface Place {
  worktree: string | true;
  stateDir: string;
  env: Environment;
}

async function inWorktree(planned: Planned, { worktree, stateDir, env }: Place): Promise<Planned> {
  const { spec } = planned;
  const { repository } = spec.workspace;
  const name = worktree === true ? spec.run : worktree;
  const made = await createWorktree({ repository, stateDir, environment: env, name });
  return { ...planned, spec: { ...spec, workspace: { ...spec.workspace, path: made.path } } };
}
