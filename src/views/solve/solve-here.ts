/** A question, from its words to its answer: `pawl solve`. */
import { openDriverState } from "../../compose.ts";
import { EXIT } from "../../errors.ts";
import { currentOwner } from "../../platform/owner.ts";
import { lockWorkspace, type Lock } from "../../workspace/lock.ts";
import { outliveReaders } from "../cli/outlive-readers.ts";
import { print } from "../cli/output.ts";
import type { Loudness } from "../terminal.ts";
import { beginSolve } from "./begin-solve.ts";
import { solveHeader } from "./header.ts";
import { planSolve, type SolveAsked } from "./plan-solve.ts";
import { presentAnswer } from "./present.ts";

export interface SolveRequest extends SolveAsked {
  json: boolean;
  dryRun: boolean;
  loudness: Loudness;
}

/** Returns the exit code. */
export async function solveHere(request: SolveRequest): Promise<number> {
  const { env, json, loudness, dryRun } = request;
  const { spec, files, resolved } = await planSolve(request);
  if (dryRun) {
    print(json ? JSON.stringify(spec) : solveHeader(spec));
    return EXIT.ok;
  }
  outliveReaders();
  const state = await openDriverState(env);
  const { run } = spec;
  let lock: Lock | undefined;
  try {
    const base = await beginSolve(state, { spec, files }, (path) => {
      lock = lockWorkspace({ path, stateDir: state.dir, owner: currentOwner() });
    });
    if (loudness !== "quiet") process.stderr.write(`${solveHeader(spec)}\n`);
    const trustPromise = resolved.settings["trust-promise"];
    const { driveHere } = await import("../cli/drive.ts");
    return await driveHere({
      run,
      start: { spec, base },
      env,
      state,
      json: false,
      loudness,
      trustPromise,
      present: (ended) => presentAnswer(ended, { blobs: state.blobs, json, trustPromise }),
    }).catch(async (error: unknown) => {
      const { takeBack } = await import("../../compose/forget.ts");
      await takeBack(state, spec, error);
      throw error;
    });
  } finally {
    lock?.release();
    state.close();
  }
}
