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
  code: { language: Language; text: string } | null;
}

export async function answerOf(state: RunState, blobs: Blobs): Promise<SolveAnswer> {
  const outcome = state.outcome ?? null;
  const last = lastCandidate(state, mainLane(state));
  const settled = outcome?.is === "verified" || outcome?.is === "claimed";
  if (last === undefined) return { outcome, text: null, settled: false, code: null };
  const behind = codeBehind(state, last.attempt);
  const code = behind === undefined ? null : { language: behind.language, text: await whole(blobs, behind.kept) };
  return { outcome, text: (await whole(blobs, last.candidate.kept)).trim(), settled, code };
}

export async function whole(blobs: Blobs, { blob, text }: Kept): Promise<string> {
  const bytes = await blobs.get(blob);
  return bytes === undefined ? text : Buffer.from(bytes).toString();
}

/** Where a schema judges it, or where it can be nothing else, as JSON. */
export function answerValue({ spec }: RunState, text: string | null): unknown {
  if (text === null) return null;
  const asked = spec.checks.some(
    (check) => check.kind === "requirement" && check.require.some(({ file }) => file === ANSWER_JSON),
  );
  if (!asked && !/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
