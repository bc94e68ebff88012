/**
 * The fold: facts in, state out. It changes the state in place (100,000 facts are folded at every start); nothing else
 * writes to it.
 */
import type { Fact, FactOf, FileChange, TurnOutcome } from "../events.ts";
import { addUsage } from "./budget.ts";
import { CLAIM_UNCONFIRMED } from "./claim.ts";
import { SENT_BACK_ONCE } from "./completion.ts";
import { deliver, receive } from "./fold-directives.ts";
import { recordChanged, recordFailing } from "./failing.ts";
import { recordBaseline, recordVerdict } from "./fold-verdicts.ts";
import { heardHooks, recordHook } from "./hooks.ts";
import { recordFailure } from "./memory.ts";
import { measured } from "./measured.ts";
import { emptyTrack, trackBest, trackDecision, trackIteration } from "./progress.ts";
import { recordProtected, settleDoubts } from "./protected.ts";
import { recordAnswer, recordQuestion } from "./questions.ts";
import { countAttempt, recordTasks, recordWork, taskCounts } from "./tasks.ts";
import {
  freshRecord,
  initial,
  iterationTitle,
  laneOf,
  WORK_MISSING,
  verdictsOn,
  type LaneState,
  type Recorded,
  type RunState,
} from "./state.ts";

const MAX_RECENT_ITERATIONS = 5;
const MAX_KEPT_CALL_TIMES = 10_000;
const MAX_KEPT_MARKS = 64;
const MAX_KEPT_PATHS = 40;
const MAX_KEPT_FLAGGED = 200;
const HOUR_MS = 3_600_000;

export function fold(facts: Iterable<Fact>): RunState {
  let state: RunState | undefined;
  for (const fact of facts) state = apply(state, fact);
  if (state === undefined) throw new Error("an empty journal has no state");
  return state;
}

/** `state` is undefined for the first fact only. Unknown types (a newer pawl's) move nothing but the sequence. */
export function apply(state: RunState | undefined, fact: Fact): RunState {
  if (state === undefined) {
    if (fact.type !== "run-start") throw new Error(`a journal begins with run-start, not ${fact.type}`);
    return initial(fact);
  }
  state.seq = fact.seq;
  state.at = fact.at;
  state.elapsed = fact.elapsed;
  step(state, fact);
  return state;
}

function step(state: RunState, fact: Fact): void {
  const lane = laneOf(state, fact.lane);
  switch (fact.type) {
    case "run-start":
      throw new Error("run-start twice in one journal");
    case "run-end":
      state.outcome = fact.outcome;
      if (fact.warnings !== undefined) state.endWarnings = fact.warnings;
      // Owed again, though it was handed over once.
      if (fact.outcome.rule === WORK_MISSING) lane.acceptedTree = "";
      return;
    case "run-reopened":
      return reopen(state, fact);
    case "lease-changed":
      state.epoch = fact.epoch;
      if (state.driven) state.resumed = fact;
      state.driven = true;
      return;
    case "lane-start":
    case "lane-end":
      return;
    case "iteration-start":
      countAttempt(state);
      return startIteration(lane, fact);
    case "turn-start":
      return startTurn(state, lane, fact);
    case "session-opened":
      return;
    case "turn-end":
      return endTurn(state, lane, fact);
    case "change-recorded":
      return recordChange(state, lane, fact);
    case "baseline-recorded":
      return recordBaseline(state, fact);
    case "check-start":
      return;
    case "check-end":
      return endCheck(state, lane, fact);
    case "failure-recorded":
      lane.remembered = true;
      recordFailure(state.memory, fact);
      return;
    case "decision-made":
      return makeDecision(state, lane, fact);
    case "effect-intended":
      lane.effect = fact;
      return;
    case "change-accepted":
      return accepted(lane, fact);
    case "change-restored":
      return restored(lane, fact);
    case "directive-received":
      return receive(state, fact);
    case "directive-delivered":
      return deliver(state, fact);
    case "directive-acknowledged": {
      const directive = state.directives.get(fact.id);
      if (directive !== undefined) directive.acknowledged = true;
      return;
    }
    case "human-requested":
      return recordQuestion(state, fact);
    case "human-answered":
      return recordAnswer(state, fact);
    case "tasks-recorded":
      return recordTasks(state, lane, fact);
    case "hook-end":
      return recordHook(state, fact);
    case "wait-start":
      state.wait = fact;
      return;
    case "wait-end":
      delete state.wait;
      state.lastWait = fact.seq;
      return;
  }
}

function accepted(lane: LaneState, fact: FactOf<"change-accepted">): void {
  lane.effect = undefined;
  lane.branch = fact.branch;
  if (fact.conflict !== undefined) {
    // Still owed: it is tried again once a person has looked and reopened the run.
    lane.conflict = fact.conflict;
    if (fact.conflictReason !== undefined) lane.conflictReason = fact.conflictReason;
    return;
  }
  if (lane.handOver?.tree === fact.tree) lane.handOver = undefined;
  lane.acceptedTree = fact.tree;
  if (fact.commit !== null) lane.lastCommit = fact.commit;
}

