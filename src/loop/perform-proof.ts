/** A part of the proof, as an effect: the check once more, on the same tree or on one with a planted failure. */
import type { Verdict } from "../events.ts";
import type { Check, JudgeAbout } from "../ports.ts";
import { isGood, type Good } from "./control.ts";
import type { Hands } from "./hands.ts";
import { aboutJudging, checkNamed, judgeTree, orUnverifiable, type Asking, type Judging } from "./perform-check.ts";
import { withPlant } from "./perform-plant.ts";
import type { Company } from "./perform-verify.ts";
import { blamed } from "./pre-existing.ts";
import { afterQuarantine } from "./quarantine.ts";
import { laneOf, verdictOf } from "./state.ts";

/** An aborted part is none: it is simply wanted again, or not. */
export async function prove(action: Judging<"prove">, hands: Hands, signal: AbortSignal): Promise<void> {
  const { lane, iteration, tree, check, part } = action;
  const { run } = hands;
  const passed = verdictOf(run.state, tree, check);
  if (!isGood(run.state, check, passed)) return;
  const { found, spec } = checkNamed(check, hands);
  // Others measure, or are a program's own: what runs beside them may change what they say.
  const how = spec.kind === "command" ? "beside" : "alone";
  let started: Promise<void> | undefined;
  const onStart = (): void =>
    void (started ??= run.append([{ type: "proof-start", lane, check, tree, iteration, part }]));
  const asking = { hands, signal, about: aboutJudging(action, hands), spec, how, onStart } as const;
  const verdict = await orUnverifiable(() =>
    part.is === "repetition"
      ? repeated(passed, found, { ...asking, action })
      : planted(passed, found, { ...asking, action }),
  );
  await started;
  if (!signal.aborted) await run.append([{ type: "proof-end", lane, check, tree, iteration, part, verdict }]);
}

type Proving = Asking & { how: Company; action: Judging<"prove"> };

async function repeated(passed: Good, found: Check, proving: Proving): Promise<Verdict> {
  const { action, hands, how, signal } = proving;
  const { run } = hands;
  const first = await judgeTree(found, action.tree, proving);
  // There may not have been room for all of them: that says nothing.
  const isToRepeat = first.is === "unverifiable" && how === "beside" && !signal.aborted;
  const said = isToRepeat ? await judgeTree(found, action.tree, { ...proving, how: "alone" }) : first;
  const verdict = afterQuarantine(said, run.state.spec.verdicts, run.now().wall);
  // Of what is left failing the new failures alone count.
  return passed.is === "pass" ? verdict : blamed(run.state, action.check, verdict);
}

/** What could not judge beside others is tried again alone. */
async function planted(passed: Good, found: Check, proving: Proving): Promise<Verdict> {
  const { action, hands, signal, spec, how } = proving;
  const { state } = hands.run;
  const about: JudgeAbout = { ...proving.about, baseline: undefined, verdicts: new Map() };
  return await withPlant({
    hands,
    signal,
    spec,
    passed,
    base: laneOf(state, action.lane).baseTree,
    tree: action.tree,
    baseline: state.baselines.get(action.check),
    judge: (tree, nth) => judgeTree(found, tree, { ...proving, about, how: nth === 1 ? how : "alone" }),
  });
}
