/** A run in one look: the object that `status --json` prints and that the text is made of. Pure. */
import type { Fact } from "../../events.ts";
import { treeAtEnd } from "../../loop/at-end.ts";
import { remaining, type Spent } from "../../loop/budget.ts";
import type { SpentBy } from "../../loop/fold-seats.ts";
import { answerable } from "../../loop/questions.ts";
import { mainLane, verdictOf, type IterationRecord, type RunState } from "../../loop/state.ts";
import type { Owner, Receipt, RunRow } from "../../ports.ts";
import type { FenceSpec } from "../../spec.ts";
import { benchViews, type BenchView } from "../agent-rows.ts";
import { bestWords } from "../best-words.ts";
import { criteriaOf, type CriterionView } from "../criteria.ts";
import { answerCommand, leftMs, type Asked } from "../question-words.ts";
import { branchOf, resumeCommand } from "../summary.ts";
import { directiveViews, type DirectiveView } from "./directive-view.ts";
import { drivenNow } from "./driven-time.ts";
import { solveView, type SolveView } from "../solve/status.ts";
import { phaseOf, phaseWords, waitEnd, type Phase } from "./status-phase.ts";
import { tasksView, type TasksView } from "./task-lines.ts";

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
  criteria: CriterionView[];
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
  /** The same by agent and model; all of them together are `spent`. */
  agents: SpentBy[];
  /** Agents that could not go on, with the reason. */
  benched: BenchView[];
  drivenMs: number;
  /** What holds the agent and the checks: kind, network, limits. */
  fence: FenceSpec;
  branch: string | null;
  /** null while it has none of its own. */
  lastCommit: string | null;
  conflict: string | null;
  /** What must be known beside the outcome: work that was not delivered, commits that nobody judged. */
  warnings: string[];
  questions: (Asked & { leftMs: number | null; answer: string })[];
  /** In tasks mode. */
  tasks: TasksView | null;
  /** Of a run that solves. */
  solve: SolveView | null;
  /** Which iteration is the best so far, and where it is, in words; null while none was judged. */
  best: string | null;
  /** The command with which the run can go on; null when it cannot. */
  resume: string | null;
  /** What has to be done before that. */
  inTheWay: InTheWay | null;
  /** null when it waits for nothing; `until` is wall time, ms, null without end. */
  wait: { reason: string; until: number | null; leftMs: number | null } | null;
}

/** Why a resume would be refused now, and the command that helps. */
export interface InTheWay {
  command: string;
  why: string;
  /** There is nothing left to go on with. */
  isFinal?: boolean;
}

export interface StatusInput {
  row: RunRow;
  facts: readonly Fact[];
  queued: readonly Receipt[];
  now: number;
  /** A signal stopped its driver. */
  suspended?: boolean;
  inTheWay?: InTheWay | undefined;
}

export function statusView(state: RunState, input: StatusInput): StatusView {
  const { row, facts, queued, now, suspended = false, inTheWay } = input;
  const lane = mainLane(state);
  const driven = row.owner !== undefined;
  const phase = phaseOf(state, { facts, driven, suspended: suspended ? row.owner?.pid : undefined });
  const { track } = lane;
  const last = state.recent.at(-1);
  const judged = lane.record.verdicts.length > 0 ? lane.record.verdicts : (last?.verdicts ?? []);
  // An iteration that was cut off before its decision has no record yet.
  const newest = (check: string): string | undefined =>
    lane.change === undefined ? undefined : verdictOf(state, treeAtEnd(lane) ?? "", check)?.is;
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
    model: lane.open?.fact.model ?? state.model ?? null,
    checks: state.spec.checks.map(({ name }) => ({
      check: name,
      is: newest(name) ?? judged.find(({ check }) => check === name)?.is ?? "not run",
    })),
    criteria: criteriaOf(state.spec.criteria, (check) => verdictOf(state, treeAtEnd(lane) ?? "", check)),
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
    agents: [...state.spentBy.values()],
    benched: benchViews(state, { now }),
    drivenMs: state.elapsed,
    fence: state.spec.fence,
    branch: branchOf(state) ?? null,
    lastCommit: lane.lastCommit === state.base.commit ? null : lane.lastCommit,
    conflict: lane.conflict ?? null,
    tasks: tasksView(state),
    solve: solveView(state),
    warnings: state.endWarnings ?? [],
    questions: answerable(state, { driven }).map((open) => {
      const { question, kind, text, options, turn } = open;
      const left = leftMs(state, open, drivenNow(state, { driven, now }));
      return { question, kind, text, options, turn, leftMs: left, answer: answerCommand(state.run, open) };
    }),
    best: (state.outcome?.is === "verified" ? undefined : bestWords(state)) ?? null,
    resume: state.outcome?.is === "verified" || inTheWay?.isFinal === true ? null : resumeCommand(state),
    inTheWay: inTheWay ?? null,
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

function waitOf({ wait }: RunState, { now }: { now: number }): StatusView["wait"] {
  if (wait === undefined) return null;
  const until = waitEnd(wait);
  return { reason: wait.reason, until, leftMs: until === null ? null : Math.max(0, until - now) };
}
