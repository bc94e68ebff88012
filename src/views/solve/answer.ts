/** The answer of a run that solves, with what stands behind it: from its state and the blobs, for all who show it. */
import type { Kept, Outcome } from "../../events.ts";
import { ANSWER_JSON, codeBehind, lastCandidate } from "../../loop/solve-answer.ts";
import { mainLane, type RunState } from "../../loop/state.ts";
import type { Blobs } from "../../ports.ts";
import type { Language } from "../../ports/executor.ts";

export interface SolveAnswer {
  outcome: Outcome | null;
  /** What stands as the answer; of a run that found none the last there was, if any. */
  text: string | null;
  /** It is what the run ended with; otherwise nobody stands by it. */
  settled: boolean;
  /** The program behind it. */
  code: ProgramBehind | null;
}

export interface ProgramBehind {
  language: Language;
  text: string;
  /** False: it printed something else, and the model made the answer of it. */
  printsAnswer: boolean;
}

export async function answerOf(state: RunState, blobs: Blobs): Promise<SolveAnswer> {
  const outcome = state.outcome ?? null;
  const last = lastCandidate(state, mainLane(state));
  const settled = outcome?.is === "verified" || outcome?.is === "claimed";
  if (last === undefined) return { outcome, text: null, settled: false, code: null };
  const text = (await whole(blobs, last.candidate.kept)).trim();
  const behind = codeBehind(state, last.attempt);
  if (behind === undefined) return { outcome, text, settled, code: null };
  const { language, kept, stdout } = behind;
  const printsAnswer = stdout !== undefined && prints(await whole(blobs, stdout), text);
  return { outcome, text, settled, code: { language, text: await whole(blobs, kept), printsAnswer } };
}

/** All of it, or its last lines. */
const prints = (printed: string, answer: string): boolean => `\n${printed.trim()}`.endsWith(`\n${answer}`);

export async function whole(blobs: Blobs, { blob, text }: Kept): Promise<string> {
  const bytes = await blobs.get(blob);
  return bytes === undefined ? text : Buffer.from(bytes).toString();
}

/** Where a schema judges it, or where it can be nothing else, as JSON. */
export function answerValue(
  { spec }: RunState,
  text: string | null,
  parse: (text: string) => unknown = JSON.parse,
): unknown {
  if (text === null) return null;
  const asked = spec.checks.some(
    (check) => check.kind === "requirement" && check.require.some(({ file }) => file === ANSWER_JSON),
  );
  if (!asked && !/^[[{]/.test(text)) return text;
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** For `JSON.stringify` alone: numbers as they were written, for JavaScript has not all of them. */
export function exactJson(text: string): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON: (number: string) => unknown };
  const asWritten = (_key: string, value: unknown, about?: { source?: string }): unknown =>
    typeof value === "number" && about?.source !== undefined ? rawJSON(about.source) : value;
  return JSON.parse(text, asWritten);
}
