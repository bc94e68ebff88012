/** What `pawl resume` would refuse, looked at before it is offered: files that are gone, or those of other work. */
import { existsSync } from "node:fs";
import { TerminalError, UsageError } from "../../errors.ts";
import { isBetween } from "../../loop/iterate.ts";
import { MAIN_LANE } from "../../loop/state.ts";
import { ledAway } from "../../workspace/elsewhere.ts";
import { laneOf } from "../../workspace/runs.ts";
import { quoted } from "../summary.ts";
import type { Read } from "./reading.ts";
import type { InTheWay } from "./status-view.ts";

export async function inTheWay({ folded, row, state }: Read): Promise<InTheWay | undefined> {
  const { run, spec } = folded;
  const list = `pawl restore ${run} --list`;
  if (!existsSync(spec.workspace.path))
    return { command: list, why: "the workspace is gone; what is kept of its work", isFinal: true };
  try {
    const lane = laneOf({ spec: spec.workspace, run: row.run, lane: MAIN_LANE, stateDir: state.dir });
    const isApart = spec.fence.kind !== "none";
    const led = await ledAway({ ...lane, isApart }, isBetween(folded) ? "between" : "within");
    if (led === undefined) return undefined;
    return { command: led.back === undefined ? list : ["git", ...led.back.map(quoted)].join(" "), why: led.says };
  } catch (error) {
    // What cannot be looked at is told by the command itself.
    if (error instanceof UsageError || error instanceof TerminalError) return undefined;
    throw error;
  }
}
