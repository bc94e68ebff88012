/**
 * Whether the work is done: the agent's claim, and what the checks come to together. A claim with red checks is refused
 * as often as limits and struggle ladder allow, though all that fails failed before the run; what both passes and fails
 * is sent back to the agent once, and is then a person's to decide. Pure.
 */
import type { Failure, Verdict } from "../events.ts";
import { accepted, voters, type Stand, type Vote } from "./combine.ts";
import { NO_CONTROL } from "./control.ts";
import { end, settle, type Draft } from "./draft.ts";
import { GUARDS_ONLY, guardsOnly, isLeft, isOldOnly } from "./pre-existing.ts";
import { stillWith } from "./progress.ts";
import { doubtWords, notCompared } from "./protected.ts";
import { reviewStand } from "./review.ts";
import { verdictOf, type LaneState, type Recorded, type RunState } from "./state.ts";
import { hasPendingEdit } from "./task-directives.ts";
import { openTasks } from "./tasks.ts";
import { counted } from "../plural.ts";

/** The rule of an end where nothing fails but what failed before the run. */
export const PRE_EXISTING = "pre-existing";
const FLAKY = "flaky";
export const SENT_BACK_ONCE: ReadonlySet<string> = new Set([FLAKY]);

export const CLAIM_REFUSED = "claim-refused";

/** Green iterations in a row without a change that end a run without a claim. */
const SETTLED_AFTER = 3;

/** Before the id of a test in a fingerprint. */
const TEST = "test:";
const MAX_NAMED_FAILURES = 10;
const MAX_NAME_CHARS = 200;

/** From good to bad: what is taken for a yes, step by step. */
export const GREEN: readonly Stand[] = ["pass", "left"];
export const NOT_REFUTED: readonly Stand[] = [...GREEN, "unsure"];
const NOT_WORSE: readonly Stand[] = [...NOT_REFUTED, "old"];
const NOT_RED: readonly Stand[] = [...NOT_REFUTED, "flaky"];

interface Cast extends Vote {
  verdict: Verdict | undefined;
}

/** How the checks stand whose verdicts decide. */
export function votesOf(state: RunState, change: Pick<Recorded, "judged"> | undefined): Cast[] {
  const { checks, verdicts: policy } = state.spec;
  return voters(checks, policy).map((check) => {
    const verdict = change === undefined ? undefined : verdictOf(state, change.judged, check.name);
    return { check, verdict, stand: standOf(state, check.name, verdict) };
  });
}

function standOf(state: RunState, check: string, verdict: Verdict | undefined): Stand {
  switch (verdict?.is) {
    case "pass":
      return "pass";
    case "unverifiable":
      return "unsure";
    case "flaky":
      return "flaky";
    case "fail":
      if (isLeft(state, check, verdict)) return "left";
      return state.spec.verdicts.preExisting !== "require" && isOldOnly(state, check, verdict) ? "old" : "red";
    case "skipped":
    case undefined:
      return "red";
  }
}

/** Whether the agent's "done" counts: late enough, and with work behind it. */
export function claimStands(state: RunState, lane: LaneState): { stands: boolean; why: string } {
  if (lane.ended?.claim?.is !== "done") return { stands: false, why: "no claim" };
  if (lane.iteration < state.spec.minIterations) {
    return {
      stands: false,
      why: `claimed in iteration ${lane.iteration}, before the minimum of ${state.spec.minIterations}`,
    };
  }
  const changed = lane.change !== undefined && lane.change.tree !== lane.baseTree;
  if (!changed && (state.spent.toolCalls === 0 || lane.iteration < 2)) {
    return { stands: false, why: "claimed without any work: no file is changed and nothing was looked at twice" };
  }
  return { stands: true, why: "claimed" };
}

/** Tasks and review ask for nothing more. What a person wants of the tasks is done first, and may be more work. */
function isComplete(state: RunState, lane: LaneState): boolean {
  if (openTasks(state).length > 0 || hasPendingEdit(state)) return false;
  const { is: review } = reviewStand(state, lane);
  return review === "none" || review === "passed";
}

