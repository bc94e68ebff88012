/** What a reviewer made of the last change: in the first prompt after it. */
import type { MakePart } from "../../loop/actions.ts";
import { reviewStand } from "../../loop/review.ts";
import { mainLane, type LaneState, type RunState } from "../../loop/state.ts";
import { KIB, quote } from "./text.ts";
import { counted } from "../../plural.ts";

const MAX_WORDS_CHARS = 3_000;

export const review: MakePart = (state, { attempt }) => {
  const lane = mainLane(state);
  const last = attempt === 1 ? lane : { review: lane.lastReview, change: lane.last?.change };
  return { name: "review", text: words(state, last), capBytes: 6 * KIB, always: true };
};

const TITLE = "## What the review of your change said";

function words(state: RunState, last: Pick<LaneState, "review" | "change">): string {
  const { ended, mended = 0 } = last.review ?? {};
  const stand = reviewStand(state, last);
  if (ended === undefined || stand.is === "none") return "";
  const changed =
    mended === 0 ? "It changed no file." : `It changed ${counted(mended, "file")}: not all is as you left it.`;
  const said = ended.text.trim() === "" ? "" : `\n\n${quote(ended.text.slice(-MAX_WORDS_CHARS))}`;
  switch (stand.is) {
    case "rejected":
      return `${TITLE}\n\nIt rejects the change as it is. ${changed} Mend what it names:${said}`;
    case "failed":
    case "due":
      return `${TITLE}\n\nIt did not come to its end. ${changed}`;
    case "passed":
      return `${TITLE}\n\n${changed}${said}`;
  }
}
