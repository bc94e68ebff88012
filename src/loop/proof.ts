/**
 * The proof before a pass ends the run: the check has to pass again, and to see a failure that is planted. Each part is an
 * action with facts of its own, so that they run side by side, and what has ended is not done again after a kill. Pure.
 */
import type { FactOf, ProofPart, Verdict } from "../events.ts";
import type { CheckSpec } from "../spec.ts";
import type { Body } from "./actions.ts";
import { voters } from "./combine.ts";
import { isGood, isPlantDue, lackingPasses, type Good } from "./control.ts";
import { sameAgain } from "./repeat.ts";
import { verdictKey, verdictOf, type LaneState, type Recorded, type RunState } from "./state.ts";

export interface Proof {
  /** Begun and not ended; those of a driver that died have its epoch. */
  open: FactOf<"proof-start">[];
  ended: { part: ProofPart; verdict: Verdict }[];
}

/** What is missing before these passes may end the run; empty: nothing. */
export function dueProof(state: RunState, lane: LaneState, { judged: tree }: Pick<Recorded, "judged">): Body[] {
  const { iteration, proofs } = lane;
  return voters(state.spec.checks, state.spec.verdicts).flatMap((spec): Body[] => {
    const check = spec.name;
    const passed = verdictOf(state, tree, check);
    const parts = isGood(state, check, passed) ? partsOf(state, spec, passed) : [];
    if (!isGood(state, check, passed) || parts.length === 0) return [];
    const { ended } = proofs.get(verdictKey(tree, check)) ?? nothing();
    const about = { why: "before it ends", check, tree, iteration };
    const missing = parts.filter((part) => !ended.some((one) => nameOf(one.part) === nameOf(part)));
    return missing.length > 0 && !ended.some(isRefuted)
      ? missing.map((part) => ({ ...about, do: "prove", key: `prove/${tree}/${check}/${nameOf(part)}`, part }))
      : [{ ...about, do: "conclude", key: `conclude/${tree}/${check}`, verdict: concluded(passed, ended) }];
  });
}

/** In the order in which they are begun. */
function partsOf(state: RunState, check: CheckSpec, passed: Good): ProofPart[] {
  const passes = passed.evidence.runs ?? 1;
  const lacking = lackingPasses(state.spec.verdicts, check, passed);
  return [
    ...Array.from({ length: lacking }, (_, at) => ({
      is: "repetition" as const,
      n: passes + at + 1,
      of: passes + lacking,
    })),
    ...(isPlantDue(state, check, passed) ? [{ is: "control" as const }] : []),
  ];
}

const nameOf = (part: ProofPart): string => (part.is === "repetition" ? `${part.is}-${part.n}` : part.is);

/** The other parts could not save it. */
const isRefuted = ({ part, verdict }: Proof["ended"][number]): boolean =>
  part.is === "repetition" && verdict.is !== "pass";

/** What the check comes to by all parts together. */
function concluded(passed: Good, ended: Proof["ended"]): Verdict {
  const again = sameAgain(
    passed,
    ended.flatMap(({ part, verdict }) => (part.is === "repetition" ? [verdict] : [])),
  );
  const planted = ended.find(({ part }) => part.is === "control")?.verdict;
  if ((again.is !== "pass" && again.is !== "fail") || planted === undefined) return again;
  if (!("evidence" in planted)) return planted;
  const { control = "none", uncontrolled, suspicions } = planted.evidence;
  const why = uncontrolled === undefined ? {} : { uncontrolled };
  return { ...again, evidence: { ...again.evidence, control, ...why, suspicions } };
}

const nothing = (): Proof => ({ open: [], ended: [] });

function proofFor({ proofs }: LaneState, { tree, check }: FactOf<"proof-start" | "proof-end">): Proof {
  const key = verdictKey(tree, check);
  const proof = proofs.get(key) ?? nothing();
  proofs.set(key, proof);
  return proof;
}

/** Part of the fold; so is `endPart`. */
export function startPart(lane: LaneState, fact: FactOf<"proof-start">): void {
  const proof = proofFor(lane, fact);
  proof.open = [...proof.open.filter(({ part }) => nameOf(part) !== nameOf(fact.part)), fact];
}

export function endPart(lane: LaneState, { part, verdict, ...fact }: FactOf<"proof-end">): void {
  const proof = proofFor(lane, { part, verdict, ...fact });
  proof.open = proof.open.filter((one) => nameOf(one.part) !== nameOf(part));
  proof.ended.push({ part, verdict });
}