function reopen(state: RunState, fact: FactOf<"run-reopened">): void {
  delete state.outcome;
  delete state.endWarnings;
  delete state.stop;
  delete state.hooks.trouble;
  settleDoubts(state);
  state.resumed = fact;
  state.paused = false;
  state.reopened += 1;
  state.limits = { ...state.limits, ...fact.limits };
  if (fact.model !== undefined) state.model = fact.model;
  for (const lane of state.lanes.values()) {
    lane.errorsInRow = 0;
    lane.limitsInRow = 0;
    lane.track = emptyTrack(lane.track);
    lane.sentBack = new Set();
    lane.conflict = undefined;
    lane.conflictReason = undefined;
    if (lane.decision?.next === "end") lane.decision = { ...lane.decision, next: "continue" };
  }
}

function startIteration(lane: LaneState, fact: FactOf<"iteration-start">): void {
  lane.last = { iteration: lane.iteration, change: lane.change, decision: lane.decision };
  lane.iteration = fact.n;
  lane.attempt = 0;
  lane.checksTried = new Map();
  lane.remembered = false;
  lane.record = freshRecord(fact.n, fact.elapsed);
  lane.ended = undefined;
  lane.change = undefined;
  lane.decision = undefined;
}

function startTurn(state: RunState, lane: LaneState, fact: FactOf<"turn-start">): void {
  state.turns = fact.turn;
  state.callTimes.push(fact.at);
  const hourAgo = fact.at - HOUR_MS;
  while (state.callTimes.length > MAX_KEPT_CALL_TIMES || (state.callTimes[0] ?? fact.at) < hourAgo)
    state.callTimes.shift();
  lane.attempt = fact.attempt;
  lane.open = { fact };
  lane.record.turns += 1;
  if (lane.session?.ref !== fact.session.ref) {
    lane.session = { ref: fact.session.ref, turns: 0, contextTokens: 0, lastMessageId: null, memos: undefined };
  }
}

/** Ends that say nothing about the agent or the machine being broken. */
const isSound = (outcome: TurnOutcome): boolean =>
  outcome.is === "done" || outcome.is === "interrupted" || (outcome.is === "failed" && outcome.kind === "max-turns");

function endTurn(state: RunState, lane: LaneState, fact: FactOf<"turn-end">): void {
  const session = lane.session;
  if (fact.usage.requests > 0 && lane.open !== undefined) heardHooks(state, lane.open.fact);
  lane.open = undefined;
  lane.ended = fact;
  lane.lastText = fact.text;
  state.spent.turns += 1;
  addUsage(state.spent, fact.usage);
  lane.record.usd = lane.record.usd === null || fact.usage.usd === null ? null : lane.record.usd + fact.usage.usd;
  lane.record.estimated ||= fact.usage.estimated;
  lane.record.tools = mergeCounts(lane.record.tools, fact.tools);
  if (fact.usage.requests > 0 && session !== undefined) {
    session.turns += 1;
    session.contextTokens = fact.contextTokens ?? session.contextTokens;
    session.lastMessageId = fact.messageId ?? session.lastMessageId;
    // Unknown where nobody saw its end: then it is shown again.
    session.memos = fact.memos;
    lane.stale = undefined;
  }
  // A session that never reached the model may not exist on the agent's side: it cannot be continued.
  if (session !== undefined && session.turns === 0) lane.session = undefined;
  if (fact.outcome.is === "failed" && fact.outcome.kind === "context") lane.stale = { why: "its context was full" };
  if (isSound(fact.outcome)) {
    lane.errorsInRow = 0;
    lane.limitsInRow = 0;
  } else if (fact.outcome.is === "limited") {
    lane.limitsInRow += 1;
  } else if (!fact.foundOut) {
    lane.errorsInRow += 1;
  }
}

function mergeCounts(a: [string, number][], b: [string, number][]): [string, number][] {
  if (a.length === 0) return b;
  const counts = new Map(a);
  for (const [name, n] of b) counts.set(name, (counts.get(name) ?? 0) + n);
  return [...counts];
}

