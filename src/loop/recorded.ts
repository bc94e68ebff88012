/** The fact of a snapshot. */
import type { NewFact } from "../events.ts";
import type { Snapshot } from "../ports.ts";

export type Taken = Snapshot;

export function recorded(
  taken: Taken,
  about: { lane: string; iteration: number; n: number; by: "agent" | "user" },
): NewFact {
  const { flagged, ...said } = taken;
  const { lane, iteration, n, by } = about;
  return {
    type: "change-recorded",
    lane,
    iteration,
    snapshot: n,
    by,
    ...said,
    // What a person changes is theirs to know.
    ...(flagged.length === 0 || by === "user" ? {} : { flagged }),
  };
}
