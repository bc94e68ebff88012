/**
 * Progress and struggle, measured on trees and failing sets, never on what the agent says. Progress is against the best
 * so far; struggle is a count of iterations in a row with a signal, and the ladder is what is done about it.
 */
import type { Verdict } from "../events.ts";
import type { LaneState } from "./state.ts";

const KEPT_TREES = 8;
const KEPT_COUNTS = 20;
/** One identical tool call this often in a turn is a signal. */
const REPEATED_CALLS = 10;

export interface Best {
  iteration: number;
  snapshot: number;
  tree: string;
  /** Number of failing fingerprints; 0 is all green. */
  failing: number;
  /** Tasks done; 0 without a list. */
  tasks: number;
}

/** The last state of a run, where its end put the best one back instead. */
export interface SetAside {
  /** Of the end. */
  iteration: number;
  snapshot: number;
  salvage: string;
  /** Checks had their say: it is known to be worse. */
  isJudged: boolean;
  /** What the conversation was to be told before. */
  stale: LaneState["stale"];
  /** Why nothing was put back. */
  failed?: string;
}

export interface Track {
  /** The last tree that was better than the base and all before it: what is tried since is a change of it. */
  mark?: string;
  best?: Best | undefined;
  /** Of those that are not the tree before the run: what an end delivers. */
  bestWork?: Best | undefined;
  setAside?: SetAside;
  /** Judged trees of the last iterations, newest last. */
  trees: string[];
  failing: string;
  /** The final text of the last iteration, as it was. */
  text: string;
  /** Iterations in a row with each signal. */
  signals: Record<Signal, number>;
  /** Iterations in a row that left a green tree as it was. */
  still: number;
  /** Iterations in a row with any signal and no progress. */
  struggling: number;
  /** Index of the next rung of the ladder; 0 after progress. */
  rung: number;
  failingCounts: number[];
}

export type Signal = "unchanged" | "same-failure" | "oscillation" | "short-turn" | "same-output" | "repeated-calls";
const SIGNALS: readonly Signal[] = [
  "unchanged",
  "same-failure",
  "oscillation",
  "short-turn",
  "same-output",
  "repeated-calls",
];

/** A run driven again after its end keeps its best, and starts struggling anew. */
export function emptyTrack(before?: Track): Track {
  return {
    ...(before?.best === undefined ? {} : { best: before.best }),
    ...(before?.mark === undefined ? {} : { mark: before.mark }),
    ...(before?.bestWork === undefined ? {} : { bestWork: before.bestWork }),
    ...(before?.setAside === undefined ? {} : { setAside: before.setAside }),
    trees: [],
    failing: "",
    text: "",
    signals: Object.fromEntries(SIGNALS.map((s) => [s, 0])) as Record<Signal, number>,
    still: 0,
    struggling: 0,
    rung: 0,
    failingCounts: [...(before?.failingCounts ?? [])],
  };
}

export interface Measured {
  iteration: number;
  snapshot: number;
  tree: string;
  changed: boolean;
  /** Its turn came to its end, changed nothing, and the tree is green. */
  still: boolean;
  /** It is the tree before the run. */
  isBase: boolean;
  verdicts: readonly Verdict[];
  /** Of the tree before the first turn. */
  baseline: readonly Verdict[];
  /** Tasks done. */
  tasks: number;
  text: string;
  turnMs: number;
  repeatedCalls: number;
  shortTurnMs: number;
}

/** Fingerprints that fail, or undefined where nothing was judged. */
export function failingSet(verdicts: readonly Verdict[]): string[] | undefined {
  const failing: string[] = [];
  let isJudged = false;
  for (const verdict of verdicts) {
    if (verdict.is === "unverifiable" || verdict.is === "skipped") continue;
    isJudged = true;
    if (verdict.is !== "pass") for (const { fingerprint } of verdict.failures) failing.push(fingerprint);
  }
  if (!isJudged) return undefined;
  return failing.length === 0 ? failing : [...new Set(failing)].toSorted();
}

interface Measurement {
  progress: boolean;
  signals: Signal[];
  /** Fingerprints that fail; undefined where nothing was judged. */
  failing: string[] | undefined;
}