function recordChange(state: RunState, lane: LaneState, fact: FactOf<"change-recorded">): void {
  if (fact.flagged !== undefined)
    state.flagged = [...new Set([...(state.flagged ?? []), ...fact.flagged])].slice(0, MAX_KEPT_FLAGGED);
  recordProtected(state, { fact, headEpoch: lane.head?.epoch });
  const { snapshot, judged } = lane.head ?? fact;
  const changed = lane.head !== undefined && lane.head.tree !== fact.tree;
  const recorded: Recorded = {
    snapshot: fact.snapshot,
    tree: fact.tree,
    judged: fact.judged,
    by: fact.by,
    iteration: fact.iteration,
    epoch: fact.epoch,
    elapsed: fact.elapsed,
    changed,
    before: { snapshot, judged },
    ...(fact.protected === undefined ? {} : { protected: fact.protected }),
    ...(fact.kept === undefined ? {} : { kept: fact.kept }),
    ...(fact.testsChanged === undefined ? {} : { testsChanged: fact.testsChanged }),
    ...(fact.baseTests === undefined ? {} : { baseTests: fact.baseTests }),
  };
  if (fact.refused !== undefined) recorded.refused = fact.refused;
  state.snapshots = Math.max(state.snapshots, fact.snapshot + 1);
  state.hooks.touched = false;
  if (lane.head === undefined) {
    lane.baseTree = fact.tree;
    lane.acceptedTree = fact.judged;
  }
  lane.head = recorded;
  const messageId = lane.session?.lastMessageId;
  if (lane.session !== undefined && typeof messageId === "string") {
    lane.marks.set(fact.snapshot, { ref: lane.session.ref, messageId });
    const oldest = lane.marks.size > MAX_KEPT_MARKS ? lane.marks.keys().next().value : undefined;
    if (oldest !== undefined) lane.marks.delete(oldest);
  }
  if (fact.by === "user") {
    owe(lane, fact.judged, `pawl: the user's change before iteration ${lane.iteration + 1}`);
    return;
  }
  lane.change = recorded;
  recordChanged(lane.failing, fact.iteration, fact.files);
  touch(lane, fact.files);
  recordWork(state, fact);
  lane.record.files = fact.fileCount;
  lane.record.added = fact.added;
  lane.record.removed = fact.removed;
}

function touch(lane: LaneState, files: readonly FileChange[]): void {
  // Mostly it is the same file again.
  if (files.length === 0 || (files.length === 1 && files[0]?.path === lane.touched.at(-1))) return;
  const paths = new Set(files.map(({ path }) => path));
  lane.touched = [...lane.touched.filter((path) => !paths.has(path)), ...paths].slice(-MAX_KEPT_PATHS);
}

/** A refused snapshot is not handed over; neither is a tree the user already has. */
function owe(lane: LaneState, tree: string, title: string): void {
  if (lane.head === undefined || lane.head.refused !== undefined || lane.acceptedTree === tree) return;
  lane.handOver = { tree, snapshot: lane.head.snapshot, iteration: lane.iteration, title };
}

function endCheck(state: RunState, lane: LaneState, fact: FactOf<"check-end">): void {
  recordVerdict(state, fact);
  if (fact.verdict.is === "skipped") return;
  lane.checksTried.set(fact.check, { times: (lane.checksTried.get(fact.check)?.times ?? 0) + 1, seq: fact.seq });
}

function makeDecision(state: RunState, lane: LaneState, fact: FactOf<"decision-made">): void {
  lane.decision = fact;
  lane.record.rule = fact.rule;
  lane.record.durationMs = fact.elapsed - lane.record.startedElapsed;
  const tree = lane.change?.judged;
  const verdicts = tree === undefined ? [] : verdictsOn(state, tree);
  lane.record.verdicts =
    tree === undefined
      ? []
      : state.spec.checks.map(({ name }, n) => ({ check: name, is: verdicts[n]?.is ?? "skipped" }));
  for (const [n, verdict] of verdicts.entries())
    if (verdict !== undefined)
      recordFailing(lane.failing, state.spec.checks[n]?.name ?? "", { iteration: fact.iteration, verdict });
  if (state.recent.at(-1)?.n === lane.record.n) state.recent.pop();
  state.recent.push(lane.record);
  if (state.recent.length > MAX_RECENT_ITERATIONS) state.recent.shift();
  const tasks = taskCounts(state);
  if (tasks !== undefined) lane.record.tasks = tasks;
  const isConfirming = fact.rule === CLAIM_UNCONFIRMED;
  lane.claimsInRow = isConfirming ? lane.claimsInRow + 1 : 0;
  if (SENT_BACK_ONCE.has(fact.rule)) lane.sentBack.add(fact.rule);
  const seen = measured(state, lane, { verdicts, tasks });
  // Who is asked to look again and changes nothing does not struggle.
  if (seen !== undefined) (isConfirming ? trackBest : trackIteration)(lane.track, seen);
  if (tree !== undefined) owe(lane, tree, iterationTitle(fact.iteration));
  trackDecision(lane.track, fact.rule, state.spec.struggle.ladder);
  if (fact.restoreTo !== undefined) lane.restoreTo = fact.restoreTo;
  switch (fact.next) {
    case "fresh-session":
      lane.stale = { why: fact.reason };
      return;
    case "other-agent":
      state.model = state.spec.agent.fallbackModel ?? state.model;
      return;
    case "continue":
    case "restore":
    case "ask":
    case "end":
      return;
  }
}

function restored(lane: LaneState, fact: FactOf<"change-restored">): void {
  lane.effect = undefined;
  lane.restoreTo = undefined;
  lane.salvages += 1;
  // A session that is to be left anyway is not gone back in.
  const mark = lane.stale === undefined ? lane.marks.get(fact.to) : undefined;
  const done = { snapshot: fact.to, salvage: fact.salvage };
  lane.stale = { why: fact.why, restored: done, ...(mark === undefined ? {} : { rewind: mark }) };
  if (lane.head !== undefined) {
    const { tree, to: snapshot, elapsed, epoch } = fact;
    lane.head = { ...lane.head, tree, judged: tree, snapshot, elapsed, epoch };
    owe(lane, fact.tree, `pawl: restore the state of iteration ${fact.to}`);
  }
}
