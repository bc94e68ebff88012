/** What a run is doing right now, from its facts and whether its driver lives. Pure. */
import type { Fact, FactOf, Outcome, ProofPart } from "../../events.ts";
import { heldQuestions, openQuestions } from "../../loop/questions.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import { oneLine } from "../plain.ts";
import { openParts, pausedBy, pauseWords, provingWords } from "../proof-words.ts";
import { duration, moment } from "./format.ts";

const MAX_REASON_CHARS = 300;

export type Phase =
  | { is: "ended"; outcome: Outcome }
  | { is: "not-driven"; openTurn: number | null }
  | { is: "waiting"; reason: string; until: number | null }
  /** By whom, as it was put. */
  | { is: "paused"; by: string | null }
  /** A signal stopped its driver. */
  | { is: "suspended"; pid: number }
  /** The run waits for a person. */
  | { is: "asking"; question: string }
  /** Wall clock of the start, ms. */
  | { is: "turn"; turn: number; attempt: number; since: number }
  | { is: "checking"; check: string; since: number }
  /** Before the end: parts of the proof that are under way. */
  | { is: "proving"; parts: { check: string; part: ProofPart }[]; since: number }
  /** Snapshot, decision, hand-over. */
  | { is: "between" };

interface Looked {
  facts: readonly Fact[];
  driven: boolean;
  /** The pid of a driver that a signal stopped. */
  suspended?: number | undefined;
}

export function phaseOf(state: RunState, { facts, driven, suspended }: Looked): Phase {
  const { outcome, wait } = state;
  const open = mainLane(state).open?.fact;
  if (outcome !== undefined) return { is: "ended", outcome };
  if (!driven) return { is: "not-driven", openTurn: open?.turn ?? null };
  if (suspended !== undefined) return { is: "suspended", pid: suspended };
  if (open !== undefined) return { is: "turn", turn: open.turn, attempt: open.attempt, since: open.at };
  if (wait !== undefined) {
    return { is: "waiting", reason: wait.reason, until: waitEnd(wait) };
  }
  const [asking] = heldQuestions(state);
  if (asking !== undefined) return { is: "asking", question: asking.question };
  const parts = openParts(state);
  if (parts[0] !== undefined) {
    const since = parts[0].at;
    return { is: "proving", parts: parts.map(({ check, part }) => ({ check, part })), since };
  }
  const check = facts.findLast((fact) => fact.type === "check-start" || fact.type === "check-end");
  if (check?.type === "check-start" && check.epoch === state.epoch)
    return { is: "checking", check: check.check, since: check.at };
  return state.paused ? { is: "paused", by: pausedBy(state) } : { is: "between" };
}

/** The agent waits inside its turn. */
function asks(state: RunState): string {
  const open = openQuestions(state).map(({ question }) => question);
  return open.length === 0 ? "" : `, waiting for a person (${open.join(", ")})`;
}

/** Wall clock, ms; null: without an end of its own. */
export function waitEnd({ until, untilElapsed, at, elapsed }: FactOf<"wait-start">): number | null {
  return until ?? (untilElapsed === null ? null : at + (untilElapsed - elapsed));
}

export function phaseWords(phase: Phase, state: RunState, { now }: { now: number }): string {
  const max = state.limits.iterations;
  const { iteration } = mainLane(state);
  const where =
    iteration === 0 ? "starting" : `working, iteration ${iteration}${max === undefined ? "" : ` of ${max}`}`;
  const then = state.stop === "after" ? ", stopping after it" : state.paused ? ", pausing after it" : "";
  switch (phase.is) {
    case "ended":
      return `ended: ${phase.outcome.is} (${oneLine(phase.outcome.reason, { max: MAX_REASON_CHARS })})`;
    case "not-driven":
      return phase.openTurn === null
        ? "not driven: no process works on it now"
        : `not driven: its process died during turn ${phase.openTurn}`;
    case "waiting": {
      const until =
        phase.until === null
          ? ""
          : ` until ${moment(phase.until, { now })} (${duration(Math.max(0, phase.until - now))} left)`;
      return `waiting${until}: ${oneLine(phase.reason, { max: MAX_REASON_CHARS })}`;
    }
    case "paused":
      return pauseWords(state);
    case "suspended":
      return `suspended: process ${phase.pid} was stopped by a signal (Ctrl-Z, SIGSTOP), nothing happens until it goes on`;
    case "asking":
      return `waiting for a person: ${phase.question}`;
    case "turn":
      return `${where}, turn ${phase.turn} running for ${duration(now - phase.since)}${asks(state)}${then}`;
    case "checking":
      return `${where}, check ${oneLine(phase.check, { max: MAX_REASON_CHARS })} running for ${duration(now - phase.since)}${then}`;
    case "proving":
      return `${where}, ${provingWords(phase.parts)} for ${duration(now - phase.since)}${then}`;
    case "between":
      return `${where}${then}`;
  }
}
