/** Counts what a turn costs from what a program says of itself: by message, for the turn, or for the conversation so far. */
import type { Usage } from "../../events.ts";

export interface Tokens {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}
export interface Counted extends Tokens {
  /** US dollars; undefined: it did not say. */
  usd?: number | undefined;
}
export type Price = (model: string, spent: Tokens & { requests: number }) => number | null;

export const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const FIELDS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

function combine(a: Tokens, b: Tokens, by: (x: number, y: number) => number): Tokens {
  const out = { ...NO_TOKENS };
  for (const field of FIELDS) out[field] = by(a[field], b[field]);
  return out;
}
const sumOf = (tokens: Tokens): number => FIELDS.reduce((sum, field) => sum + tokens[field], 0);

export interface Meter {
  /** Of one message, as often as it is seen. */
  message(id: string, counted: Counted): void;
  /** Of this turn so far. */
  turn(counted: Counted): void;
  /** Of the conversation so far: what it had before this turn is taken off. */
  session(counted: Counted): void;
  tool(id: string, name: string): boolean;
  tools(): [string, number][];
  /** Messages that cost something. */
  messages(): number;
  /** Of the last message that said so. */
  contextTokens(): number | null;
  /** The conversation's totals at this moment, for the next turn; undefined where it tells none. */
  totals(): Counted | undefined;
  usage(about: { requests: number; model: string | undefined; price: Price }): Usage;
}

/** `before`: the conversation's totals when the turn began. */
export function meter(before: Counted | undefined): Meter {
  const messages = new Map<string, Counted>();
  const calls = new Map<string, number>();
  const ids = new Set<string>();
  let ofTurn: Counted | undefined;
  let totals: Counted | undefined;
  let context: number | null = null;

  const sum = (): Counted => {
    let all: Tokens = NO_TOKENS;
    let usd: number | undefined;
    for (const one of messages.values()) {
      all = combine(all, one, (x, y) => x + y);
      if (one.usd !== undefined) usd = (usd ?? 0) + one.usd;
    }
    return { ...all, usd };
  };
  const larger = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

  return {
    message(id, counted) {
      const known = messages.get(id);
      const most = { ...combine(known ?? NO_TOKENS, counted, Math.max), usd: larger(known?.usd, counted.usd) };
      messages.set(id, most);
      if (sumOf(most) > 0) context = sumOf(most);
    },
    turn(counted) {
      ofTurn = counted;
    },
    session(counted) {
      totals = counted;
      const base = before ?? { ...NO_TOKENS, usd: 0 };
      // A conversation that a program counts anew after a restart has less than before.
      const restarted = sumOf(counted) < sumOf(base);
      const usd = counted.usd === undefined ? undefined : Math.max(0, counted.usd - (restarted ? 0 : (base.usd ?? 0)));
      ofTurn = { ...(restarted ? counted : combine(counted, base, (x, y) => x - y)), usd };
    },
    tool(id, name) {
      if (ids.has(id)) return false;
      ids.add(id);
      calls.set(name, (calls.get(name) ?? 0) + 1);
      return true;
    },
    tools: () => [...calls],
    messages: () => [...messages.values()].filter((one) => sumOf(one) > 0).length,
    contextTokens: () => context,
    totals: () => totals ?? before,
    usage({ requests, model, price }) {
      const counted = sum();
      const tokens = combine(counted, ofTurn ?? NO_TOKENS, Math.max);
      const reported = larger(counted.usd, ofTurn?.usd);
      const listed = model === undefined ? null : price(model, { ...tokens, requests });
      const isUncounted = sumOf(tokens) === 0 && reported === undefined;
      const usd = reported ?? (isUncounted ? (requests === 0 ? 0 : null) : listed);
      return { requests, toolCalls: ids.size, ...tokens, usd, estimated: reported === undefined };
    },
  };
}
