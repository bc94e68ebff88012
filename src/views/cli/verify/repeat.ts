/**
 * Runs the checks of a finished run again on its own tree, out of pawl's repository, with its frozen commands,
 * environment and fence, and compares each with the journal.
 */
import { composeForRun, type Composed, type State } from "../../../compose.ts";
import type { Apart } from "../../../compose/apart.ts";
import { judgedOnce, overRuns } from "../../../compose/judge.ts";
import { TerminalError, UsageError } from "../../../errors.ts";
import type { Verdict } from "../../../events.ts";
import type { Blobs } from "../../../ports.ts";
import { differences, testsIn, type Tests } from "./compare.ts";
import type { Record, Recorded } from "./record.ts";

/** More runs of a check that differs: is it another answer, or one that changes? */
const MAX_MORE_RUNS = 2;

export interface Repeated extends Recorded {
  /** `unjudged`: nobody can say now. `left-out`: on purpose. */
  is: "same" | "different" | "unjudged" | "left-out";
  now: Verdict | undefined;
  /** How it differs, or why it was not judged. */
  says: string[];
}

export interface Repeating {
  state: State;
  /** Where logs of now go. */
  apart: Apart;
  /** Whether models are asked again, which costs. */
  judges: boolean;
  signal: AbortSignal;
  onRepeated: (repeated: Repeated) => void;
}

export async function repeatChecks(record: Record, repeating: Repeating): Promise<Repeated[]> {
  const done: Repeated[] = [];
  const tell = (repeated: Repeated): void => {
    done.push(repeated);
    repeating.onRepeated(repeated);
  };
  const wanted = record.verdicts.filter((one) => whyNot(one, repeating) === undefined);
  let composed: Composed | undefined;
  let trouble: string | undefined;
  try {
    composed = wanted.length === 0 ? undefined : await compose(record, { wanted, repeating });
  } catch (error) {
    trouble = troubleOf(error);
  }
  try {
    const verdicts = new Map<string, Verdict>();
    for (const one of record.verdicts) {
      if (repeating.signal.aborted) break;
      const left = whyNot(one, repeating);
      if (left !== undefined) tell({ ...one, is: left.is, now: undefined, says: [left.says] });
      else if (composed === undefined) tell({ ...one, is: "unjudged", now: undefined, says: [trouble ?? "?"] });
      else {
        const repeated = await repeat(one, { record, composed, repeating, verdicts });
        if (repeating.signal.aborted) break;
        if (repeated.now !== undefined) verdicts.set(one.check.name, repeated.now);
        tell(repeated);
      }
    }
    return done;
  } finally {
    await composed?.close();
  }
}

function whyNot(
  { check, verdict }: Recorded,
  { judges }: Pick<Repeating, "judges">,
): { is: "unjudged" | "left-out"; says: string } | undefined {
  if (verdict.is === "skipped") return { is: "left-out", says: `skipped then, too: ${verdict.reason}` };
  if (check.kind === "custom")
    return { is: "unjudged", says: "it belongs to the program that started the run, and only that can repeat it" };
  if (check.kind === "judge" && !judges)
    return { is: "left-out", says: "a model judged; --judges asks it again, which costs" };
  return undefined;
}

async function compose(
  record: Record,
  { wanted, repeating }: { wanted: readonly Recorded[]; repeating: Repeating },
): Promise<Composed> {
  const checks = record.spec.checks.filter(({ name }) => wanted.some(({ check }) => check.name === name));
  const agents = checks.some(({ kind }) => kind === "judge") ? {} : { agents: {} };
  const start = { spec: { ...record.spec, checks }, base: record.base };
  return await composeForRun({ run: record.run, env: process.env, state: repeating.apart.state, start, ...agents });
}

interface Repeat {
  record: Record;
  composed: Composed;
  repeating: Repeating;
  verdicts: ReadonlyMap<string, Verdict>;
}

async function repeat(one: Recorded, { record, composed, repeating, verdicts }: Repeat): Promise<Repeated> {
  const check = composed.ports.checks.find(({ name }) => name === one.check.name);
  if (check === undefined) return { ...one, is: "unjudged", now: undefined, says: ["no such check"] };
  const { state, apart, signal } = repeating;
  const judging = {
    ports: composed.ports,
    spec: record.spec,
    base: record.baseTree,
    tree: record.tree,
    baseTests: record.change?.baseTests,
    // What was in quarantine then still is.
    wall: one.at,
    undone: record.change?.protected ?? [],
    baselines: record.baselines,
    testsFollowed: record.changes.some((change) => change.testsFollowed === true),
    verdicts,
    redact: state.redact,
    signal,
  };
  const was = await testsOf(one.verdict, state.blobs);
  const said: { now: Verdict; differs: string[] }[] = [];
  try {
    while (said.length <= MAX_MORE_RUNS && !signal.aborted) {
      const now = await judgedOnce(check, judging);
      if (now.is === "unverifiable" && one.verdict.is !== "unverifiable")
        return { ...one, is: "unjudged", now, says: [now.reason] };
      const tests = { was, now: await testsOf(now, apart.state.blobs) };
      said.push({ now, differs: differences({ was: one.verdict, now }, tests) });
      if (said.at(-1)?.differs.length === 0) break;
    }
  } catch (error) {
    return { ...one, is: "unjudged", now: undefined, says: [troubleOf(error)] };
  }
  return { ...one, ...answerOf(said) };
}

/** Pure: the same at once is the same; only sometimes the same is no evidence. */
export function answerOf(said: readonly { now: Verdict; differs: string[] }[]): Pick<Repeated, "is" | "now" | "says"> {
  const [first] = said;
  if (first === undefined) return { is: "unjudged", now: undefined, says: ["it was not run"] };
  if (first.differs.length === 0) return { is: "same", now: first.now, says: [] };
  const now = overRuns(said.map((one) => one.now));
  const alike = said.filter(({ differs }) => differs.length === 0).length;
  if (alike === 0) return { is: "different", now, says: first.differs };
  return { is: "different", now, says: [`as recorded in ${alike} of ${said.length} runs`, ...first.differs] };
}

async function testsOf(verdict: Verdict, blobs: Blobs): Promise<Tests> {
  const ids = "evidence" in verdict ? verdict.evidence.tests?.ids : undefined;
  const bytes = ids === undefined ? undefined : await blobs.get(ids).catch(() => undefined);
  return testsIn(bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8"));
}

/** What is wrong with the machine or the state is why it cannot be judged; anything else is a mistake of pawl's. */
function troubleOf(error: unknown): string {
  if (error instanceof TerminalError || error instanceof UsageError)
    return error.hint === undefined ? error.message : `${error.message} (${error.hint})`;
  if (error instanceof Error && "code" in error) return error.message;
  throw error;
}
