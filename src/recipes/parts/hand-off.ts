/** For a session that does not know what went before. */
import type { MakePart } from "../../loop/actions.ts";
import { mainLane, type LaneState, type RunState } from "../../loop/state.ts";
import { isOpening, KIB, quote } from "./text.ts";

export const handOff: MakePart = (state, turn) => ({
  name: "hand-off",
  text: isOpening(turn) ? note(state, mainLane(state)) : "",
  capBytes: 6 * KIB,
});

function note(state: RunState, lane: LaneState): string {
  if (lane.iteration === 0) return "";
  const why = lane.stale === undefined ? "" : `\n\nWhy you start afresh: ${lane.stale.why}.`;
  const last = lane.lastText === "" ? "" : `\n\nThe last words of the one before you:\n\n${quote(lane.lastText)}`;
  const rounds = state.recent.map(
    (r) =>
      `- iteration ${r.n}: ${r.files} files changed, ${r.verdicts.map((v) => `${v.check} ${v.is}`).join(", ") || "no checks"}`,
  );
  return `## Hand-off\n\nEarlier iterations of this run worked on the files you see.${why}\n\n${rounds.join("\n")}${last}`;
}
