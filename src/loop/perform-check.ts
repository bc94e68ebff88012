/** Judging, as an effect: opens the verify tree, asks the check as often as it takes to know, writes the verdict. */
import { crashWords, isMachineTrouble } from "../errors.ts";
import type { NewFact, Verdict } from "../events.ts";
import type { Check, JudgeAbout } from "../ports.ts";
import type { CheckSpec } from "../spec.ts";
import type { Action } from "./actions.ts";
import { isJudge } from "./combine.ts";
import { besideExcused, mayControl, plantsOf, unbased, uncontrolled, unplanted } from "./control.ts";
import type { Hands } from "./hands.ts";
import { hasTests } from "./perform-plant.ts";
import { judgeInStages } from "./perform-stages.ts";
import type { Company } from "./perform-verify.ts";
import { GUARDS_ONLY, guardsOnly } from "./pre-existing.ts";
import { afterQuarantine } from "./quarantine.ts";
import { baselineOfRuns, verdictOfRuns } from "./repeat.ts";
import { comparedWith } from "./stages.ts";
import { laneOf, verdictOf } from "./state.ts";

/** Longest that the base's judgement lets the start of the agent go first: on few cores each would slow the other down. */
const MAX_GIVE_WAY_MS = 3_000;

export type Judging<D extends Action["do"]> = Extract<Action, { do: D }>;

/** An aborted judgement is no verdict: the check is simply wanted again, or not. */
export async function judgeBase(action: Judging<"baseline">, hands: Hands, signal: AbortSignal): Promise<void> {
  const { lane, tree, check } = action;
  const { run } = hands;
  await giveWay(lane, hands, signal);
  if (signal.aborted) return;
  const { found, spec } = checkNamed(check, hands);
  const asking = { hands, signal, about: aboutJudging(action, hands), spec };
  const verdict = await orUnverifiable(async () => {
    const known = await untilKnown(
      asking,
      () => judgeTree(found, tree, asking),
      (runs) => baselineOfRuns(run.state, spec, runs),
    );
    const isBare = known !== undefined && mayControl(run.state.spec, spec) && !(await hasTests(tree, { hands, spec }));
    return isBare ? uncontrolled(known, plantsOf(run.state.spec, spec)) : known;
  });
  if (verdict === undefined || signal.aborted) return;
  const { spec: whole, baselines } = run.state;
  const isNews =
    !guardsOnly(run.state) && guardsOnly({ spec: whole, baselines: new Map([...baselines, [check, verdict]]) });
  const note = isNews ? { note: GUARDS_ONLY } : {};
  await run.append([{ type: "baseline-recorded", lane, check, tree, verdict, ...note }]);
}

/** What breaks while pawl judges has judged nothing, and must not keep a run from ever coming to an end. */
export async function orUnverifiable<T>(judge: () => Promise<T>): Promise<T | Verdict> {
  try {
    return await judge();
  } catch (error) {
    // Once there is room again it can be tried again: nothing is lost by ending here.
    if (isMachineTrouble(error)) throw error;
    return { is: "unverifiable", reason: `pawl broke while it judged: ${crashWords(error)}` };
  }
}

/** Until the agent that is being started has begun. Nobody waits for the base's verdict before its first turn is over. */
async function giveWay(lane: string, { starting, ports }: Hands, signal: AbortSignal): Promise<void> {
  const sign = starting.get(lane);
  if (sign === undefined) return;
  const enough = new AbortController();
  await Promise.race([sign.promise, ports.clock.sleep(MAX_GIVE_WAY_MS, AbortSignal.any([signal, enough.signal]))]);
  enough.abort();
}

export async function judgeChange(action: Judging<"check">, hands: Hands, signal: AbortSignal): Promise<void> {
  const { lane, iteration, tree, check } = action;
  const { run } = hands;
  const { found, spec } = checkNamed(check, hands);
  const started = run.append([{ type: "check-start", lane, check, tree, iteration }]);
  const asking = { hands, signal, about: aboutJudging(action, hands), spec };
  const verdict = await orUnverifiable(async () => {
    const said = await untilKnown(
      asking,
      () =>
        judgeInStages({
          check,
          tree,
          baseTests: action.baseTests,
          before: run.state,
          baseline: asking.about.baseline,
          wall: run.now().wall,
          judge: (one) => judgeTree(found, one, asking),
          workspace: hands.ports.workspace,
          signal,
        }),
      (runs) => verdictOfRuns(run.state, spec, runs),
    );
    if (said === undefined) return undefined;
    const baseline = run.state.baselines.get(check);
    const isUnbased =
      said.is === "pass" &&
      baseline?.is === "unverifiable" &&
      mayControl(run.state.spec, spec) &&
      (await hasTests(laneOf(run.state, lane).baseTree, { hands, spec }));
    return unplanted(run.state, spec, besideExcused(run.state, spec, isUnbased ? unbased(said, baseline) : said));
  });
  await started;
  if (verdict === undefined || signal.aborted) return;
  await run.append([{ type: "check-end", lane, check, tree, iteration, verdict }]);
}

