/**
 * The control before a run ends verified: the check has to pass again, and a failure is planted in the base's tests, and a check that passes all the same
 * may say what it was made to say, by code under test that ends it early or writes its report. It says nothing of a
 * check that does not see the plant on the base either. Pure.
 */
import type { Evidence, Failure, Verdict } from "../events.ts";
import type { Planted } from "../ports.ts";
import type { CheckSpec, PlantSpec, RunSpec, VerdictSpec } from "../spec.ts";
import { isLeft } from "./pre-existing.ts";
import { hasHung, REPEATED } from "./repeat.ts";
import type { RunState } from "./state.ts";

/** A pass, or old failures alone that a person said do not count. */
export type Good = Extract<Verdict, { is: "pass" | "fail" }>;

export const isGood = (
  state: Pick<RunState, "baselines" | "spec">,
  check: string,
  verdict: Verdict | undefined,
): verdict is Good => verdict?.is === "pass" || isLeft(state, check, verdict);

/** A command may be a runner of tests, and a run may have tests whose failure it has to see. */
export const mayControl = ({ verdicts, protect }: RunSpec, { kind }: Pick<CheckSpec, "kind">): boolean =>
  verdicts.control === "auto" && protect.tests.length > 0 && kind === "command";

/** What the passes beyond the first may take in all; a check that takes longer is believed sooner. */
const MAX_REPEATING_MS = 120_000;

/** How many more passes it takes: a test that is wrong now and then must not end a run by luck. */
export function lackingPasses({ passes }: VerdictSpec, { kind }: Pick<CheckSpec, "kind">, { evidence }: Good): number {
  if (!REPEATED.has(kind)) return 0;
  const affordable = Math.floor(MAX_REPEATING_MS / Math.max(1, evidence.durationMs));
  return Math.max(0, Math.min(passes, 1 + affordable) - (evidence.runs ?? 1));
}

/** Whether a failure can be planted for it. Where nothing is known of the base, nothing could be made of the answer. */
function isPlantable({ spec, baselines }: RunState, check: CheckSpec): boolean {
  const before = baselines.get(check.name);
  const isBased = (before?.is === "pass" || before?.is === "fail") && before.evidence.control !== "none";
  return mayControl(spec, check) && isBased;
}

export const isPlantDue = (state: RunState, check: CheckSpec, { evidence }: Good): boolean =>
  evidence.control === undefined && isPlantable(state, check);

/** Of a check with `control: none`, in words for people. */
export const NO_CONTROL = "no planted failure could be tried";

/** The same with the parts of the command that took none, where they are known. */
export const noControlWords = ({ uncontrolled = [] }: Pick<Evidence, "uncontrolled">): string =>
  [NO_CONTROL, ...(uncontrolled.length === 0 ? [] : [uncontrolled.join("; ")])].join(": ");

/** What a command comes down to. Of an older run one script is known at most, and that there may be runners. */
export function plantsOf({ protect: { plants = {}, scripts = {} } }: RunSpec, { command }: CheckSpec): PlantSpec {
  const known = Object.hasOwn(plants, command) ? plants[command] : undefined;
  if (known !== undefined) return known;
  const path = Object.hasOwn(scripts, command) ? scripts[command] : undefined;
  return { scripts: path === undefined ? [] : [{ path, must: true }], others: [], runners: 1, isOpen: true };
}

const NO_TESTS = "no test file or script of the base takes a failure that is planted";

/** The base has nothing that a failure can be planted in. */
export const uncontrolled = (verdict: Verdict, { others }: PlantSpec): Verdict =>
  "evidence" in verdict ? withoutControl(verdict, others.length === 0 ? [NO_TESTS] : others.map(noPlant)) : verdict;

const noPlant = (part: string): string => `none in ${part}`;

function withoutControl<V extends Extract<Verdict, { evidence: unknown }>>(verdict: V, why: readonly string[]): V {
  return { ...verdict, evidence: { ...verdict.evidence, control: "none", uncontrolled: why.slice(0, MAX_NAMED) } };
}

/** Where the base says that nothing can be planted, or says nothing at all, no control is made; that is told. */
export function unplanted(state: RunState, check: CheckSpec, verdict: Verdict): Verdict {
  if (state.spec.verdicts.control !== "auto" || check.kind !== "command") return verdict;
  if (!isGood(state, check.name, verdict) || verdict.evidence.control !== undefined) return verdict;
  if (isPlantable(state, check)) return verdict;
  const before = state.baselines.get(check.name);
  const why = before !== undefined && "evidence" in before ? before.evidence.uncontrolled : undefined;
  return withoutControl(verdict, why ?? (before === undefined || "evidence" in before ? [NO_TESTS] : [NO_BASE]));
}

const NO_BASE = "the base could not be judged, so nothing tells what a planted failure would do there";

