/** What each agent of a run has cost, and who is on the bench: the same for status, summary and JSON. Pure. */
import { rosterOf } from "../loop/seats.ts";
import type { SpentBy } from "../loop/fold-seats.ts";
import type { RunState } from "../loop/state.ts";
import { cost, counted, duration, grouped } from "./cli/format.ts";
import { oneLine } from "./plain.ts";

const MAX_NAME_CHARS = 80;
const MAX_REASON_CHARS = 200;
const short = (text: string): string => oneLine(text, { max: MAX_NAME_CHARS });

export interface BenchView {
  /** `agent` or `agent:model`, as it was given. */
  seat: string;
  reason: string;
  /** null when it may be asked again. */
  leftMs: number | null;
  /** How often in this run. */
  times: number;
}

/** All that were ever benched. */
export function benchViews({ seats, at, elapsed }: RunState, { now }: { now: number }): BenchView[] {
  return [...seats].flatMap(([seat, { bench, benchedFor: reason, benchings: times }]) => {
    if (times === 0) return [];
    const until = bench === undefined ? null : (bench.until ?? at + (bench.untilElapsed - elapsed));
    return [{ seat, reason, leftMs: until !== null && until > now ? until - now : null, times }];
  });
}

/** Rows of what was spent; none where one agent with one model did it all. */
export function spentRows(state: Pick<RunState, "spec" | "spentBy">): string[] {
  const rows = [...state.spentBy.values()];
  return rows.length < 2 && rosterOf(state.spec).length < 2 ? [] : rows.map(agentSpentWords);
}

export function agentSpentWords(by: SpentBy): string {
  const name = by.model === null ? by.agent : `${by.agent}:${by.model}`;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = by;
  const parts = `in ${grouped(inputTokens)}, out ${grouped(outputTokens)}, cache read ${grouped(cacheReadTokens)}, cache write ${grouped(cacheWriteTokens)}`;
  return `${short(name)}: ${cost(by)}, ${counted(by.turns, "turn")}, ${grouped(by.tokens)} tokens (${parts})`;
}

export function benchWords({ seat, reason, leftMs, times }: BenchView): string {
  const often = times === 1 ? "" : ` (${times} times)`;
  const left = leftMs === null ? "was on the bench" : `on the bench for ${duration(leftMs)} more`;
  return `${short(seat)}: ${left}${often}: ${oneLine(reason, { max: MAX_REASON_CHARS })}`;
}
