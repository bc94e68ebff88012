/** What a run that solves has for an answer, and whether it has settled: the rules of convergence. Pure. */
import { createHash } from "node:crypto";
import type { Kept } from "../events.ts";
import { attemptOf, attemptsIn, type Attempt } from "./solve-state.ts";
import type { LaneState, RunState } from "./state.ts";

/** Where the answer lies for the checks; the second where it is JSON. */
export const ANSWER_FILE = "answer.txt";
export const ANSWER_JSON = "answer.json";
const EXTENSIONS = { python: "py", javascript: "mjs", typescript: "ts", shell: "sh" } as const;
export const solutionFile = (language: keyof typeof EXTENSIONS): string => `solution.${EXTENSIONS[language]}`;
export const SOLUTION_FILES: readonly string[] = Object.values(EXTENSIONS).map((extension) => `solution.${extension}`);

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

export interface Candidate {
  /** `answer`: the model said so; `output`: a program printed it. */
  from: "answer" | "output";
  kept: Kept;
}

const isOk = ({ executed }: Attempt): boolean => executed?.kind === "ok";

/** The explicit answer, else what a program printed that ended well. */
export function candidateOf(attempt: Attempt | undefined): Candidate | undefined {
  if (attempt === undefined) return undefined;
  if (attempt.answer !== undefined) return { from: "answer", kept: attempt.answer };
  const stdout = isOk(attempt) ? attempt.executed?.stdout : undefined;
  if (stdout === undefined || stdout.isCut === true || stdout.text.trim() === "") return undefined;
  return { from: "output", kept: stdout };
}

/** Of the present iteration; undefined where there is nothing to judge. */
export const presentCandidate = (state: RunState, lane: LaneState): Candidate | undefined =>
  candidateOf(attemptOf(state, lane));

/** The last there was, whatever came of it; of the main line of work. */
export function lastCandidate(
  state: RunState,
  lane: LaneState,
): { attempt: Attempt; candidate: Candidate } | undefined {
  const attempt = attemptsIn(state, lane.lane).findLast((one) => candidateOf(one) !== undefined);
  const candidate = candidateOf(attempt);
  return attempt === undefined || candidate === undefined ? undefined : { attempt, candidate };
}

/** The code that the answer came from: that of the attempt, else of the last before it that ended well. */
export function codeBehind(state: RunState, attempt: Attempt): Behind | undefined {
  const executed = attemptsIn(state, attempt.lane).findLast((one) => one.turn <= attempt.turn && isOk(one))?.executed;
  if (executed === undefined) return attempt.code;
  return { language: executed.language, kept: executed.code, stdout: executed.stdout };
}

/** `stdout`: what it printed; undefined: it was not run to its end. */
type Behind = NonNullable<Attempt["code"]> & { stdout?: Kept };

export interface Settled {
  rule: "repeated-output" | "unchanged-answer";
  times: number;
}

/**
 * Programs in a row, the last of them just now, that ended well and printed the same: all of it, or the same last line.
 * What only talks in between neither counts nor breaks the row. `since`: turns up to that one do not count.
 */
export function settled(
  state: RunState,
  lane: LaneState,
  { repeats, since = 0 }: { repeats: number; since?: number },
): Settled | undefined {
  const now = attemptOf(state, lane);
  if (now === undefined || candidateOf(now)?.from !== "output") return undefined;
  const ran = attemptsIn(state, lane.lane).filter(({ turn, executed }) => turn > since && executed !== undefined);
  const inRow = (same: (one: Kept, other: Kept) => boolean): number => {
    const last = now.executed?.stdout;
    const differs = ran.findLastIndex(
      (one) => !isOk(one) || last === undefined || one.executed === undefined || !same(one.executed.stdout, last),
    );
    return ran.length - 1 - differs;
  };
  const whole = inRow((one, other) => one.blob === other.blob);
  if (whole >= repeats) return { rule: "repeated-output", times: whole };
  const line = inRow((one, other) => lastLine(one.text) === lastLine(other.text));
  return line >= repeats ? { rule: "unchanged-answer", times: line } : undefined;
}

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1)?.trim() ?? "";

/** What an attempt came to, in one word that is the same for the same. */
function resultOf({ executed, answer, problem }: Attempt): string | undefined {
  if (answer !== undefined) return `answer ${answer.blob}`;
  if (executed !== undefined)
    return executed.fingerprint === null ? `output ${executed.stdout.blob}` : `failure ${executed.fingerprint}`;
  return problem === undefined ? undefined : `problem ${hash(problem)}`;
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");

const resultsIn = (state: RunState, { lane }: LaneState): string[] =>
  attemptsIn(state, lane).flatMap((one) => resultOf(one) ?? []);

/** Attempts, the last of them just now, that came to the same. */
export function sameInRow(state: RunState, lane: LaneState): number {
  const results = resultsIn(state, lane);
  return results.length - 1 - results.findLastIndex((one) => one !== results.at(-1));
}

/** Results go A-B-A-B. */
export function oscillates(state: RunState, lane: LaneState): boolean {
  const results = resultsIn(state, lane);
  const [a, b, c, d] = results.slice(-4);
  return d !== undefined && a === c && b === d && a !== b;
}
