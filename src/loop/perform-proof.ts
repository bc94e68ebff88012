/** A part of the proof, as an effect: the check once more, on the same tree or on one with a planted failure. */
import type { Verdict } from "../events.ts";
import type { Check, JudgeAbout } from "../ports.ts";
import { controlled, isGood, needsBase, plantedRun, type Good, type PlantedRun } from "./control.ts";
import type { Hands } from "./hands.ts";
import {
  aboutJudging,
  checkNamed,
  judgeTree,
  orUnverifiable,
  plantable,
  type Asking,
  type Judging,
} from "./perform-check.ts";
import type { Company } from "./perform-verify.ts";
import { blamed } from "./pre-existing.ts";
import { afterQuarantine, besidesQuarantine } from "./quarantine.ts";
import { laneOf, verdictOf } from "./state.ts";

/** A control that could not judge is tried this often. */
const MAX_CONTROL_TRIES = 2;

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
      : withPlant(passed, found, { ...asking, action }),
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

/** One failure must be seen: where it is not, the base tells whether the check could have. */
async function withPlant(passed: Good, found: Check, proving: Proving): Promise<Verdict> {
  const { action, hands, signal, spec } = proving;
  const { lane, tree, check } = action;
  const { run, ports } = hands;
  const base = laneOf(run.state, lane).baseTree;
  const about: JudgeAbout = { ...proving.about, baseline: undefined, verdicts: new Map() };
  // In the same files of both: where tests were moved, what is left of them may be run by nobody.
  const onPlanted = async (
    of: string,
    { alsoIn, as }: { alsoIn: string; as: "test" | "file" },
  ): Promise<PlantedRun | undefined> => {
    const planted = await ports.workspace.planted(of, { alsoIn, as, ...plantable(run.state.spec, spec) });
    if (planted === undefined) return undefined;
    for (let tries = 1; ; tries += 1) {
      const how = tries === 1 ? proving.how : "alone";
      const said = await judgeTree(found, planted.tree, { ...proving, about, how });
      if (said.is !== "unverifiable" || tries === MAX_CONTROL_TRIES || signal.aborted)
        return plantedRun(besidesQuarantine(said, run.state.spec.verdicts, run.now().wall), { ...planted, as });
    }
  };
  const baseline = run.state.baselines.get(check);
  // What is chosen by name, or by a configuration of its own, may leave out one test more, but not a whole file.
  for (const as of ["test", "file"] as const) {
    const onChange = () => onPlanted(tree, { alsoIn: base, as });
    const first = await onChange();
    // Once more, for a test that is wrong now and then.
    const isToRepeat = first !== undefined && first.beside.length > 0 && !signal.aborted;
    const change = isToRepeat ? await onChange() : first;
    const onBase = needsBase(passed, { change, baseline }) ? await onPlanted(base, { alsoIn: tree, as }) : undefined;
    const said = controlled(passed, { change, base: onBase, baseline });
    if (as === "file" || said.evidence.control !== "none" || signal.aborted) return said;
  }
  return passed;
}
