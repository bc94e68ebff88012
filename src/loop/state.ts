/**
 * Where a run is: the shape of the fold of its facts, and the only definition of it. Only `fold.ts` writes to it.
 * Everything kept is bounded, so that memory does not grow with history.
 */
import type { Directive, FactOf, Misplaced, Outcome, Verdict } from "../events.ts";
import type { Base } from "../ports.ts";
import type { FenceSpec, Limits, RunSpec } from "../spec.ts";
import { NO_FENCE, NOTHING_PROTECTED, PLAIN_VERDICTS } from "../verdict-defaults.ts";
import { noSpending, type Spent } from "./budget.ts";
import type { SpentBy } from "./fold-seats.ts";
import { noHooks, type HookState } from "./hooks.ts";
import { noneFailing, type Failing } from "./failing.ts";
import { emptyMemory, type FailureMemory } from "./memory.ts";
import { emptyTrack, type Track } from "./progress.ts";
import type { ProtectedState } from "./protected.ts";
import type { Proof } from "./proof.ts";
import { isForPrompt, type QuestionState } from "./questions.ts";
import type { SeatState } from "./seats.ts";
import { noAttempts, type SolveState } from "./solve-state.ts";
import type { TaskCounts, TaskState } from "./tasks.ts";

export const MAIN_LANE = "main";
/** The rule of an end at which the user does not hold the work any more: it is handed over again when reopened. */
export const WORK_MISSING = "work-missing";

export interface DirectiveState {
  id: string;
  directive: Directive;
  source: string;
  receivedSeq: number;
  /** The turn that was open when it came. */
  duringTurn: number | null;
  delivered?: { how: string; turn: number | null };
  acknowledged?: boolean;
}

export interface SessionState {
  /** Whose it is. */
  agent: string;
  ref: string;
  /** Turns that reached the model in it. */
  turns: number;
  contextTokens: number;
  lastMessageId: string | null;
  /** Hashes of notes and knowledge as this session last knew them. */
  memos: Readonly<Record<string, string>> | undefined;
  /** In which it was last used. */
  iteration: number;
  /** With which it was last used; null: nobody said. */
  model: string | null;
}

export interface Mark {
  /** Whose conversation it is; journals of before had one agent. */
  agent?: string;
  ref: string;
  messageId: string;
}

export interface HandOver {
  tree: string;
  snapshot: number;
  iteration: number;
  title: string;
}

export type Recorded = Pick<
  FactOf<"change-recorded">,
  "snapshot" | "tree" | "judged" | "by" | "iteration" | "epoch"
> & {
  elapsed: number;
  changed: boolean;
  /** What it is a change of: the state that was there before it. */
  before: { snapshot: number; judged: string };
} & Pick<FactOf<"change-recorded">, "refused" | "protected" | "kept" | "baseTests" | "testsChanged">;

export interface IterationRecord {
  n: number;
  startedElapsed: number;
  durationMs: number;
  turns: number;
  tools: [string, number][];
  files: number;
  added: number;
  removed: number;
  verdicts: { check: string; is: Verdict["is"] }[];
  usd: number | null;
  estimated: boolean;
  rule: string;
  /** A promise that was no claim where it stood. */
  misplaced?: Misplaced;
  /** In tasks mode, after it. */
  tasks?: TaskCounts;
  /** Who worked in it, where the run has several agents. */
  agents?: string[];
}

/** The review of an iteration's change. */
export interface ReviewState {
  /** Of its session. */
  ref: string;
  /** Turns started for it. */
  attempts: number;
  /** The last of them that ended. */
  ended: FactOf<"turn-end"> | undefined;
  /** Files of the reviewer's own change, once it is recorded. */
  mended: number | undefined;
}

/** How an iteration was judged and closed. */
export interface Judgement {
  iteration: number;
  change: Recorded | undefined;
  decision: FactOf<"decision-made"> | undefined;
}

