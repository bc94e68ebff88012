/**
 * The planted failure, as an effect: one in every part of a command, one part at a time, for one that is red hides those
 * behind it. Where it is not seen, the base tells whether the check could have.
 */
import type { Verdict } from "../events.ts";
import type { CheckSpec, RunSpec } from "../spec.ts";
import {
  controlled,
  isIdle,
  needsBase,
  plantedRun,
  plantsOf,
  together,
  type Good,
  type PartControl,
  type PlantedRun,
} from "./control.ts";
import type { Hands } from "./hands.ts";
import { besidesQuarantine } from "./quarantine.ts";

/** A control that could not judge is tried this often. */
const MAX_CONTROL_TRIES = 2;
/** Runners behind each other in one command. */
const MAX_ROUNDS = 4;
const TESTS = "the tests";

type Form = "test" | "file";

export interface Planting {
  hands: Hands;
  signal: AbortSignal;
  spec: CheckSpec;
  base: string;
  tree: string;
  baseline: Verdict | undefined;
  passed: Good;
  /** What the check says of a tree, tried for the n-th time. */
  judge: (tree: string, nth: number) => Promise<Verdict>;
}

/** What of a command a failure is planted in: one script, or the tests but for some. */
interface Where {
  script?: string;
  without?: readonly string[];
  /** A failure there is one of the command. */
  must: boolean;
}

const plantable = ({ protect: { tests, except } }: RunSpec) => ({ tests, except });

/** Test files of a known language, or a script whose end can be told. */
export async function hasTests(base: string, { hands, spec }: Pick<Planting, "hands" | "spec">): Promise<boolean> {
  const { run, ports } = hands;
  const about = { ...plantable(run.state.spec), alsoIn: base };
  const scripts = plantsOf(run.state.spec, spec).scripts.map(({ path }) => path);
  if ((await ports.workspace.planted(base, { ...about, as: "file", without: scripts })) !== undefined) return true;
  for (const script of scripts)
    if ((await ports.workspace.planted(base, { ...about, as: "test", script })) !== undefined) return true;
  return false;
}

export async function withPlant(planting: Planting): Promise<Good> {
  const { hands, signal, spec, passed } = planting;
  const { scripts, others, runners, isOpen } = plantsOf(hands.run.state.spec, spec);
  const parts: PartControl[] = [];
  const isOver = (): boolean => signal.aborted || parts.some(({ said }) => said.evidence.control === "not-seen");
  for (const script of scripts) if (!isOver()) parts.push(...(await inScript(planting, script)));
  // A script that starts no others is all there is to it.
  const mayHaveTests = runners > 0 || isOpen || parts.every((part) => part.isIdle);
  if (mayHaveTests && !isOver()) parts.push(...(await inTests(planting, { without: scripts.map(({ path }) => path) })));
  return together(passed, parts, others);
}

/** At its end, by both ways it has to fail; one that hands its tests to a runner has them as others do. */
async function inScript(planting: Planting, { path, must }: { path: string; must: boolean }): Promise<PartControl[]> {
  const where = { script: path, must };
  const first = await tried(planting, where, "test");
  const isSettled = first.change?.isAtEnd === true ? isNone(first.said) : !isNone(first.said);
  const second = first.change === undefined || isSettled ? undefined : await tried(planting, where, "file");
  const all = second?.change === undefined ? [first] : first.change?.isAtEnd === true ? [first, second] : [second];
  return all.map(({ said, change }) => {
    const isAside = change !== undefined && !must && isIdle(said, planting);
    return { said, part: path, isIdle: isAside };
  });
}

/** What is chosen by name, or by a configuration of its own, may leave out one test more, but not a whole file. */
async function inTests(
  planting: Planting,
  { without, round = 1 }: { without: readonly string[]; round?: number },
): Promise<PartControl[]> {
  const { scripts, runners } = plantsOf(planting.hands.run.state.spec, planting.spec);
  const where = { without, must: false };
  const first = await tried(planting, where, "test");
  const isAgain = isNone(first.said) && !planting.signal.aborted;
  const { said, change } = isAgain ? await tried(planting, where, "file") : first;
  // Where nothing can be planted in them, that matters if something is known to run them.
  if (change === undefined) return runners === 0 || round > 1 ? [] : [{ said, part: TESTS, isIdle: false }];
  const isAside = isIdle(said, planting) || (isNone(said) && runners === 0 && scripts.length > 0);
  const own = { said, part: TESTS, isIdle: isAside };
  // A runner that is red hides those behind it: once more, without the files that it told of.
  const isMore = runners > 1 && change.seen.length > 0 && change.unseen.length > 0 && round < MAX_ROUNDS;
  if (!isMore || planting.signal.aborted) return [own];
  return [own, ...(await inTests(planting, { without: [...without, ...change.seen], round: round + 1 }))];
}

const isNone = ({ evidence: { control } }: Good): boolean => control === "none";

interface Tried {
  change: (PlantedRun & { isAtEnd: boolean }) | undefined;
  said: Good;
}

/** In the same files of both trees: where tests were moved, what is left of them may be run by nobody. */
async function tried(planting: Planting, where: Where, as: Form): Promise<Tried> {
  const { base, tree, signal, passed, baseline } = planting;
  const onChange = () => onPlanted(planting, { ...where, of: tree, alsoIn: base, as });
  const first = await onChange();
  // Once more, for a test that is wrong now and then.
  const isToRepeat = first !== undefined && first.beside.length > 0 && !signal.aborted;
  const change = isToRepeat ? await onChange() : first;
  const asksBase = needsBase(passed, { change, baseline });
  const onBase = asksBase ? await onPlanted(planting, { ...where, of: base, alsoIn: tree, as }) : undefined;
  return { change, said: controlled(passed, { change, base: onBase, baseline }) };
}

async function onPlanted(
  { hands, signal, judge }: Planting,
  { must, of, ...about }: Where & { of: string; alsoIn: string; as: Form },
): Promise<Tried["change"]> {
  const { run, ports } = hands;
  const planted = await ports.workspace.planted(of, { ...about, ...plantable(run.state.spec) });
  if (planted === undefined) return undefined;
  const { isMet: isAtEnd } = planted;
  for (let tries = 1; ; tries += 1) {
    const said = await judge(planted.tree, tries);
    if (said.is === "unverifiable" && tries < MAX_CONTROL_TRIES && !signal.aborted) continue;
    const counted = besidesQuarantine(said, run.state.spec.verdicts, run.now().wall);
    return { ...plantedRun(counted, { ...planted, isMet: isAtEnd && must, as: about.as }), isAtEnd };
  }
}
