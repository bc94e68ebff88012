/**
 * Notes and knowledge: what the agent writes down for later iterations and later runs. A session is shown each once, and
 * again only when it was changed by somebody else: what it wrote itself it knows.
 */
import type { MakePart, Memo, TurnAction } from "../../loop/actions.ts";
import { sessionOf } from "../../loop/sessions.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import type { RunSpec } from "../../spec.ts";
import { isOpening, KIB, quote } from "./text.ts";

interface About {
  name: "notes" | "knowledge";
  title: string;
  /** What the file is for. */
  keep: string;
  /** Which end of a long file is shown. */
  end: "first" | "last";
}

const NOTES: About = {
  name: "notes",
  title: "Notes",
  keep: "They are for whoever works on this goal after you and knows nothing else: what comes next, what was decided and why, what turned out not to work. Before you finish, bring them up to date. Keep them short; rewrite instead of appending; no lists of completed work, nothing that the files or the history of the repository show.",
  end: "last",
};
const KNOWLEDGE: About = {
  name: "knowledge",
  title: "Durable project knowledge",
  keep: "It outlives this run: only facts about this project that cost effort to find out and will be needed again (a trap, a command that works, a rule nobody wrote down). Correct what is wrong; add nothing about the current goal, nothing that the repository shows.",
  end: "first",
};

export const notes: MakePart = (state, turn, context) => part(NOTES, context.notes, { state, turn });
export const knowledge: MakePart = (state, turn, context) => part(KNOWLEDGE, context.knowledge, { state, turn });

function part(
  about: About,
  memo: Memo | undefined,
  scene: { state: RunState; turn: TurnAction },
): ReturnType<MakePart> {
  const { name } = about;
  const { state, turn } = scene;
  const file = state.spec[name];
  // Each line is indented, so a file of short lines takes more room than it has bytes.
  const capBytes = 2 * (file?.maxBytes ?? 0) + 2 * KIB;
  if (file === undefined || memo === undefined) return { name, text: "", capBytes };
  if (isOpening(turn)) return { name, text: `${shown(about, memo, file)}\n\n${about.keep}`, capBytes };
  // Nobody saw the end of the turn before: what this session knows is not known.
  const agent = turn.seat?.agent ?? state.spec.agent.name;
  const known = sessionOf(mainLane(state), agent)?.memos?.[name];
  if (known === memo.hash) return { name, text: "", silent: "unchanged since the session knew it", capBytes };
  return {
    name,
    text: shown(about, memo, file, known === undefined ? "" : "Somebody else has changed it. "),
    capBytes,
  };
}

function shown(
  { title, end }: About,
  { text, bytes }: Memo,
  { file, maxBytes }: NonNullable<RunSpec["notes"]>,
  news = "",
): string {
  if (text.trim() === "")
    return `## ${title}\n\n${news}\`${file}\` is empty or missing: write it when there is something to keep.`;
  const cut = bytes > maxBytes ? `, its ${end} ${maxBytes} of ${bytes} bytes (shorten it)` : "";
  return `## ${title}\n\n${news}\`${file}\`${cut}:\n\n${quote(text)}`;
}
