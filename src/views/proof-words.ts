/** What judging costs and how far it is, in words: how often a check is run, the baseline, the parts of a proof, a pause. */
import type { Evidence, FactOf, ProofPart, Verdict } from "../events.ts";
import { lackingPasses, NO_CONTROL } from "../loop/control.ts";
import { isUnfinished } from "../loop/iterate.ts";
import { baselineActions } from "../loop/judge.ts";
import { REPEATED } from "../loop/repeat.ts";
import { laneOf, verdictKey, verdictOf, type RunState } from "../loop/state.ts";
import type { CheckSpec, RunSpec } from "../spec.ts";
import { counted, duration } from "./cli/format.ts";
import { oneLine } from "./plain.ts";

const MAX_CHARS = 160;
/** A check that takes longer is worth a word about how often it is run. */
const LONG_CHECK_MS = 15_000;

const short = (text: string): string => oneLine(text, { max: MAX_CHARS });

/** How often a check is run for an end that is `verified`, where nothing is red, flaky or unclear. */
export function runsWords({ checks, recipe, verdicts }: Pick<RunSpec, "checks" | "recipe" | "verdicts">): string {
  const { passes, control } = verdicts;
  if (recipe === "solve" || !checks.some(({ kind }) => REPEATED.has(kind))) return "";
  const isPlanted = control === "auto" && checks.some(({ kind }) => kind === "command");
  const parts = [
    "before the first change",
    "on the change",
    ...(passes === 1 ? [] : [counted(passes - 1, "repetition")]),
    ...(isPlanted ? ["with a planted failure"] : []),
  ];
  const times = 2 + (passes - 1) + (isPlanted ? 1 : 0);
  return `before \`verified\` each check runs about ${times} times: ${parts.join(", ")}`;
}

/** The line about the tree before the run, and what its length means for the end. */
export function baselineWords({ check, verdict, note }: FactOf<"baseline-recorded">, { spec }: RunState): string[] {
  const found = spec.checks.find(({ name }) => name === check);
  const hint = found === undefined ? undefined : longWords(found, { verdict, spec });
  return [`baseline: ${short(check)} ${standWords(verdict)}`, ...[hint, note].filter((line) => line !== undefined)];
}

function standWords(verdict: Verdict): string {
  switch (verdict.is) {
    case "pass":
      return `passes (${testWords(verdict.evidence)}${duration(verdict.evidence.durationMs)})`;
    case "fail": {
      const { tests, exitCode } = verdict.evidence;
      const what =
        (tests?.failed ?? 0) > 0
          ? `${counted(tests?.failed ?? 0, "test")} failed`
          : `exit ${exitCode ?? "by a signal"}`;
      return `fails (${what} before the run)`;
    }
    case "flaky":
      return "both passes and fails before the run";
    case "unverifiable":
    case "skipped":
      return `could not be judged before the run (${short(verdict.reason)})`;
  }
}

const testWords = ({ tests }: Evidence): string =>
  tests === undefined || tests === null ? "" : `${counted(tests.passed, "test")}, `;

/** Where the end will take a while, the way to a shorter one. */
function longWords(check: CheckSpec, { verdict, spec }: { verdict: Verdict; spec: RunSpec }): string | undefined {
  if (!("evidence" in verdict) || verdict.evidence.durationMs < LONG_CHECK_MS) return undefined;
  const { durationMs } = verdict.evidence;
  const more = lackingPasses(spec.verdicts, check, { is: "pass", evidence: { ...verdict.evidence, runs: 1 } });
  if (more === 0) return undefined;
  return `  it takes ${duration(durationMs)}, and before \`verified\` it is repeated ${more === 1 ? "once" : `${more} times`}: a run with --passes 1 does without`;
}

/** Which part it is. */
export const partWords = (part: ProofPart): string =>
  part.is === "repetition" ? `repetition ${part.n} of ${part.of}` : "planted failure";

/** What a part of the proof came to. */
export function proofEndWords(fact: FactOf<"proof-end">, state: RunState): string {
  const { check, part, verdict } = fact;
  const name = short(check);
  if (part.is === "repetition") {
    switch (verdict.is) {
      case "pass":
        return `proof: ${name} passes again (${passesOf(fact, state)} of ${part.of})`;
      case "fail":
      case "flaky":
        return `proof: ${name} FAILS when it is run again: ${short(verdict.failures[0].message)}`;
      case "unverifiable":
      case "skipped":
        return `proof: ${name} could not be judged again (${short(verdict.reason)})`;
    }
  }
  const { control, suspicions = [] } = "evidence" in verdict ? verdict.evidence : {};
  if (control === "seen") return `proof: planted failure seen by ${name}`;
  if (control === "not-seen") return `proof: planted failure NOT seen by ${name}: ${short(suspicions.at(-1) ?? "")}`;
  return `proof: ${NO_CONTROL} with ${name}`;
}

/** In a row so far, in whatever order they ended. */
function passesOf({ lane, tree, check }: FactOf<"proof-end">, state: RunState): number {
  const first = verdictOf(state, tree, check);
  const ended = laneOf(state, lane).proofs.get(verdictKey(tree, check))?.ended ?? [];
  const more = ended.filter(({ part, verdict }) => part.is === "repetition" && verdict.is === "pass").length;
  return (first !== undefined && "evidence" in first ? (first.evidence.runs ?? 1) : 1) + more;
}

/** Parts that this driver has begun and not ended, oldest first. */
export const openParts = (state: RunState): FactOf<"proof-start">[] =>
  [...state.lanes.values()]
    .flatMap(({ proofs }) => [...proofs.values()].flatMap(({ open }) => open))
    .filter(({ epoch }) => epoch === state.epoch)
    .toSorted((one, other) => one.seq - other.seq);

/** The parts under way, by check; empty when there are none. */
export function provingWords(parts: readonly Pick<FactOf<"proof-start">, "check" | "part">[]): string {
  const checks = [...new Set(parts.map(({ check }) => check))];
  const named = checks.map(
    (check) =>
      `${short(check)} (${parts
        .filter((one) => one.check === check)
        .map(({ part }) => partWords(part))
        .join(", ")})`,
  );
  return named.length === 0 ? "" : `proving ${named.join(", ")}`;
}

/** The check that everything else waits for once the first turn is over; undefined: none. */
export const awaitedBaseline = (state: RunState): string | undefined => {
  const [first] = baselineActions(state);
  return first?.do === "baseline" ? first.check : undefined;
};

/** Paused, and nothing that was under way is left. */
export function isAtRest({ paused, outcome, wait, lanes }: RunState): boolean {
  if (!paused || outcome !== undefined || wait !== undefined) return false;
  return [...lanes.values()].every(
    ({ open, iteration, decision, ended }) =>
      open === undefined &&
      (iteration === 0 || decision !== undefined || (ended !== undefined && isUnfinished(ended.outcome))),
  );
}

/** Whoever put the last pause; null: nobody knows any more. */
export const pausedBy = ({ directives }: Pick<RunState, "directives">): string | null =>
  [...directives.values()].findLast(({ directive }) => directive.kind === "pause")?.source ?? null;

/** By whom, and how it goes on. */
export function pauseWords(state: Pick<RunState, "run" | "directives">): string {
  const by = pausedBy(state);
  return `paused${by === null ? "" : ` by ${short(by)}`}; to go on: pawl resume ${state.run}`;
}