/** What a check said of a planted tree. */
export interface PlantedRun {
  verdict: Verdict;
  /** An assertion of the tests let pass what is wrong. */
  isLax: boolean;
  /** Named tests that fail, too, where the planted failure is seen. */
  beside: readonly string[];
  /** Files whose own planted test is seen, and those where it is not though others are. */
  seen: readonly string[];
  unseen: readonly string[];
  /** The check had to come to the plant. */
  isMet: boolean;
}

/** By the mark that the plant says it with, and by the names of what was planted. */
export function plantedRun(
  verdict: Verdict,
  { mark, plants, isMet, as }: Pick<Planted, "mark" | "plants" | "isMet"> & { as: "test" | "file" },
): PlantedRun {
  const says = ({ fingerprint, message }: Failure, id: string): boolean =>
    fingerprint.includes(id) || message.includes(id);
  const isPlanted = (failure: Failure): boolean =>
    [mark, ...plants.map(({ id }) => id)].some((id) => says(failure, id));
  const failures = failuresOf(verdict);
  const isListed = verdict.is === "fail" && (verdict.evidence.tests?.failed ?? 0) <= failures.length;
  const isTold = ({ id }: { id: string }): boolean => failures.some((failure) => says(failure, id));
  const seen = as === "test" ? plants.filter(isTold) : [];
  const unseen = seen.length > 0 && isListed ? plants.filter((plant) => !isTold(plant)) : [];
  return {
    verdict,
    isLax:
      failures.some(({ message }) => message.includes(mark)) ||
      (verdict.is === "fail" && verdict.excerpt.includes(mark)),
    beside:
      as === "test" && failures.some(isPlanted)
        ? failures
            .filter((failure) => !isPlanted(failure))
            .flatMap(({ fingerprint: one }) => (A_TEST.test(one) ? [one] : []))
        : [],
    seen: seen.map(({ path }) => path),
    unseen: unseen.map(({ path }) => path),
    isMet,
  };
}

/** How the fingerprint of a named test begins. */
const A_TEST = /^test:/;

/** The planted trees, but for quarantine: the change's, and the base's where that was asked. */
export interface ControlRuns {
  change: PlantedRun | undefined;
  base: PlantedRun | undefined;
  /** What it says of the base as it is. */
  baseline: Verdict | undefined;
}

/** Whether the base has to be asked, to know what it means that the plant was not seen. */
export const needsBase = (verdict: Good, { change, baseline }: Omit<ControlRuns, "base">): boolean =>
  change !== undefined &&
  !hasHung(baseline) &&
  (change.isLax || change.beside.length > 0 || change.unseen.length > 0 || !isSeen(verdict, { change, baseline }));

/**
 * Where the tree itself has failures that do not count, one of these with the plant says nothing: there must be one that
 * is not of the tree and not old. A tree without any fails by the plant alone.
 */
function isSeen(verdict: Good, { change: run, baseline }: Omit<ControlRuns, "base">): boolean {
  const change = run?.verdict;
  if (change?.is !== "fail" && change?.is !== "flaky") return false;
  if (isClean(verdict)) return true;
  const known = fingerprints([...failuresOf(verdict), ...failuresOf(baseline)]);
  return change.failures.some(({ fingerprint }) => !known.has(fingerprint));
}

/** It fails by the plant alone. */
const isClean = ({ is, evidence }: Good): boolean => is === "pass" && (evidence.quarantined ?? []).length === 0;

const failuresOf = (verdict: Verdict | undefined): readonly Failure[] =>
  verdict?.is === "fail" || verdict?.is === "flaky" ? verdict.failures : [];
const fingerprints = (failures: readonly Failure[]): Set<string> =>
  new Set(failures.map(({ fingerprint }) => fingerprint));

export function controlled(verdict: Good, runs: ControlRuns): Good {
  const { evidence } = verdict;
  const say = (control: NonNullable<Good["evidence"]["control"]>, ...suspicions: string[]): Good => ({
    ...verdict,
    evidence: { ...evidence, control, suspicions: [...evidence.suspicions, ...suspicions] },
  });
  if (runs.change?.isLax === true && runs.base?.isLax !== true) return say("not-seen", LAX);
  if (isClean(verdict) && isNoticed(runs)) return say("seen", NOTICED);
  const replaced = replacedFiles(runs);
  if (replaced.length > 0) return say("not-seen", `${REPLACED}: ${replaced.slice(0, MAX_NAMED).join(", ")}`);
  if (isSeen(verdict, runs)) return say("seen");
  const change = runs.change?.verdict;
  switch (change?.is) {
    case undefined:
      return say("none");
    case "fail":
    case "flaky":
    case "pass":
      // A green base tells by itself; of one that is red the script does.
      return showsPlant(runs) || (runs.change?.isMet === true && runs.baseline?.is !== "pass")
        ? say("not-seen", "a failure planted in the base's tests is not seen: code under test may speak for the runner")
        : say("none");
    case "unverifiable":
    case "skipped":
      // A plant that this check cannot take, on any tree.
      if (runs.base?.verdict.is === "unverifiable") return say("none");
      return say("none", `the control with a planted failure could not be made: ${change.reason}`);
  }
}

