/**
 * Whether the work is done: the agent's claim, and what the checks come to together. What fails as it did before the run,
 * or both passes and fails, is sent back to the agent once; then it is a person's to decide. Pure.
 */
import type { Failure, Verdict } from "../events.ts";
import { accepted, voters, type Stand, type Vote } from "./combine.ts";
import { NO_CONTROL } from "./control.ts";
import { end, settle, type Draft } from "./draft.ts";
import { isLeft, isUntouched } from "./pre-existing.ts";
import { doubtWords, notCompared } from "./protected.ts";
import { reviewStand } from "./review.ts";
import { verdictOf, type LaneState, type RunState } from "./state.ts";
import { hasPendingEdit } from "./task-directives.ts";
import { openTasks } from "./tasks.ts";

const PRE_EXISTING = "pre-existing";
const FLAKY = "flaky";
export const SENT_BACK_ONCE: ReadonlySet<string> = new Set([PRE_EXISTING, FLAKY]);

/** Before the id of a test in a fingerprint. */
const TEST = "test:";
const MAX_NAMED_FAILURES = 10;
const MAX_NAME_CHARS = 200;

/** From good to bad: what is taken for a yes, step by step. */
export const GREEN: readonly Stand[] = ["pass", "left"];
export const NOT_REFUTED: readonly Stand[] = [...GREEN, "unsure"];
const NOT_WORSE: readonly Stand[] = [...NOT_REFUTED, "old"];
const NOT_RED: readonly Stand[] = [...NOT_WORSE, "flaky"];

interface Cast extends Vote {
  verdict: Verdict | undefined;
}

/** How the checks stand whose verdicts decide. */
export function votesOf(state: RunState, change: LaneState["change"]): Cast[] {
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
      return state.spec.verdicts.preExisting !== "require" && isUntouched(state, check, verdict) ? "old" : "red";
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

/** How the run would end if one claim were enough. */
export function completion(state: RunState, lane: LaneState): Draft | undefined {
  // What a person wants of the tasks is done first, and may be more work.
  if (openTasks(state).length > 0 || hasPendingEdit(state)) return undefined;
  const { is: review } = reviewStand(state, lane);
  if (review !== "none" && review !== "passed") return undefined;
  const { stands } = claimStands(state, lane);
  const votes = votesOf(state, lane.change);
  if (votes.length === 0)
    return stands ? end("claimed", "claim", "the agent says it is done; no check is required") : undefined;
  if (!stands && state.spec.claim.required) return undefined;
  if (lane.iteration < state.spec.minIterations) return undefined;
  const is = (counts: readonly Stand[]): boolean => accepted(votes, state.spec.verdicts, counts);
  if (is(GREEN)) return green(state, votes);
  if (is(NOT_REFUTED)) {
    const unsure = votes.find(({ stand }) => stand === "unsure");
    const why = unsure?.verdict?.is === "unverifiable" ? unsure.verdict.reason : "";
    return settle(state, lane, { rule: "unverifiable", reason: `check ${unsure?.check.name} could not judge: ${why}` });
  }
  const rule = onlyIn(state, votes);
  // Without a claim it may be work that is not finished yet.
  if (!stands || rule === undefined || !lane.sentBack.has(rule)) return undefined;
  return settle(state, lane, { rule, reason: forPerson(rule, votes) });
}

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
  ].join("; ");
  const rule =
    outvoted.length > 0 ? state.spec.verdicts.combine : left.length > 0 ? "left-failing" : "all-required-pass";
  return end("verified", rule, reason, { checks: votes.length });
}

const isUncontrolled = ({ stand, verdict }: Cast): boolean =>
  GREEN.includes(stand) && verdict !== undefined && "evidence" in verdict && verdict.evidence.control === "none";

/** The one thing that stands between a claim and its end, where that is no plain failure of the change. */
function onlyIn(state: RunState, votes: readonly Cast[]): string | undefined {
  const is = (counts: readonly Stand[]): boolean => accepted(votes, state.spec.verdicts, counts);
  if (votes.length === 0 || is(NOT_REFUTED)) return undefined;
  if (is(NOT_WORSE)) return PRE_EXISTING;
  return is(NOT_RED) ? FLAKY : undefined;
}

/** A claim that is sent back for something that may not be the agent's fault: told once, with all there is to know. */
export function refusedOnce(state: RunState, lane: LaneState): Draft | undefined {
  const votes = votesOf(state, lane.change);
  const rule = claimStands(state, lane).stands ? onlyIn(state, votes) : undefined;
  if (rule === undefined || lane.sentBack.has(rule)) return undefined;
  const which = failuresIn(rule, votes);
  const reason =
    rule === PRE_EXISTING
      ? `the claim is refused: nothing fails but what failed before your first change: ${which}. If the goal asks for these to pass, mend them now. If it does not, leave them as they are and claim again: a person will decide.`
      : `the claim is refused: on these very files this both passes and fails: ${which}. Find out whether your change made it unreliable, and mend that; it counts again when it passes ${state.spec.verdicts.passes} times in a row.`;
  return { rule, next: "continue", reason };
}

function forPerson(rule: string, votes: readonly Cast[]): string {
  const which = failuresIn(rule, votes);
  return rule === PRE_EXISTING
    ? `nothing fails but what failed before the run: ${which}; a run with --leave-failing does not count these, one with --require-all goes on until they pass`
    : `on the same files this both passes and fails: ${which}; mend the test and go on, or put it into quarantine in pawl.yaml for the next run: this one keeps the settings it began with`;
}

function failuresIn(rule: string, votes: readonly Cast[]): string {
  const stand: Stand = rule === PRE_EXISTING ? "old" : "flaky";
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
