/** A run in one look: the object that `status --json` prints and that the text is made of. Pure. */
import type { Fact } from "../../events.ts";
import { remaining, type Spent } from "../../loop/budget.ts";
import { openQuestions } from "../../loop/questions.ts";
import { mainLane, type IterationRecord, type RunState } from "../../loop/state.ts";
import { currentTask } from "../../loop/tasks.ts";
import type { Owner, Receipt, RunRow } from "../../ports.ts";
import { directiveViews, type DirectiveView } from "./directive-view.ts";
import { phaseOf, phaseWords, waitEnd, type Phase } from "./status-phase.ts";

export interface StatusView {
  v: 1;
  run: string;
  goal: string;
  repository: string;
  workspace: string;
  createdAt: number;
  /** In words, for people. */
  state: string;
  phase: Phase;
  driver: Owner | null;
  iteration: number;
  model: string | null;
  checks: { check: string; is: string }[];
  directives: DirectiveView[];
  recent: IterationRecord[];
  struggle: {
    /** Iterations in a row with each signal that is on. */
    signals: Record<string, number>;
    inRow: number;
    /** The last rung of the ladder that was climbed. */
    rung: string | null;
    failing: number[];
    best: { iteration: number; failing: number } | null;
  };
  budget: Record<string, { used: number; limit: number; left: number }>;
  spent: Spent;
  drivenMs: number;
  branch: string | null;
  lastCommit: string | null;
  conflict: string | null;
  /** Open ones; `leftMs`: how long a person has, null without end. */
  questions: { question: string; kind: string; text: string; options: string[]; leftMs: number | null }[];
  /** null without a task file. */
  tasks: { done: number; total: number; current: { id: string; text: string } | null; suspicions: string[] } | null;
  /** null when it waits for nothing; `until` is wall time, ms, null without end. */
  wait: { reason: string; until: number | null; leftMs: number | null } | null;
}

export interface StatusInput {
  row: RunRow;
  facts: readonly Fact[];
  queued: readonly Receipt[];
  now: number;
}

export function statusView(state: RunState, { row, facts, queued, now }: StatusInput): StatusView {
  const lane = mainLane(state);
  const phase = phaseOf(state, { facts, driven: row.owner !== undefined });
  const { track } = lane;
  const last = state.recent.at(-1);
  const judged = lane.record.verdicts.length > 0 ? lane.record.verdicts : (last?.verdicts ?? []);
  return {
    v: 1,
    run: state.run,
    goal: state.spec.goal,
    repository: state.spec.workspace.repository,
    workspace: state.spec.workspace.path,
    createdAt: state.createdAt,
    state: phaseWords(phase, state, { now }),
    phase,
    driver: row.owner ?? null,
    iteration: lane.iteration,
    model: state.model ?? null,
    checks: state.spec.checks.map(({ name }) => ({
      check: name,
      is: judged.find(({ check }) => check === name)?.is ?? "not run",
    })),
    directives: directiveViews(state, { queued, all: false }),
    recent: state.recent,
    struggle: {
      signals: Object.fromEntries(Object.entries(track.signals).filter(([, times]) => times > 0)),
      inRow: track.struggling,
      rung: track.rung === 0 ? null : (state.spec.struggle.ladder[track.rung - 1] ?? null),
      failing: track.failingCounts,
      best: track.best === undefined ? null : { iteration: track.best.iteration, failing: track.best.failing },
    },
    budget: budgetOf(state),
    spent: state.spent,
    drivenMs: state.elapsed,
    branch: lane.branch,
    lastCommit: lane.lastCommit,
    conflict: lane.conflict ?? null,
    questions: openQuestions(state).map(({ question, kind, text, options, untilElapsed }) => ({
      question,
      kind,
      text,
      options,
      leftMs: untilElapsed === null ? null : Math.max(0, untilElapsed - drivenNow(state, { row, now })),
    })),
    tasks: tasksOf(state),
    wait: waitOf(state, { now }),
  };
}

function budgetOf(state: RunState): StatusView["budget"] {
  const about = { iteration: mainLane(state).iteration, elapsed: state.elapsed };
  return Object.fromEntries(
    Object.entries(remaining(state.limits, state.spent, about)).map(([name, { used, limit }]) => [
      name,
      { used, limit, left: Math.max(0, limit - used) },
    ]),
  );
}

/** Driven time passes between two facts too, while somebody drives. */
function drivenNow(state: RunState, { row, now }: { row: RunRow; now: number }): number {
  return row.owner === undefined ? state.elapsed : state.elapsed + Math.max(0, now - state.at);
}

/** Subtasks belong to their task and are not counted. */
function tasksOf({ tasks }: RunState): StatusView["tasks"] {
  if (tasks === undefined) return null;
  const top = tasks.list.filter(({ depth }) => depth === 0);
  const current = currentTask(tasks.list)?.task;
  return {
    done: top.filter(({ is }) => is === "done" || is === "skipped").length,
    total: Math.max(top.length, tasks.total - (tasks.list.length - top.length)),
    current: current === undefined ? null : { id: current.id, text: current.text },
    suspicions: tasks.suspicions,
  };
}

function waitOf({ wait }: RunState, { now }: { now: number }): StatusView["wait"] {
  if (wait === undefined) return null;
  const until = waitEnd(wait);
  return { reason: wait.reason, until, leftMs: until === null ? null : Math.max(0, until - now) };
}
