/** What became of protected files, kept for the prompt, the decision and the summary. Pure but for the fold's state. */
import type { FactOf, PathChange } from "../events.ts";
import type { RunState } from "./state.ts";

const MAX_KEPT_UNDOINGS = 20;
const MAX_KEPT_PATHS = 20;

/** One undoing of an agent's change. */
export interface Undoing {
  iteration: number;
  paths: PathChange[];
  /** Of all. */
  count: number;
  /** The ref below the lane's own with the agent's version. */
  kept: string | undefined;
}

export interface ProtectedState {
  undone: Undoing[];
  /** Tests of the base that differ in the last tree, where that is allowed. */
  testsChanged: PathChange[];
  /**
   * Protected files that changed between turns. A person may have done it, or a process that the agent left running:
   * nobody can tell, so a person has to.
   */
  doubts: string[];
  /** Protected files that changed while the run had ended: whoever went on with it may have looked, or not. */
  whileEnded?: string[];
  /** Some of these are tests: they are not those any more that the baseline saw. */
  testsFollowed?: true;
}

export function recordProtected(
  state: RunState,
  { fact, headEpoch }: { fact: FactOf<"change-recorded">; headEpoch: number | undefined },
): void {
  const { iteration, kept, followed = [], testsChanged = [] } = fact;
  const undone = fact.protected ?? [];
  const known = state.protected;
  if (known === undefined && undone.length + followed.length + testsChanged.length === 0) return;
  const before = known ?? { undone: [], testsChanged: [], doubts: [] };
  const one = { iteration, paths: undone.slice(0, MAX_KEPT_PATHS), count: undone.length, kept };
  // Before the first turn there is no agent, nor while a run has ended: who goes on with it has looked.
  const whileEnded = state.resumed?.type === "run-reopened" && (headEpoch ?? 0) < fact.epoch;
  const changed = iteration === 0 ? [] : followed.map(({ path, how }) => `${path} (${how})`);
  const toTell = [...new Set([...(before.whileEnded ?? []), ...(whileEnded ? changed : [])])].slice(0, MAX_KEPT_PATHS);
  state.protected = {
    undone: undone.length === 0 ? before.undone : [...before.undone, one].slice(-MAX_KEPT_UNDOINGS),
    testsChanged: testsChanged.slice(0, MAX_KEPT_PATHS),
    ...(before.testsFollowed === true || fact.testsFollowed === true ? { testsFollowed: true } : {}),
    ...(toTell.length === 0 ? {} : { whileEnded: toTell }),
    doubts: [...new Set([...before.doubts, ...(whileEnded ? [] : changed)])].slice(0, MAX_KEPT_PATHS),
  };
}

/** A person who goes on with the run has looked. */
export function settleDoubts(state: RunState): void {
  if (state.protected !== undefined) state.protected = { ...state.protected, doubts: [] };
}

/** What keeps the outcome from being `verified`. */
export function doubtWords({ protected: known }: RunState): string[] {
  if (known === undefined || known.doubts.length === 0) return [];
  return [
    `files that judge the work were changed outside of a turn, or stand in a commit that was made during one: by you, by the agent before that commit, or by a process that it left running: ${known.doubts.join(", ")}`,
  ];
}

/** What a person must know of an end that is `verified`. */
export const notCompared = ({ protected: known }: RunState): string[] => [
  ...(known?.testsFollowed === true
    ? ["tests were changed between turns: they were not compared with those before the run"]
    : []),
  ...(known?.whileEnded === undefined
    ? []
    : [`files that judge the work were changed while the run had ended: ${known.whileEnded.join(", ")}`]),
];
