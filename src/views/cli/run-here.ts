/** A new run, from its words to its exit code: `pawl run` and `pawl demo` are both this. */
import type { Flags } from "../../config/settings.ts";
import { openDriverState, openState, runFence, startAhead, type Environment, type State } from "../../compose.ts";
import type { RunFence } from "../../compose/fence.ts";
import { readAhead } from "../../compose/instructions.ts";
import { EXIT } from "../../errors.ts";
import { currentOwner } from "../../platform/owner.ts";
import { lockWorkspace } from "../../workspace/lock.ts";
import { missingIn } from "../../workspace/not-installed.ts";
import { worktreePath } from "../../workspace/worktrees.ts";
import type { Loudness } from "../terminal.ts";
import { begunOn } from "./begun-on.ts";
import { printDryRun } from "./dry-run.ts";
import { header } from "./header.ts";
import { oneLine } from "../plain.ts";
import { outliveReaders } from "./outlive-readers.ts";
import { printFact } from "./print-fact.ts";
import { inPlace } from "./in-place.ts";
import { watchSignals } from "./signals.ts";
import { begin, planRun, type Planned } from "./start-run.ts";

const MAX_WARNING_CHARS = 500;

export interface RunRequest {
  goal: string;
  /** The file it was read from. */
  goalFile?: string;
  /** What came on stdin beside the goal. */
  context?: string;
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
  if (request.dryRun) return await dryRun(planned, request);
  outliveReaders();
  readAhead({ repository: planned.spec.workspace.repository, commit: planned.base.commit, env });
  const state = await openDriverState(env);
  try {
    await tellBase(state, { planned, env });
    const place = await inPlace(planned, { worktree, stateDir: state.dir, env });
    const { spec } = place.planned;
    for (const warning of [...place.warnings, ...notInstalled(spec)])
      process.stderr.write(`pawl: ${oneLine(warning, { max: MAX_WARNING_CHARS })}\n`);
    const lock = await place.orUndo(() =>
      lockWorkspace({ path: spec.workspace.path, stateDir: state.dir, owner: currentOwner() }),
    );
    try {
      await place.orUndo(() => begin(state, place.planned));
      if (json) for (const fact of await state.journal.read(spec.run)) printFact(fact);
      else if (loudness !== "quiet")
        process.stderr.write(
          `${header(spec, { ...request, ...place.planned, wantedFence: planned.resolved.settings.fence === "auto" })}\n`,
        );
      return await driveNew(place.planned, { ...request, state }).catch(async (error: unknown) => {
        const { takeBack } = await import("../../compose/forget.ts");
        if (await takeBack(state, spec, error)) await place.undo();
        throw error;
      });
    } finally {
      lock.release();
    }
  } finally {
    state.close();
  }
}

/** Where it would work is said as it would be; what it would read is where the user is now. */
async function dryRun(planned: Planned, { env, worktree, json }: RunRequest): Promise<number> {
  const { spec } = planned;
  const state = openState(env);
  try {
    await tellBase(state, { planned, env });
  } finally {
    state.close();
  }
  const { repository, path: memosIn } = spec.workspace;
  const path = worktree === undefined ? memosIn : worktreePath(repository, worktree === true ? spec.run : worktree);
  await printDryRun({ ...planned, spec: { ...spec, workspace: { ...spec.workspace, path } } }, { json, memosIn });
  return EXIT.ok;
}

async function tellBase(state: State, { planned, env }: { planned: Planned; env: Environment }): Promise<void> {
  const { spec, base } = planned;
  const words = await begunOn(state, { base, repository: spec.workspace.repository, environment: env });
  if (words !== undefined) process.stderr.write(`pawl: ${oneLine(words, { max: MAX_WARNING_CHARS })}\n`);
}

/** Told before anything is paid for. */
function notInstalled({ setup, checks, workspace }: Planned["spec"]): string[] {
  const missing = setup === undefined && checks.length > 0 ? missingIn(workspace.path) : undefined;
  return missing === undefined ? [] : [missing];
}

/** The agent's program is started first: what driving needs is loaded while that starts. */
async function driveNew(
  { spec, base, resolved }: Planned,
  { env, state, json, loudness }: RunRequest & { state: State },
): Promise<number> {
  const { run } = spec;
  const start = { spec, base };
  const signals = watchSignals({ run, inbox: state.inbox });
  const begun = { run, env, state, start };
  let fence: RunFence | undefined;
  let ahead: Awaited<ReturnType<typeof startAhead>> | undefined;
  try {
    fence = await runFence(begun);
    ahead = await startAhead(begun, { fence });
    const { driveHere } = await import("./drive.ts");
    const trustPromise = resolved.settings["trust-promise"];
    return await driveHere({ run, start, env, state, json, loudness, trustPromise, begun: { signals, ahead, fence } });
  } finally {
    await ahead?.session.close();
    await fence?.close();
    signals.close();
  }
}
