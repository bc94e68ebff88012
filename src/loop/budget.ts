/**
 * The ledger: what was spent, what is left, what the next turn may take. Sums of facts, kept when a run is driven again.
 * Unknown cost stays unknown: a dollar limit over unknown cost stops the run instead of counting it as nothing.
 */
import type { Usage } from "../events.ts";
import type { Limits } from "../spec.ts";
import type { RunState } from "./state.ts";

const HOUR_MS = 3_600_000;

export interface Spent {
  turns: number;
  requests: number;
  toolCalls: number;
  tokens: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** Known dollars. */
  usd: number;
  /** Turns, and judgements, whose cost nobody knows. */
  unknownTurns: number;
  estimated: boolean;
}

export function noSpending(): Spent {
  return {
    turns: 0,
    requests: 0,
    toolCalls: 0,
    tokens: 0,
    inputTokens: 0,
    outputTokens: 0,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    usd: 0,
    unknownTurns: 0,
    estimated: false,
  };
}

export const NO_USAGE: Usage = {
  requests: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  usd: 0,
  estimated: false,
};

const tokensOf = (usage: Usage): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

/** Every turn is charged, also failed, cut and interrupted ones; and every judgement by a model. */
export function addUsage(spent: Spent, usage: Usage): void {
  spent.requests += usage.requests;
  spent.toolCalls += usage.toolCalls;
  spent.tokens += tokensOf(usage);
  spent.inputTokens += usage.inputTokens;
  spent.outputTokens += usage.outputTokens;
  spent.cacheReadTokens += usage.cacheReadTokens;
  spent.cacheWriteTokens += usage.cacheWriteTokens;
  if (usage.usd === null) spent.unknownTurns += 1;
  else spent.usd += usage.usd;
  spent.estimated ||= usage.estimated;
}

export interface Exhausted {
  which: string;
  spent: number;
  limit: number;
}

/** The first limit that leaves nothing for another turn. `elapsed` is driven time in ms. */
export function exhausted(
  state: RunState,
  { iteration, elapsed }: { iteration: number; elapsed: number },
): Exhausted | undefined {
  const { limits, spent } = state;
  const rows: [string, number, number | undefined][] = [
    ["iterations", iteration, limits.iterations],
    ["turns", spent.turns, limits.turns],
    ["tool-calls", spent.toolCalls, limits.toolCalls],
    ["tokens", spent.tokens, limits.tokens],
    ["usd", spent.usd, limits.usd],
    ["time", elapsed, limits.drivenMs],
  ];
  for (const [which, used, limit] of rows)
    if (limit !== undefined && used >= limit) return { which, spent: used, limit };
  if (limits.usd !== undefined && needsPrice(limits) && spent.unknownTurns > 0)
    return { which: "usd-unknown", spent: spent.unknownTurns, limit: limits.usd };
  return undefined;
}

/** Nothing but dollars bounds the run, so they have to be known. */
const needsPrice = ({ usd, tokens, drivenMs }: Limits): boolean =>
  usd !== undefined && tokens === undefined && drivenMs === undefined;

export interface TurnCap {
  usd: number | null;
  tokens: number | null;
  toolCalls: number | null;
  needsPrice: boolean;
}

/** Turns under way at this moment, of which no fact tells yet what they cost. */
export interface UnderWay {
  own: Usage;
  /** In other lanes. */
  others: readonly Usage[];
}

/** What one turn may take: what it has, and its share of what all of them together have left; at most the cap for a turn. */
export function capOf({ limits, spent }: RunState, { own, others }: UnderWay): TurnCap {
  const share = (limit: number | undefined, used: number, of: (usage: Usage) => number): number | null => {
    if (limit === undefined) return null;
    const taken = others.reduce((sum, other) => sum + of(other), used + of(own));
    return of(own) + Math.max(0, limit - taken) / (others.length + 1);
  };
  const rounded = (n: number | null): number | null => (n === null ? null : Math.ceil(n));
  const usd = share(limits.usd, spent.usd, (usage) => usage.usd ?? 0);
  return {
    usd: usd === null ? (limits.turnUsd ?? null) : Math.min(usd, limits.turnUsd ?? usd),
    tokens: rounded(share(limits.tokens, spent.tokens, tokensOf)),
    toolCalls: rounded(share(limits.toolCalls, spent.toolCalls, ({ toolCalls }) => toolCalls)),
    needsPrice: needsPrice(limits),
  };
}

/** Called on every usage event of a running turn: the limit it has reached, if any. */
export function overCap(cap: TurnCap, usage: Usage): string | undefined {
  if (cap.needsPrice && usage.usd === null) return "budget:usd-unknown";
  if (cap.usd !== null && usage.usd !== null && usage.usd >= cap.usd) return "budget:usd";
  if (cap.tokens !== null && tokensOf(usage) >= cap.tokens) return "budget:tokens";
  if (cap.toolCalls !== null && usage.toolCalls >= cap.toolCalls) return "budget:tool-calls";
  return undefined;
}

/** Wall time at which the next turn may start under `callsPerHour`, undefined for now. */
export function throttledUntil(state: RunState, wall: number): number | undefined {
  const limit = state.limits.callsPerHour;
  if (limit === undefined) return undefined;
  const recent = state.callTimes.filter((at) => at > wall - HOUR_MS && at <= wall);
  const oldest = recent[recent.length - limit];
  return oldest === undefined ? undefined : oldest + HOUR_MS;
}

/** `12 of 20` for people, per limit that is set. */
export function remaining(
  limits: Limits,
  spent: Spent,
  { iteration, elapsed }: { iteration: number; elapsed: number },
): Record<string, { used: number; limit: number }> {
  const rows: [string, number, number | undefined][] = [
    ["iterations", iteration, limits.iterations],
    ["turns", spent.turns, limits.turns],
    ["toolCalls", spent.toolCalls, limits.toolCalls],
    ["tokens", spent.tokens, limits.tokens],
    ["usd", spent.usd, limits.usd],
    ["drivenMs", elapsed, limits.drivenMs],
  ];
  return Object.fromEntries(
    rows.flatMap(([name, used, limit]) => (limit === undefined ? [] : [[name, { used, limit }]])),
  );
}