/** How the run would end if one claim were enough. */
export function completion(state: RunState, lane: LaneState): Draft | undefined {
  if (!isComplete(state, lane)) return undefined;
  const { stands } = claimStands(state, lane);
  const votes = votesOf(state, lane.change);
  if (votes.length === 0)
    return stands ? end("claimed", "claim", "the agent says it is done; no check is required") : undefined;
  const isSettled = settles(state, lane) && stillWith(lane.track, lane.change?.judged ?? "") >= SETTLED_AFTER;
  if (!stands && state.spec.claim.required && !isSettled) return undefined;
  if (lane.iteration < state.spec.minIterations) return undefined;
  const is = (counts: readonly Stand[]): boolean => accepted(votes, state.spec.verdicts, counts);
  if (is(GREEN)) {
    const done = green(state, votes);
    return shown(state, lane, isSettled && !stands ? settled(done) : done);
  }
  if (is(NOT_REFUTED)) {
    const unsure = votes.find(({ stand }) => stand === "unsure");
    const why = unsure?.verdict?.is === "unverifiable" ? unsure.verdict.reason : "";
    return settle(state, lane, { rule: "unverifiable", reason: `check ${unsure?.check.name} could not judge: ${why}` });
  }
  // Without a claim it may be work that is not finished yet.
  if (!stands || !isOnly(state, votes, NOT_RED) || !lane.sentBack.has(FLAKY)) return undefined;
  const reason = `on the same files this both passes and fails: ${failuresIn("flaky", votes)}; mend the test and go on, or put it into quarantine in pawl.yaml for the next run: this one keeps the settings it began with`;
  return settle(state, lane, { rule: FLAKY, reason });
}

/** Whether this iteration left a green tree as it was: a few of these end a run that only a claim is missing to. */
export function settles(state: RunState, lane: LaneState): boolean {
  const { required, confirmations } = state.spec.claim;
  return required && confirmations === 1 && isStill(state, lane) && isComplete(state, lane);
}

/** A turn that came to its end and changed nothing, on a tree that every deciding check accepts. */
export function isStill(state: RunState, { change, ended }: LaneState): boolean {
  if (change === undefined || change.changed || change.refused !== undefined || ended?.outcome.is !== "done")
    return false;
  return accepted(votesOf(state, change), state.spec.verdicts, GREEN);
}

const settled = (draft: Draft): Draft =>
  draft.outcome?.is === "verified"
    ? end(
        "verified",
        "settled",
        `${SETTLED_AFTER} iterations in a row changed nothing, and the agent does not claim; ${draft.reason}`,
        draft.numbers,
      )
    : draft;

/** Passing checks show nothing of the goal where there is no work: none of this run, nor of one that it goes on with. */
export const hasWork = ({ spec: { fork } }: RunState, { baseTree }: LaneState, tree: string | undefined): boolean =>
  tree !== baseTree || fork?.redBefore !== undefined;

const shown = (state: RunState, lane: LaneState, draft: Draft): Draft =>
  draft.outcome?.is === "verified" && !hasWork(state, lane, lane.change?.judged)
    ? end(
        "claimed",
        "no-change",
        "nothing was changed, so that passing checks do not show that the goal is reached",
        draft.numbers,
      )
    : draft;

/** Until a person has looked and goes on with the run. */
const forkWords = ({ spec: { fork }, reopened }: RunState): string[] =>
  reopened > 0 ? [] : (fork?.suspicions ?? []).map((text) => `in the snapshot that it began with: ${text}`);

export function green(state: RunState, votes: readonly Cast[]): Draft {
  const evidence = votes.flatMap(({ verdict }) =>
    verdict !== undefined && "evidence" in verdict ? [verdict.evidence] : [],
  );
  const suspicions = [
    ...new Set([...evidence.flatMap((one) => one.suspicions), ...doubtWords(state), ...forkWords(state)]),
  ];
  if (suspicions.length > 0)
    return end("needs-human", "suspicions", suspicions.join("; "), { suspicions: suspicions.length });
  const named = (list: readonly Cast[]): string => list.map(({ check }) => check.name).join(", ");
  const uncontrolled = state.spec.verdicts.requireControl === true ? votes.filter(isUncontrolled) : [];
  if (uncontrolled.length > 0)
    return end("needs-human", "no-control", `${NO_CONTROL} with ${named(uncontrolled)}, and this run requires it`);
  const passed = votes.filter(({ stand }) => stand === "pass");
  const left = votes.filter(({ stand }) => stand === "left");
  const outvoted = votes.filter(({ stand }) => !GREEN.includes(stand));
  const quarantined = evidence.flatMap((one) => one.quarantined ?? []);
  const reason = [
    ...(passed.length === 0 ? [] : [`${named(passed)} passed on the delivered tree`]),
    ...(left.length === 0 ? [] : [`${named(left)}: nothing fails there but what failed before the run`]),
    ...(outvoted.length === 0
      ? []
      : [`${named(outvoted)} did not pass and was outvoted (${state.spec.verdicts.combine})`]),
    ...(quarantined.length === 0 ? [] : [`not counted, in quarantine: ${quarantined.join(", ")}`]),
    ...notCompared(state),
    ...(guardsOnly(state) ? [GUARDS_ONLY] : []),
  ].join("; ");
  const rule =
    outvoted.length > 0 ? state.spec.verdicts.combine : left.length > 0 ? "left-failing" : "all-required-pass";
  return end("verified", rule, reason, { checks: votes.length });
}

