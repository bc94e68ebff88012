/** A run in one look: the object that `status --json` prints and that the text is made of. Pure. */
import type { Directive, Fact } from "../../events.ts";
import { remaining, type Spent } from "../../loop/budget.ts";
import { mainLane, type IterationRecord, type RunState } from "../../loop/state.ts";
import type { Owner, Receipt, RunRow } from "../../ports.ts";
import { openQuestions } from "../../loop/questions.ts";
import type { ReceiptState } from "../directive-words.ts";
import { answerCommand, leftMs, type Asked } from "../question-words.ts";
import { drivenNow } from "./driven-time.ts";
import { phaseOf, phaseWords, type Phase } from "./status-phase.ts";

const MAX_SHOWN_DIRECTIVES = 10;

interface DirectiveView {
  id: string;
  directive: Directive;
  source: string;
  receipt: ReceiptState;
  /** What was done about it, once delivered. */
  how: string | null;
}

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
  budget: Record<string, { used: number; limit: number }>;
  spent: Spent;
  drivenMs: number;
  branch: string | null;
  lastCommit: string | null;
  conflict: string | null;
  questions: (Asked & { leftMs: number | null; answer: string })[];
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
    directives: directiveViews(state, queued),
    recent: state.recent,
    struggle: {
      signals: Object.fromEntries(Object.entries(track.signals).filter(([, times]) => times > 0)),
      inRow: track.struggling,
      rung: track.rung === 0 ? null : (state.spec.struggle.ladder[track.rung - 1] ?? null),
      failing: track.failingCounts,
      best: track.best === undefined ? null : { iteration: track.best.iteration, failing: track.best.failing },
    },
    budget: remaining(state.limits, state.spent, { iteration: lane.iteration, elapsed: state.elapsed }),
    spent: state.spent,
    drivenMs: state.elapsed,
    branch: lane.branch,
    lastCommit: lane.lastCommit,
    conflict: lane.conflict ?? null,
    questions: openQuestions(state).map((open) => {
      const { question, kind, text, options, turn } = open;
      const left = leftMs(state, open, drivenNow(state, { driven: row.owner !== undefined, now }));
      return { question, kind, text, options, turn, leftMs: left, answer: answerCommand(state.run, open) };
    }),
  };
}

/** Every one that is under way, and the newest of the others. */
function directiveViews(state: RunState, queued: readonly Receipt[]): DirectiveView[] {
  const taken = [...state.directives.values()].map(
    ({ id, directive, source, delivered, acknowledged }): DirectiveView => ({
      id,
      directive,
      source,
      receipt: acknowledged === true ? "acknowledged" : delivered === undefined ? "queued" : "delivered",
      how: delivered?.how ?? null,
    }),
  );
  const waiting = queued
    .filter(({ id }) => !state.directives.has(id))
    .map(({ id, directive, source }): DirectiveView => ({ id, directive, source, receipt: "queued", how: null }));
  const all = [...taken, ...waiting];
  const open = all.filter(({ receipt }) => receipt === "queued").length;
  return all.filter((view, at) => view.receipt === "queued" || at >= all.length - Math.max(open, MAX_SHOWN_DIRECTIVES));
}
