/** For a session that does not know what went before, or was away: why, where the work stands, what the last one said. */
import type { MakePart, TurnAction } from "../../loop/actions.ts";
import { mainLane, verdictOf, type IterationRecord, type LaneState, type RunState } from "../../loop/state.ts";
import { isOpening, isReturning, KIB, quote } from "./text.ts";
import { counted } from "../../plural.ts";

/** So that what follows keeps its room. */
const MAX_LAST_WORDS_CHARS = 3_000;

export const handOff: MakePart = (state, turn) => {
  const isTold = isOpening(turn) || isReturning(turn);
  return {
    name: "hand-off",
    text: isTold ? note(state, mainLane(state), turn) : "",
    ...(isTold ? {} : { silent: "the session goes on" }),
    capBytes: 12 * KIB,
  };
};

function note(state: RunState, lane: LaneState, turn: TurnAction): string {
  const { fork } = state.spec;
  if (lane.iteration === 0)
    return fork === undefined
      ? ""
      : `## Hand-off\n\nThis run was made from another one, ${fork.run}, as that was after its iteration ${fork.iteration}: the files are those of then.`;
  const sections = [
    `## Hand-off\n\n${opening(state, lane, turn)}`,
    state.recent.length === 0 ? "" : `The last iterations:\n\n${state.recent.map(roundLine).join("\n")}`,
    standing(state),
    touched(lane),
    lastWords(lane),
  ];
  return sections.filter((text) => text !== "").join("\n\n");
}

function opening(state: RunState, lane: LaneState, turn: TurnAction): string {
  if (turn.returning !== undefined)
    return `Since your last turn, in iteration ${turn.returning}, ${others(lane, turn)} worked on these files: they are not as you left them. Look at them again before you go on.`;
  return `Earlier work of this run, in a conversation you do not see, is in these files. ${whyFresh(state, lane, turn)}`;
}

/** Who took the last turn, where that was another agent. */
const others = ({ session, seat }: LaneState, { seat: own }: TurnAction): string =>
  seat !== undefined && session?.agent !== own?.agent ? `others (the last of them ${seat})` : "others";

function whyFresh(state: RunState, lane: LaneState, { seat }: TurnAction): string {
  const { spec } = state;
  const { stale, session } = lane;
  if (seat !== undefined && lane.seat !== undefined && lane.seat !== seat.name && session?.agent !== seat.agent) {
    const bench = state.seats.get(lane.seat)?.bench;
    const why = bench === undefined ? "" : ` It cannot go on now (${bench.reason}).`;
    return `It was done by another agent, ${lane.seat}; now it is yours.${why}`;
  }
  if (stale !== undefined) return `Why you start afresh: ${stale.why}.`;
  if (spec.agent.context === "fresh") return "Every iteration starts afresh here.";
  return session === undefined
    ? "The conversation before this one could not be gone on with."
    : "The conversation before this one had become too long.";
}

function roundLine({ n, files, added, removed, verdicts, rule, agents }: IterationRecord): string {
  const checks = verdicts.map(({ check, is }) => `${check} ${is}`).join(", ");
  const by = agents === undefined ? "" : ` by ${agents.join(", ")}`;
  return `- iteration ${n}${by}: ${counted(files, "file")} changed (+${added} -${removed}), ${checks === "" ? "no checks" : checks}; ${rule}`;
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