const isUncontrolled = ({ stand, verdict }: Cast): boolean =>
  GREEN.includes(stand) && verdict !== undefined && "evidence" in verdict && verdict.evidence.control === "none";

/** No check refutes the change but those that stand as the last of `counts` says. */
function isOnly(state: RunState, votes: readonly Cast[], counts: readonly Stand[]): boolean {
  const is = (yes: readonly Stand[]): boolean => accepted(votes, state.spec.verdicts, yes);
  return votes.length > 0 && !is(NOT_REFUTED) && is(counts);
}

/** A claim that is refused for something that may not be the agent's fault: told with all there is to know. */
export function refusedFor(state: RunState, lane: LaneState): { rule: string; reason: string } | undefined {
  if (!claimStands(state, lane).stands) return undefined;
  const votes = votesOf(state, lane.change);
  if (isOnly(state, votes, NOT_WORSE))
    return {
      rule: CLAIM_REFUSED,
      reason: `the claim is refused: nothing fails but what failed before your first change: ${failuresIn("old", votes)}. If the goal asks for these to pass, mend them now. If it does not, leave them as they are and claim again: in the end a person decides.`,
    };
  if (lane.sentBack.has(FLAKY) || !isOnly(state, votes, NOT_RED)) return undefined;
  return {
    rule: FLAKY,
    reason: `the claim is refused: on these very files this both passes and fails: ${failuresIn("flaky", votes)}. Find out whether your change made it unreliable, and mend that; it counts again when it passes ${counted(state.spec.verdicts.passes, "time")} in a row.`,
  };
}

/** A limit or the ladder ends a run whose agent says it is done: where only old failures are left a person decides. */
export function orForPerson(state: RunState, lane: LaneState, draft: Draft | undefined): Draft | undefined {
  if (draft?.outcome === undefined || draft.outcome.is === "stopped") return draft;
  if (!claimStands(state, lane).stands || !isComplete(state, lane)) return draft;
  const votes = votesOf(state, lane.change);
  if (!isOnly(state, votes, NOT_WORSE)) return draft;
  const reason = `${draft.reason}; nothing fails but what failed before the run: ${failuresIn("old", votes)}; a run with --leave-failing does not count these`;
  return end("needs-human", PRE_EXISTING, reason, draft.numbers);
}

function failuresIn(stand: "old" | "flaky", votes: readonly Cast[]): string {
  return votes
    .flatMap((vote) =>
      vote.stand === stand && vote.verdict !== undefined ? [sayFailures(vote.check.name, vote.verdict)] : [],
    )
    .join("; ");
}

function sayFailures(check: string, verdict: Verdict): string {
  const failures: readonly Failure[] = verdict.is === "fail" || verdict.is === "flaky" ? verdict.failures : [];
  const names = failures.slice(0, MAX_NAMED_FAILURES).map(named);
  const more = failures.length > MAX_NAMED_FAILURES ? ` and ${failures.length - MAX_NAMED_FAILURES} more` : "";
  return `${check}: ${names.join(", ")}${more}`;
}

/** A message such as "expected 1 to be 2" says nothing of where. */
function named({ fingerprint, message }: Failure): string {
  const test = fingerprint.startsWith(TEST) ? oneLine(fingerprint.slice(TEST.length)) : "";
  const said = oneLine(message);
  return test === "" || said.includes(test) ? said : `${test} (${said})`;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_NAME_CHARS);