/** All fields are always there: objects of one shape are several times faster to fold into. */
export interface LaneState {
  lane: string;
  iteration: number;
  /** Turns started in this iteration. */
  attempt: number;
  /** turn-start without turn-end; with the model that its session opened with. */
  open: { fact: FactOf<"turn-start">; said?: string } | undefined;
  /** The last ended turn of this iteration. */
  ended: FactOf<"turn-end"> | undefined;
  /** The last that any turn said at its end. */
  lastText: string;
  session: SessionState | undefined;
  /** Those of other agents, by agent. */
  shelf: Map<string, SessionState>;
  /** The entry that took the last turn of the work. */
  seat: string | undefined;
  /** Which of `escalate` is at work, from 1; 0: none. */
  escalated: number;
  /** Of this iteration's change, and of the one before. */
  review: ReviewState | undefined;
  lastReview: ReviewState | undefined;
  /** Why the next turn must not go on in the session, and where to rewind it to if it can be. */
  stale: { why: string; rewind?: Mark; restored?: { snapshot: number; salvage: string } } | undefined;
  /** The point of the conversation at which a snapshot was taken, by snapshot; bounded. */
  marks: Map<number, Mark>;
  head: Recorded | undefined;
  /** The change of this iteration, once recorded. */
  change: Recorded | undefined;
  /** In this iteration, with the seq of the last try. */
  checksTried: Map<string, { times: number; seq: number }>;
  /** In this iteration, by tree and check. */
  proofs: Map<string, Proof>;
  remembered: boolean;
  /** Rules under which a claim was sent back that are not used a second time. */
  sentBack: Set<string>;
  decision: FactOf<"decision-made"> | undefined;
  /** Of the iteration before this one. */
  last: Judgement | undefined;
  /** Snapshot the files must be put back to before anything else. */
  restoreTo: number | undefined;
  effect: FactOf<"effect-intended"> | undefined;
  /** What is to be handed to the user and is not yet. */
  handOver: HandOver | undefined;
  /** The tree before the first turn, with what the user had not committed. */
  baseTree: string;
  acceptedTree: string;
  lastCommit: string | null;
  branch: string | null;
  conflict: string | undefined;
  conflictReason: string | undefined;
  salvages: number;
  /** What people did while the run worked, by the snapshot that has it first; bounded. */
  theirs: { snapshot: number; commits: string[] }[];
  /** Of that, what is not in the files any more, because the state of an iteration before it was put back. */
  takenBack: { to: number; salvage: string; commits: string[] }[];
  /** Paths that the agent changed, the latest last; bounded. */
  touched: string[];
  /** Claims in a row, each on a green tree, that were not enough yet. */
  claimsInRow: number;
  errorsInRow: number;
  limitsInRow: number;
  record: IterationRecord;
  track: Track;
  failing: Failing;
}

export interface RunState {
  run: string;
  spec: RunSpec;
  base: Base;
  pawl: string;
  createdAt: number;
  seq: number;
  at: number;
  elapsed: number;
  epoch: number;
  driven: boolean;
  /** How this driver took over a run that had been driven before. */
  resumed?: FactOf<"lease-changed"> | FactOf<"run-reopened">;
  outcome?: Outcome;
  /** What its end warned of. */
  endWarnings?: string[];
  branchRemoved?: true;
  /** Files the agent touched that programs on the user's machine act on by themselves. */
  flagged?: string[];
  /** Once a change has met a protected file. */
  protected?: ProtectedState;
  reopened: number;
  limits: Limits;
  model: string | undefined;
  paused: boolean;
  stop?: "now" | "after";
  wait?: FactOf<"wait-start">;
  /** Seq of the last wait-end. */
  lastWait: number;
  turns: number;
  snapshots: number;
  spent: Spent;
  /** The same by agent and model. */
  spentBy: Map<string, SpentBy>;
  /** Of the agents that took turns, by entry; empty where the run has one alone. */
  seats: Map<string, SeatState>;
  /** Wall times of turn starts in the last hour, for `callsPerHour`. */
  callTimes: number[];
  lanes: Map<string, LaneState>;
  verdicts: Map<string, Verdict>;
  /** By check: of the tree before the first turn. */
  baselines: Map<string, Verdict>;
  /** By check: the newest that says pass or fail, of whatever tree. */
  latest: Map<string, Verdict>;
  /** Checks that were flaky in this run, with what failed in some runs only. */
  flakes: Map<string, string[]>;
  directives: Map<string, DirectiveState>;
  memory: FailureMemory;
  questions: Map<string, QuestionState>;
  /** Of all that were ever asked. */
  asked: number;
  /** Once the task file has been read. */
  tasks?: TaskState;
  /** Of the recipe `solve`. */
  solve?: SolveState;
  hooks: HookState;
  recent: IterationRecord[];
}

/** First line of an iteration's commit, where the spec has no other. */
export const iterationTitle = (iteration: number): string => `pawl: iteration ${iteration}`;

export const verdictKey = (tree: string, check: string): string => `${tree} ${check}`;

export function verdictOf(state: RunState, tree: string, check: string): Verdict | undefined {
  return state.verdicts.get(verdictKey(tree, check));
}

