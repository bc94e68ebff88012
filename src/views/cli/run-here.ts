/** A new run, from its words to its exit code: `pawl run` and `pawl demo` are both this. */
import { copyFileSync, lstatSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { openDriverState, type Environment } from "../../compose.ts";
import { EXIT } from "../../errors.ts";
import { currentOwner } from "../../platform/owner.ts";
import { lockWorkspace } from "../../workspace/lock.ts";
import { createWorktree } from "../../workspace/worktrees.ts";
import type { Loudness } from "../terminal.ts";
import { driveHere, printFact } from "./drive.ts";
import { printDryRun } from "./dry-run.ts";
import { header } from "./header.ts";
import type { Flags } from "./setting-options.ts";
import { begin, planRun, type Planned } from "./start-run.ts";

export interface RunRequest {
  goal: string;
  /** The file it was read from. */
  goalFile?: string;
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
    await printDryRun(planned, { json });
    return EXIT.ok;
  }
  const state = await openDriverState(env);
  try {
    const placed = worktree === undefined ? planned : await inWorktree(planned, { worktree, stateDir: state.dir, env });
    const { spec, resolved } = placed;
    const lock = lockWorkspace({ path: spec.workspace.path, stateDir: state.dir, owner: currentOwner() });
    try {
      await begin(state, placed);
      if (json) for (const fact of await state.journal.read(spec.run)) printFact(fact);
      else if (loudness !== "quiet") process.stderr.write(`${header(spec, request)}\n`);
      const trustPromise = resolved.settings["trust-promise"];
      return await driveHere({ run: spec.run, start: placed, env, state, json, loudness, trustPromise });
    } finally {
      lock.release();
    }
  } finally {
    state.close();
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
  copyMemos(spec.workspace.memos, { from: repository, to: made.path });
  return { ...planned, spec: { ...spec, workspace: { ...spec.workspace, path: made.path } } };
}

/** As they are now, committed or not: the tasks of a run are those that its user sees. */
function copyMemos(memos: readonly string[], { from, to }: { from: string; to: string }): void {
  for (const path of memos) {
    if (lstatSync(join(from, path), { throwIfNoEntry: false })?.isFile() !== true) continue;
    mkdirSync(dirname(join(to, path)), { recursive: true });
    copyFileSync(join(from, path), join(to, path));
  }
}
