/** For a session that does not know what went before: why it is new, where the work stands, what the last one said. */
import type { MakePart } from "../../loop/actions.ts";
import { mainLane, verdictOf, type IterationRecord, type LaneState, type RunState } from "../../loop/state.ts";
import { isOpening, KIB, quote } from "./text.ts";

/** So that what follows keeps its room. */
const MAX_LAST_WORDS_CHARS = 3_000;

export const handOff: MakePart = (state, turn) => ({
  name: "hand-off",
  text: isOpening(turn) ? note(state, mainLane(state)) : "",
  ...(isOpening(turn) ? {} : { silent: "the session goes on" }),
  capBytes: 12 * KIB,
});

function note(state: RunState, lane: LaneState): string {
  if (lane.iteration === 0) return "";
  const sections = [
    `## Hand-off\n\nEarlier iterations of this run, in a conversation you do not see, worked on these files. ${whyFresh(state, lane)}`,
    `The last iterations:\n\n${state.recent.map(roundLine).join("\n")}`,
    standing(state),
    touched(lane),
    lastWords(lane),
  ];
  return sections.filter((text) => text !== "").join("\n\n");
}

function whyFresh({ spec }: RunState, { stale, session }: LaneState): string {
  if (stale !== undefined) return `Why you start afresh: ${stale.why}.`;
  if (spec.agent.context === "fresh") return "Every iteration starts afresh here.";
  return session === undefined
    ? "The conversation before this one could not be gone on with."
    : "The conversation before this one had become too long.";
}

function roundLine({ n, files, added, removed, verdicts, rule }: IterationRecord): string {
  const checks = verdicts.map(({ check, is }) => `${check} ${is}`).join(", ");
  return `- iteration ${n}: ${files} files changed (+${added} -${removed}), ${checks === "" ? "no checks" : checks}; ${rule}`;
}

function standing(state: RunState): string {
  const { tasks, memory } = state;
  const done = tasks?.list.filter(({ is, depth }) => depth === 0 && is === "done").length ?? 0;
  const all = tasks?.list.filter(({ depth }) => depth === 0).length ?? 0;
  const failed = [...memory.lessons.values()].filter(({ failures }) => failures > 0).length;
  const lines = [
    tasks === undefined ? "" : `- tasks done: ${done} of ${all}`,
    ...criteriaLines(state),
    failed === 0 ? "" : `- approaches that failed: ${failed}, see above`,
  ].filter((line) => line !== "");
  return lines.length === 0 ? "" : `Where it stands:\n\n${lines.join("\n")}`;
}

/** What the checks that are bound to each said of the last change that was judged. */
function criteriaLines(state: RunState): string[] {
  const { criteria } = state.spec;
  if (criteria.length === 0) return [];
  const tree = mainLane(state).change?.judged ?? mainLane(state).head?.judged ?? "";
  const passes = (check: string): boolean => verdictOf(state, tree, check)?.is === "pass";
  const open = criteria.flatMap(({ checks }, at) => (checks.length > 0 && checks.every(passes) ? [] : [at + 1]));
  const which = open.length === 0 ? "" : `; not yet: ${open.join(", ")}`;
  return [`- acceptance criteria verified: ${criteria.length - open.length} of ${criteria.length}${which}`];
}

function touched({ touched: paths }: LaneState): string {
  if (paths.length === 0) return "";
  return `Files changed so far, the latest last:\n\n${paths.map((path) => `- ${JSON.stringify(path)}`).join("\n")}`;
}

function lastWords({ lastText }: LaneState): string {
  if (lastText.trim() === "") return "";
  return `The last words of the one before you:\n\n${quote(lastText.slice(-MAX_LAST_WORDS_CHARS))}`;
}
