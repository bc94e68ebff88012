/** Drives a run in this process and shows it: the same for a new run, one driven again, and the demo. */
import { composeForRun, type Composed, type Environment, type State } from "../../compose.ts";
import type { RunFence } from "../../compose/fence.ts";
import { EXIT, exitCodeOf } from "../../errors.ts";
import { drive } from "../../loop/drive.ts";
import { heldQuestions } from "../../loop/questions.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import { leanDriving } from "../../platform/lean-start.ts";
import type { Base, Ports, TraceLine } from "../../ports.ts";
import { recipeNamed } from "../../recipes/by-name.ts";
import type { Limits, RunSpec } from "../../spec.ts";
import { branchOf, diffStat, summary, type DiffStat } from "../summary.ts";
import type { Loudness, RunView } from "../terminal.ts";
import { outliveReaders } from "./outlive-readers.ts";
import { printFact } from "./print-fact.ts";
import { runView } from "./run-view.ts";
import { watchSignals, type SignalWatch } from "./signals.ts";

/** Counted for the summary; a longer diff is told as "at least". */
const MAX_DIFF_BYTES = 8 * 1024 * 1024;

export interface DriveRequest {
  run: string;
  /** As in its first fact. */
  start: { spec: RunSpec; base: Base };
  env: Environment;
  state: State;
  json: boolean;
  loudness: Loudness;
  trustPromise: boolean;
  reopen?: { limits: Limits; model?: string };
  /** Once nothing refuses the driving. */
  begin?: () => Promise<void>;
  /** Of a run that this process has just begun. */
  begun?: { signals: SignalWatch; ahead: NonNullable<Ports["ahead"]>; fence: RunFence };
  /** Instead of the usual summary and last line: tells the end and returns the exit code. */
  present?: (ended: RunState) => Promise<number>;
}

/** Returns the exit code. */
export async function driveHere({
  run,
  start,
  env,
  state,
  json,
  loudness,
  trustPromise,
  reopen,
  begin,
  begun,
  present,
}: DriveRequest): Promise<number> {
  outliveReaders();
  const composed = await composeForRun({ run, env, state, start, ahead: begun?.ahead, fence: begun?.fence });
  const view = runView({
    json,
    loudness,
    redact: state.redact,
    root: start.spec.workspace.path,
    answers: start.spec.solve !== undefined,
  });
  const signals = begun?.signals ?? watchSignals({ run, inbox: state.inbox });
  let isReplayed = false;
  try {
    const ended = await drive({
      run,
      recipe: recipeNamed(start.spec.recipe),
      ports: watched(composed.ports, view),
      signal: signals.stop,
      ...(reopen === undefined ? {} : { reopen }),
      ...(begin === undefined ? {} : { begin }),
      onFact(fact, now) {
        if (!isReplayed) leanDriving();
        isReplayed = true;
        if (json) printFact(fact);
        view.fact(fact, now);
      },
    });
    const waits = ended.paused || heldQuestions(ended).length > 0;
    if (present !== undefined) {
      view.close();
      const code = await present(ended);
      return ended.outcome === undefined ? (waits ? EXIT.human : (signals.exitCode() ?? EXIT.failed)) : code;
    }
    note(`${summary(ended, { diff: await totalDiff(composed, ended) })}\n`);
    if (ended.outcome === undefined) return waits ? EXIT.human : (signals.exitCode() ?? EXIT.failed);
    if (!json) process.stdout.write(`${ended.outcome.is} ${branchOf(ended) ?? "(no branch)"}\n`);
    return exitCodeOf(ended.outcome, { trustPromise });
  } finally {
    view.close();
    signals.close();
    await composed.close();
  }
}

const note = (text: string): void => {
  process.stderr.write(text);
};

/** The agent's stream on its way to the disk also passes the view. */
function watched(ports: Ports, view: RunView): Ports {
  const { trace } = ports;
  const write = (run: string, line: TraceLine): void => {
    view.trace(line);
    trace.write(run, line);
  };
  return { ...ports, trace: { write, read: (run, options) => trace.read(run, options), flush: () => trace.flush() } };
}

async function totalDiff({ ports }: Composed, state: RunState): Promise<DiffStat | undefined> {
  const { head, baseTree } = mainLane(state);
  if (head === undefined) return undefined;
  try {
    const diff = await ports.workspace.diff(baseTree, head.judged, MAX_DIFF_BYTES);
    return diffStat(diff, { cut: Buffer.byteLength(diff) >= MAX_DIFF_BYTES });
  } catch {
    // The run has ended and said so; a diff that cannot be read must not hide that.
    return undefined;
  }
}
