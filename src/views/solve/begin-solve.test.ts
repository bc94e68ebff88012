import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { solveSpec } from "../../../test/support/solve-spec.ts";
import { tempDir } from "../../../test/support/temp.ts";
import { openDriverState } from "../../compose.ts";
import { UsageError } from "../../errors.ts";
import { runDir, SCRATCH } from "../../platform/paths.ts";
import { beginSolve } from "./begin-solve.ts";

it("leaves nothing of a run that does not come to be: no folder, no fact", async () => {
  const state = await openDriverState({ PAWL_HOME: join(tempDir("state"), "pawl") });
  try {
    const folder = runDir(state.dir, "r-never");
    const path = join(folder, SCRATCH);
    const { workspace, ...spec } = solveSpec({ run: "r-never" });
    const planned = { spec: { ...spec, workspace: { ...workspace, path } }, files: [] };
    const seen: boolean[] = [];
    const taken = beginSolve(state, planned, () => {
      seen.push(existsSync(path));
      throw new UsageError("somebody else has it");
    });
    await expect(taken).rejects.toThrow("somebody else has it");
    expect({ seen, left: existsSync(folder) }).toEqual({ seen: [true], left: false });
    expect(await state.journal.runs()).toEqual([]);
  } finally {
    state.close();
  }
});
