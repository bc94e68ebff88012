/** Which of its changes the agent does not find in the files any more, why, and what it can do instead. */
import type { MakePart } from "../../loop/actions.ts";
import { lastJudgement } from "../../loop/prompt.ts";
import { mainLane } from "../../loop/state.ts";
import { KIB } from "./text.ts";

const MAX_PATHS_SHOWN = 20;
const HOW = { edited: "you changed it", removed: "you removed it", added: "you added it" } as const;

export const putBack: MakePart = (state, turn) => {
  const { protected: undone = [], kept } = lastJudgement(mainLane(state), turn)?.change ?? {};
  return { name: "put-back", text: undone.length === 0 ? "" : words(undone, kept), capBytes: 4 * KIB, always: true };
};

function words(undone: readonly { path: string; how: keyof typeof HOW }[], kept: string | undefined): string {
  const listed = undone.slice(0, MAX_PATHS_SHOWN).map(({ path, how }) => `- ${JSON.stringify(path)}: ${HOW[how]}`);
  const more = undone.length > MAX_PATHS_SHOWN ? [`- and ${undone.length - MAX_PATHS_SHOWN} more`] : [];
  return `## Put back

These files judge the work: tests that were there before, configuration of test runners and CI, scripts. They are as they were before the run again, and what had been added to them is gone:

${[...listed, ...more].join("\n")}

${kept === undefined ? "" : `Your version is kept for a person (${kept}). `}Do not change them again: make the product satisfy them as they are. New tests, in files of their own, are welcome. If one of these files is wrong or has to change for the goal, say so in your final message, with the reason: a person can allow it (--allow-test-changes, --unprotect).`;
}
