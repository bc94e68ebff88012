/**
 * The fold: facts in, state out. It changes the state in place (100,000 facts are folded at every start); nothing else
 * writes to it.
 */
import type { Fact, FactOf } from "../events.ts";
import { CLAIM_UNCONFIRMED } from "./claim.ts";
import { SENT_BACK_ONCE } from "./completion.ts";
import { deliver, HURRIED, receive } from "./fold-directives.ts";
import { recordFailing } from "./failing.ts";
import { recordBaseline, recordVerdict } from "./fold-verdicts.ts";
import { owe, recordChange, recordTheirs, takeTheirsBack } from "./fold-changes.ts";
import { clearBenches, recordBench } from "./fold-seats.ts";
import { endStep, recordExecution, recordPlan, recordProposal } from "./fold-solve.ts";
import { endTurn, startTurn } from "./fold-turns.ts";
import { recordHook } from "./hooks.ts";
import { recordFailure } from "./memory.ts";
import { measured } from "./measured.ts";
import { endPart, startPart } from "./proof.ts";
import { emptyTrack, trackBest, trackDecision, trackIteration } from "./progress.ts";
import { setAside } from "./at-end.ts";
import { settleDoubts } from "./protected.ts";
import { recordAnswer, recordQuestion } from "./questions.ts";
import { ALL_BENCHED } from "./seats.ts";
import { countAttempt, recordTasks, taskCounts } from "./tasks.ts";
import {
  freshRecord,
  initial,
  iterationTitle,
  laneOf,
  WORK_MISSING,
  verdictKey,
  verdictsOn,
  type LaneState,
  type RunState,
} from "./state.ts";

const MAX_RECENT_ITERATIONS = 5;

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
      if (fact.branchRemoved === true) state.branchRemoved = true;
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
      if (lane.open !== undefined && fact.model !== null) lane.open.said = fact.model;
      return;
    case "agent-benched":
      return recordBench(state, fact);
    case "turn-end":
      return endTurn(state, lane, fact);
    case "change-recorded":
      return recordChange(state, lane, fact);
    case "baseline-recorded":
      return recordBaseline(state, fact);
    case "check-start":
      lane.proofs.delete(verdictKey(fact.tree, fact.check));
      return;
    case "check-end":
      return endCheck(state, lane, fact);
    case "proof-start":
      return startPart(lane, fact);
    case "proof-end":
      return endPart(lane, fact);
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
      return accepted(state, lane, fact);
    case "change-restored":
      return restored(state, lane, fact);
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
      if (fact.wait.startsWith(ALL_BENCHED) && fact.why === HURRIED) clearBenches(state);
      return;
    case "proposal-made":
      return recordProposal(state, fact);
    case "execution-recorded":
      return recordExecution(state, fact);
    case "plan-made":
      return recordPlan(state, fact);
    case "step-end":
      return endStep(state, fact);
  }
}

function accepted(state: RunState, lane: LaneState, fact: FactOf<"change-accepted">): void {
  lane.effect = undefined;
  lane.branch = fact.branch;
  if (fact.adopted.length > 0) recordTheirs(state, lane, fact.adopted);
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
  delete state.branchRemoved;
  delete state.stop;
  delete state.hooks.trouble;
  settleDoubts(state);
  state.resumed = fact;
  state.paused = false;
  clearBenches(state);
  state.reopened += 1;
  state.limits = { ...state.limits, ...fact.limits };
  // A base that could not be judged is asked once more: what was in the way may be gone.
  for (const [check, { is }] of state.baselines) if (is === "unverifiable") state.baselines.delete(check);
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
  lane.proofs = new Map();
  lane.remembered = false;
  lane.record = freshRecord(fact.n, fact.elapsed);
  // What was said of files that stayed as they were still holds.
  if (lane.review !== undefined || lane.change?.changed === true) lane.lastReview = lane.review;
  lane.review = undefined;
  lane.ended = undefined;
  lane.change = undefined;
  lane.decision = undefined;
}

function endCheck(state: RunState, lane: LaneState, fact: FactOf<"check-end">): void {
  recordVerdict(state, fact);
  const proof = lane.proofs.get(verdictKey(fact.tree, fact.check));
  if (proof !== undefined) proof.open = [];
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
  if (seen !== undefined && isConfirming) trackBest(lane.track, seen);
  // Who made progress is not stuck: the run's own agents go on.
  else if (seen !== undefined && trackIteration(lane.track, seen)) lane.escalated = 0;
  if (tree !== undefined) owe(lane, tree, iterationTitle(fact.iteration));
  trackDecision(lane.track, fact.rule, state.spec.struggle.ladder);
  if (fact.restoreTo !== undefined) lane.restoreTo = fact.restoreTo;
  switch (fact.next) {
    case "fresh-session":
      lane.stale = { why: fact.reason };
      return;
    case "other-agent":
      return escalate(state, lane);
    case "continue":
    case "restore":
    case "ask":
    case "end":
      return;
  }
}

/** While there is a stronger one left, the rung stays. */
function escalate(state: RunState, lane: LaneState): void {
  const { agent, mix, struggle } = state.spec;
  if (mix === undefined || lane.escalated >= mix.escalate.length) {
    state.model = agent.fallbackModel ?? state.model;
    return;
  }
  lane.escalated += 1;
  if (lane.escalated < mix.escalate.length) lane.track.rung = struggle.ladder.indexOf("other-agent");
}

function restored(state: RunState, lane: LaneState, fact: FactOf<"change-restored">): void {
  const { head, track, stale } = lane;
  const returned = track.setAside?.snapshot === fact.to ? track.setAside : undefined;
  if (fact.atEnd === true) setAside(state, lane, fact);
  else if (returned !== undefined) delete track.setAside;
  lane.effect = undefined;
  lane.salvages += 1;
  if (fact.failed !== undefined) return;
  takeTheirsBack(lane, fact);
  lane.restoreTo = undefined;
  // A session that is to be left anyway is not gone back in.
  const mark = stale === undefined ? lane.marks.get(fact.to) : undefined;
  const done = { snapshot: fact.to, salvage: fact.salvage };
  lane.stale = { why: fact.why, restored: done, ...(mark === undefined ? {} : { rewind: mark }) };
  // Nothing was said in the conversation since.
  if (returned !== undefined) lane.stale = returned.stale;
  if (head !== undefined) {
    const { tree, to: snapshot, elapsed, epoch } = fact;
    lane.head = { ...head, tree, judged: tree, snapshot, elapsed, epoch };
    const { iteration = fact.to } = [track.bestWork, track.best].find((best) => best?.snapshot === fact.to) ?? {};
    owe(lane, fact.tree, `pawl: restore the state of iteration ${iteration}`);
  }
}