/** What this iteration would add, without recording it: `decide` looks at it before the decision is a fact. */
export function measure(track: Track, m: Measured): Measurement {
  const failing = failingSet(m.verdicts);
  const seen = track.trees.includes(m.tree);
  const better =
    m.tasks > (track.best?.tasks ?? 0) ||
    (failing !== undefined && (track.best === undefined || failing.length < track.best.failing));
  const green = failing !== undefined && failing.length === 0;
  // Without a judgement, or with a green one, any tree not seen before is progress: there is no better measure.
  const progress = better || ((failing === undefined || green) && m.changed && !seen);
  if (progress) return { progress, signals: [], failing };
  const [a, b] = [track.trees.at(-1), track.trees.at(-2)];
  const oscillating = m.changed && b === m.tree && a !== m.tree && track.trees.at(-3) === a;
  const signals = SIGNALS.filter((signal) => {
    switch (signal) {
      case "unchanged":
        return !m.changed;
      case "same-failure":
        return failing !== undefined && failing.length > 0 && track.failing === failing.join("\n");
      case "oscillation":
        return oscillating;
      case "short-turn":
        return m.turnMs < m.shortTurnMs;
      case "same-output":
        return m.text !== "" && isAlike(m.text, track.text);
      case "repeated-calls":
        return m.repeatedCalls >= REPEATED_CALLS;
    }
  });
  return { progress, signals, failing };
}

/** Whether it was progress. */
export function trackIteration(track: Track, m: Measured): boolean {
  const { progress, signals, failing } = measure(track, m);
  for (const signal of SIGNALS) track.signals[signal] = signals.includes(signal) ? track.signals[signal] + 1 : 0;
  track.struggling = signals.length > 0 ? track.struggling + 1 : 0;
  track.still = m.still ? stillWith(track, m.tree) : 0;
  if (progress) track.rung = 0;
  if (progress && isAbove(track, m, failing)) track.mark = m.tree;
  keepBest(track, m, failing);
  track.text = m.text;
  track.trees.push(m.tree);
  if (track.trees.length > KEPT_TREES) track.trees.shift();
  return progress;
}

/** The first tree to be judged is progress, and may be no better than the base. */
function isAbove({ best }: Track, { tasks, baseline }: Measured, failing: string[] | undefined): boolean {
  if (tasks > (best?.tasks ?? 0) || failing?.length === 0) return true;
  return failing !== undefined && failing.length < (failingSet(baseline)?.length ?? best?.failing ?? 0);
}

/** How many iterations in a row, with this one, left this green tree as it was. */
export const stillWith = ({ still, trees }: Track, tree: string): number => 1 + (trees.at(-1) === tree ? still : 0);

export function trackBest(track: Track, m: Measured): void {
  keepBest(track, m, failingSet(m.verdicts));
}

function keepBest(track: Track, m: Measured, failing: string[] | undefined): void {
  if (failing !== undefined) {
    track.failing = failing.join("\n");
    track.failingCounts.push(failing.length);
    if (track.failingCounts.length > KEPT_COUNTS) track.failingCounts.shift();
  }
  track.best = better(track.best, m, failing);
  if (!m.isBase) track.bestWork = better(track.bestWork, m, failing);
}

/** More tasks done is better; of as many, fewer failures; of equals, the newer. */
function better(best: Best | undefined, m: Measured, failing: string[] | undefined): Best | undefined {
  if (failing === undefined && m.tasks <= (best?.tasks ?? 0)) return best;
  const now = {
    iteration: m.iteration,
    snapshot: m.snapshot,
    tree: m.tree,
    failing: failing?.length ?? 0,
    tasks: m.tasks,
  };
  const order = best === undefined ? 1 : now.tasks - best.tasks || best.failing - now.failing;
  return order > 0 || (order === 0 && m.changed) ? now : best;
}

/** The next rung to try is the one after the rung that was taken. */
export function trackDecision(track: Track, rule: string, ladder: readonly string[]): void {
  if (rule.startsWith("struggle:")) track.rung = ladder.indexOf(rule.slice("struggle:".length)) + 1;
}

/** Equal but for numbers, white space and case. */
const isAlike = (one: string, other: string): boolean => one === other || plain(one) === plain(other);

const plain = (text: string): string => text.toLowerCase().replace(/[\d\s]+/g, " ");