/** Of each check of the spec, in their order. */
export function verdictsOn(state: RunState, tree: string): (Verdict | undefined)[] {
  return state.spec.checks.map(({ name }) => verdictOf(state, tree, name));
}

export function mainLane(state: RunState): LaneState {
  return laneOf(state, MAIN_LANE);
}

export const fenceOf = ({ fence }: { fence?: FenceSpec }): FenceSpec => fence ?? NO_FENCE;

/** What specifications of older journals lack. */
export const wholeSpec = (spec: RunSpec): RunSpec => ({
  ...spec,
  fence: fenceOf(spec),
  protect: (spec as Partial<RunSpec>).protect ?? NOTHING_PROTECTED,
  verdicts: (spec as Partial<RunSpec>).verdicts ?? PLAIN_VERDICTS,
  criteria: (spec.criteria as (RunSpec["criteria"][number] | string)[]).map((one) =>
    typeof one === "string" ? { text: one, checks: [] } : one,
  ),
});

export function initial(fact: FactOf<"run-start">): RunState {
  return {
    run: fact.run,
    spec: wholeSpec(fact.spec),
    base: fact.base,
    pawl: fact.pawl,
    createdAt: fact.at,
    seq: fact.seq,
    at: fact.at,
    elapsed: fact.elapsed,
    epoch: fact.epoch,
    driven: false,
    reopened: 0,
    limits: fact.spec.limits,
    model: fact.spec.agent.model,
    paused: false,
    lastWait: 0,
    turns: 0,
    snapshots: 0,
    spent: noSpending(),
    spentBy: new Map(),
    seats: new Map(),
    callTimes: [],
    lanes: new Map(),
    verdicts: new Map(),
    baselines: new Map(),
    latest: new Map(),
    flakes: new Map(),
    directives: new Map(),
    memory: emptyMemory(),
    questions: new Map(),
    asked: 0,
    hooks: noHooks(),
    recent: [],
    ...(fact.spec.solve === undefined ? {} : { solve: noAttempts() }),
  };
}

export const freshRecord = (n: number, elapsed: number): IterationRecord => ({
  n,
  startedElapsed: elapsed,
  durationMs: 0,
  turns: 0,
  tools: [],
  files: 0,
  added: 0,
  removed: 0,
  verdicts: [],
  usd: 0,
  estimated: false,
  rule: "",
});

export function laneOf(state: RunState, lane: string): LaneState {
  let found = state.lanes.get(lane);
  if (found === undefined) {
    found = {
      lane,
      iteration: 0,
      attempt: 0,
      open: undefined,
      ended: undefined,
      session: undefined,
      shelf: new Map(),
      seat: undefined,
      escalated: 0,
      review: undefined,
      lastReview: undefined,
      stale: undefined,
      head: undefined,
      change: undefined,
      decision: undefined,
      last: undefined,
      restoreTo: undefined,
      effect: undefined,
      handOver: undefined,
      conflict: undefined,
      conflictReason: undefined,
      lastText: "",
      marks: new Map(),
      checksTried: new Map(),
      proofs: new Map(),
      remembered: false,
      sentBack: new Set(),
      baseTree: state.base.tree,
      acceptedTree: state.base.tree,
      lastCommit: state.base.commit,
      branch: null,
      salvages: 0,
      theirs: [],
      takenBack: [],
      touched: [],
      claimsInRow: 0,
      errorsInRow: 0,
      limitsInRow: 0,
      record: freshRecord(0, 0),
      track: emptyTrack(),
      failing: noneFailing(),
    };
    state.lanes.set(lane, found);
  }
  return found;
}

/** The longest text a directive can have, in UTF-8: what one prompt holds of people's words. */
export const MAX_SAID_BYTES = 3 * 65_536;

/**
 * Words of people that have not reached the model yet, oldest first, as many as one prompt holds whole: what is cut off
 * would be called delivered.
 */
export function pendingSays(state: RunState): { id: string; text: string }[] {
  let left = MAX_SAID_BYTES;
  const says = [...state.directives.values()].flatMap(({ id, directive, delivered }) => {
    if (delivered !== undefined) return [];
    if (directive.kind === "say" && directive.when !== "only-now") return [{ id, text: directive.text }];
    return directive.kind === "answer" && isForPrompt(state, { id, directive }) ? [{ id, text: directive.text }] : [];
  });
  const tooMany = says.findIndex(({ text }, n) => (left -= Buffer.byteLength(text)) < 0 && n > 0);
  return tooMany === -1 ? says : says.slice(0, tooMany);
}