/** As many runs as it takes to say what they come to; undefined when it was aborted. */
async function untilKnown(
  { hands: { run }, signal }: Asking,
  judge: () => Promise<Verdict>,
  verdictOf: (runs: [Verdict, ...Verdict[]]) => Verdict | undefined,
): Promise<Verdict | undefined> {
  const said = async (): Promise<Verdict> => afterQuarantine(await judge(), run.state.spec.verdicts, run.now().wall);
  const runs: [Verdict, ...Verdict[]] = [await said()];
  for (;;) {
    if (signal.aborted) return undefined;
    const verdict = verdictOf(runs);
    if (verdict !== undefined) return verdict;
    runs.push(await said());
  }
}

export const skipped = ({ lane, check, tree, iteration, why: reason }: Judging<"skip">): NewFact => ({
  type: "check-end",
  lane,
  check,
  tree,
  iteration,
  verdict: { is: "skipped", reason },
});

export interface Asking {
  hands: Hands;
  signal: AbortSignal;
  about: JudgeAbout;
  spec: CheckSpec;
  /** Without it alone, or with those who only read the same tree. */
  how?: Company;
  /** Its tree is there. */
  onStart?: () => void;
}

export async function judgeTree(found: Check, tree: string, asking: Asking): Promise<Verdict> {
  const { hands, signal, about, spec, how = isJudge(spec) ? "reading" : "alone", onStart } = asking;
  return await hands.verifying<Verdict>(
    tree,
    async (verify) => {
      if (signal.aborted) return { is: "unverifiable", reason: "aborted" };
      onStart?.();
      return understood(await found.judge(verify, signal, about));
    },
    how,
  );
}

export function checkNamed(name: string, { ports, run }: Hands): { found: Check; spec: CheckSpec } {
  const found = ports.checks.find((check) => check.name === name);
  const spec = run.state.spec.checks.find((check) => check.name === name);
  if (found === undefined || spec === undefined) throw new Error(`no check named ${name}`);
  return { found, spec };
}

/** Everything a check may know beside the tree. */
export function aboutJudging(
  action: Judging<"check" | "baseline" | "prove">,
  { run, ports }: Pick<Hands, "run" | "ports">,
): JudgeAbout {
  const { state } = run;
  const { tree, check: name } = action;
  const { baseTree, change } = laneOf(state, action.lane);
  const isBase = action.do === "baseline";
  const testsFollowed = state.protected?.testsFollowed === true;
  const verdicts = state.spec.checks.flatMap((other) => {
    const verdict = other.name === name ? undefined : verdictOf(state, tree, other.name);
    return verdict === undefined ? [] : [[other.name, verdict] as const];
  });
  return {
    goal: state.spec.goal,
    baseline: isBase ? undefined : comparedWith(state.baselines.get(name), { testsFollowed }),
    isBase,
    change: {
      base: baseTree,
      tree,
      files: () => ports.workspace.changes(baseTree, tree),
      diff: (maxBytes) => ports.workspace.diff(baseTree, tree, maxBytes),
      before: (path, maxBytes) => ports.workspace.fileAt(baseTree, path, maxBytes),
      undone: isBase ? [] : (change?.protected ?? []),
    },
    verdicts: new Map(verdicts),
  };
}

const VERDICTS: ReadonlySet<string> = new Set(["pass", "fail", "flaky", "unverifiable", "skipped"]);

/** A check of somebody else's may say what no judge can: that is no verdict, and nothing is done on the strength of it. */
function understood(verdict: Verdict): Verdict {
  if (VERDICTS.has(verdict.is)) return verdict;
  return { is: "unverifiable", reason: `it answered ${JSON.stringify(verdict.is)}, which is no verdict` };
}
