/** What the journal says of one tree of a run: verdicts to repeat, what was delivered, what was noticed. Pure. */
import { UsageError } from "../../../errors.ts";
import type { Fact, FactOf, FactType, Outcome, Verdict } from "../../../events.ts";
import { accepted } from "../../../loop/combine.ts";
import { votesOf } from "../../../loop/completion.ts";
import { fold } from "../../../loop/fold.ts";
import { mainLane, wholeSpec, type RunState } from "../../../loop/state.ts";
import type { RunSpec } from "../../../spec.ts";

export interface Recorded {
  check: RunSpec["checks"][number];
  verdict: Verdict;
  iteration: number;
  /** Wall clock. */
  at: number;
}

export interface Record {
  run: string;
  spec: RunSpec;
  base: FactOf<"run-start">["base"];
  /** Before the first turn, with what was not committed. */
  baseTree: string;
  pawl: string;
  outcome: Outcome | undefined;
  /** What is on record about the tree is enough for `verified`, by the run's own policy. */
  isCarried: boolean;
  /** The tree in question, with the fact it is from. */
  tree: string;
  change: FactOf<"change-recorded"> | undefined;
  /** All that led to the tree, this one too. */
  changes: FactOf<"change-recorded">[];
  /** The hand-over of this tree; undefined when it was not handed over. */
  accepted: FactOf<"change-accepted"> | undefined;
  /** In the order of the specification. */
  verdicts: Recorded[];
  /** Checks without a verdict on the tree. */
  missing: RunSpec["checks"];
  baselines: Map<string, Verdict>;
  /** The last decision about this tree. */
  decision: FactOf<"decision-made"> | undefined;
}

/** `at`: a snapshot's number; without it what was delivered last, or else the last snapshot. */
export function recordOf(facts: readonly Fact[], { at }: { at: number | undefined }): Record {
  const [start] = facts;
  if (start?.type !== "run-start") throw new UsageError("this run has no beginning in the journal");
  const folded = fold(facts);
  const changes = ofType(facts, "change-recorded");
  const handed = ofType(facts, "change-accepted").filter(({ conflict }) => conflict === undefined);
  const change = changeAt(changes, { at, delivered: handed.at(-1)?.tree, run: start.run });
  const tree = change?.judged ?? handed.at(-1)?.tree ?? start.base.tree;
  const spec = wholeSpec(start.spec);
  const ends = ofType(facts, "check-end");
  const verdicts = spec.checks.flatMap((check): Recorded[] => {
    const end = ends.findLast((fact) => fact.check === check.name && fact.tree === tree);
    return end === undefined ? [] : [{ check, verdict: end.verdict, iteration: end.iteration, at: end.at }];
  });
  return {
    run: start.run,
    spec,
    base: start.base,
    baseTree: mainLane(folded).baseTree,
    pawl: start.pawl,
    outcome: folded.outcome,
    isCarried: isCarried(folded, tree),
    tree,
    change,
    changes: change === undefined ? changes : changes.slice(0, changes.indexOf(change) + 1),
    accepted: handed.findLast((fact) => fact.tree === tree),
    verdicts,
    missing: spec.checks.filter(({ name }) => !verdicts.some(({ check }) => check.name === name)),
    baselines: new Map(ofType(facts, "baseline-recorded").map(({ check, verdict }) => [check, verdict])),
    decision: ofType(facts, "decision-made").findLast(({ iteration }) => iteration === change?.iteration),
  };
}

function isCarried(folded: RunState, tree: string): boolean {
  const { head } = mainLane(folded);
  return (
    head !== undefined && accepted(votesOf(folded, { ...head, judged: tree }), folded.spec.verdicts, ["pass", "left"])
  );
}

const ofType = <T extends FactType>(facts: readonly Fact[], type: T): FactOf<T>[] =>
  facts.filter((fact): fact is FactOf<T> => fact.type === type);

function changeAt(
  changes: readonly FactOf<"change-recorded">[],
  { at, delivered, run }: { at: number | undefined; delivered: string | undefined; run: string },
): FactOf<"change-recorded"> | undefined {
  if (at === undefined) {
    const ofDelivered = changes.findLast(({ judged }) => judged === delivered);
    return ofDelivered ?? (delivered === undefined ? changes.at(-1) : undefined);
  }
  const found = changes.findLast(({ snapshot }) => snapshot === at);
  if (found !== undefined) return found;
  throw new UsageError(`run ${run} has no snapshot ${at}`, { hint: `\`pawl restore ${run} --list\` shows them` });
}

/** Hashes of everything that facts name and blobs hold, with the words for each. */
export function namedBlobs(facts: readonly Fact[]): Map<string, string> {
  const found = new Map<string, string>();
  const evidenceOf = (what: string, verdict: Verdict): void => {
    if (!("evidence" in verdict)) return;
    const { log, tests } = verdict.evidence;
    if (log !== null) found.set(log, `the log of ${what}`);
    if (tests !== undefined && tests !== null) found.set(tests.ids, `the tests of ${what}`);
  };
  for (const fact of facts) {
    if (fact.type === "turn-start") found.set(fact.prompt.blob, `the prompt of turn ${fact.turn}`);
    if (fact.type === "check-end") evidenceOf(`${fact.check} in iteration ${fact.iteration}`, fact.verdict);
    if (fact.type === "proof-end")
      evidenceOf(`${fact.check} in the proof of iteration ${fact.iteration}`, fact.verdict);
    if (fact.type === "baseline-recorded") evidenceOf(`${fact.check} before the first turn`, fact.verdict);
    if (fact.type === "proposal-made")
      for (const kept of [fact.code, fact.answer])
        if (kept !== undefined) found.set(kept.blob, `the proposal of turn ${fact.turn}`);
    if (fact.type === "execution-recorded")
      for (const { blob } of [fact.code, fact.stdout, fact.stderr]) found.set(blob, `the program of turn ${fact.turn}`);
    if (fact.type === "step-end") found.set(fact.result.blob, `the result of step ${fact.step}`);
  }
  return found;
}