/** What the control of one part of a command says; `isIdle`: the part has no say in what comes of the check. */
export interface PartControl {
  said: Good;
  part: string;
  isIdle: boolean;
}

/** As good as its worst part; one where nothing could be planted or seen leaves the whole without a control. */
export function together(passed: Good, parts: readonly PartControl[], others: readonly string[]): Good {
  const counted = parts.filter(({ isIdle }) => !isIdle);
  const is = (control: string): PartControl[] => counted.filter(({ said }) => said.evidence.control === control);
  const added = parts.flatMap(({ said }) => said.evidence.suspicions.slice(passed.evidence.suspicions.length));
  const suspicions = [...new Set([...passed.evidence.suspicions, ...added])];
  const whole = { ...passed, evidence: { ...passed.evidence, suspicions } };
  if (is("not-seen").length > 0) return { ...whole, evidence: { ...whole.evidence, control: "not-seen" } };
  const why = [...others.map(noPlant), ...is("none").map(({ part }) => noPlant(part))];
  if (counted.length === 0) return withoutControl(whole, [...why, NOT_SHOWN]);
  if (why.length > 0) return withoutControl(whole, why);
  return { ...whole, evidence: { ...whole.evidence, control: "seen" } };
}

/** What a green base does not show, though it is planted there, too, has no say in the check. */
export const isIdle = (said: Good, { passed, baseline }: { passed: Good; baseline: Verdict | undefined }): boolean =>
  said.evidence.control === "none" &&
  said.evidence.suspicions.length === passed.evidence.suspicions.length &&
  baseline?.is === "pass";

const NOT_SHOWN = "a failure that is planted does not make the check fail on the base";

const MAX_NAMED = 5;
const REPLACED =
  "a failure planted in a file of the base's tests is not seen, and those in others are: code under test may have put something in its place";

const NOTICED =
  "tests that pass fail beside a planted failure: code under test may look whether its tests are as it knows them";

const LAX =
  "an assertion that the base's tests use lets pass what is wrong: code under test may have changed what it means";

/**
 * On the base the plant makes a failure that is not there without it. Where a runner could not even load the base's
 * tests, or the base did not end, the plant shows nothing there; what runs them now has to see it.
 */
function showsPlant({ base: run, baseline }: ControlRuns): boolean {
  if (hasHung(baseline)) return true;
  const base = run?.verdict;
  if (base?.is !== "fail") return false;
  if (baseline?.is === "pass") return true;
  if (baseline?.is !== "fail") return false;
  if (isUnloaded(baseline.evidence)) return true;
  const before = fingerprints(baseline.failures);
  return base.failures.some(({ fingerprint }) => !before.has(fingerprint));
}

/**
 * The tree passes, and with one more test that fails others do, too. A plant may keep tests from passing: then it does so
 * on the base as well.
 */
function isNoticed({ change, base, baseline }: ControlRuns): boolean {
  if (change === undefined || base === undefined || change.beside.length === 0) return false;
  const before = fingerprints(failuresOf(baseline));
  return base.beside.every((one) => before.has(one));
}

/** Files whose plant the base shows: where it is gone, and others are not, something else was run in their place. */
const replacedFiles = ({ change, base }: ControlRuns): string[] =>
  (change?.unseen ?? []).filter((path) => base?.seen.includes(path) === true);

const isUnloaded = ({ tests }: Good["evidence"]): boolean =>
  (tests?.broken ?? 0) > 0 && tests?.passed === 0 && tests.failed === 0;

/**
 * What a person said does not count may hide more, where the command is not a runner alone: the rest of it fails with the
 * same exit code, or is not reached.
 */
export function besideExcused(
  state: Pick<RunState, "baselines" | "spec">,
  check: CheckSpec,
  verdict: Verdict,
): Verdict {
  if (check.kind !== "command" || !isGood(state, check.name, verdict)) return verdict;
  const { evidence } = verdict;
  const isExcused = verdict.is === "fail" || (evidence.quarantined ?? []).length > 0;
  if (!isExcused || evidence.alone === true) return verdict;
  return { ...verdict, evidence: { ...evidence, suspicions: [...evidence.suspicions, HIDDEN] } };
}

const HIDDEN =
  "the command is more than one runner of tests, and what fails in its other parts is not told from failures that do not count: make each part a check of its own";

/** Where the base has tests and could not be judged, a pass is no proof that they are all still there. */
export const unbased = (verdict: Verdict, baseline: Verdict | undefined): Verdict =>
  verdict.is === "pass" && baseline?.is === "unverifiable"
    ? {
        ...verdict,
        evidence: { ...verdict.evidence, suspicions: [...verdict.evidence.suspicions, noBase(baseline.reason)] },
      }
    : verdict;

const noBase = (reason: string): string =>
  `the base could not be judged (${reason}): nothing tells whether tests vanished`;
