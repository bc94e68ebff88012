/**
 * Counts what a turn costs from what a program says of itself: by message, for the turn, or for the conversation so far;
 * and from what its models say in their answers, where those pass pawl. A program may be ended before it says all.
 */
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
  /** Of one request, as its model says to pawl, as often as more is known. */
  seen(request: string, model: string, tokens: Tokens): void;
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
  /** What the next turn has to take off. */
  conversation(): Before;
  usage(about: About): Usage;
}

interface About {
  requests: number;
  /** That a model began to answer; undefined: nobody saw them. */
  answers?: number | undefined;
  model: string | undefined;
  price: Price;
}

/** Of a conversation, when a turn begins. */
export interface Before {
  /** As the program last told them; undefined: never. */
  totals?: Counted | undefined;
  /** What passed pawl since then, in turns that were ended before they told: the program's next totals may have it or not. */
  untold?: Tokens | undefined;
}

export function meter(before: Before): Meter {
  const requests = new Map<string, Tokens & { model: string }>();
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
  /** Through pawl, in this turn. */
  const passed = (): Tokens =>
    [...requests.values()].reduce<Tokens>((all, one) => combine(all, one, (x, y) => x + y), NO_TOKENS);
  const larger = (a: number | undefined, b: number | undefined): number | undefined =>
    a === undefined || b === undefined ? (a ?? b) : Math.max(a, b);

  /** US dollars by the list for what the models told; null: not all of it is known. */
  const listedOf = ({ answers = 0, price }: About): number | null => {
    if (answers > requests.size) return null;
    let usd = 0;
    for (const { model, ...tokens } of requests.values()) {
      const cost = price(model, { ...tokens, requests: 1 });
      if (cost === null) return null;
      usd += cost;
    }
    return usd;
  };

  /** What the program told, of the turn or by message. */
  const toldUsage = ({ requests: made, answers, model, price }: About): Told => {
    const counted = sum();
    const tokens = combine(counted, ofTurn ?? NO_TOKENS, Math.max);
    const reported = larger(counted.usd, ofTurn?.usd);
    const listed = model === undefined ? null : price(model, { ...tokens, requests: made });
    const isUncounted = sumOf(tokens) === 0 && reported === undefined;
    const isFree = made === 0 || answers === 0;
    const usd = reported ?? (isUncounted ? (isFree ? 0 : null) : listed);
    return { tokens, reported, usd };
  };

  return {
    seen: (request, model, tokens) => void requests.set(request, { model, ...tokens }),
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
      const base = before.totals ?? { ...NO_TOKENS, usd: 0 };
      // A conversation that a program counts anew after a restart has less than before.
      const restarted = sumOf(counted) < sumOf(base);
      const usd = counted.usd === undefined ? undefined : Math.max(0, counted.usd - (restarted ? 0 : (base.usd ?? 0)));
      const since = restarted ? counted : combine(counted, base, (x, y) => x - y);
      // Too little where it has not got them: then what passes in this turn is more, and counts.
      ofTurn = { ...combine(since, before.untold ?? NO_TOKENS, (x, y) => Math.max(0, x - y)), usd };
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
    conversation: () =>
      totals === undefined
        ? { totals: before.totals, untold: combine(before.untold ?? NO_TOKENS, passed(), (x, y) => x + y) }
        : { totals },
    usage(about) {
      const told = toldUsage(about);
      const through = passed();
      const made = { requests: about.requests, toolCalls: ids.size };
      // The one or the other: programs count what the cache had in ways of their own.
      if (sumOf(through) <= sumOf(told.tokens))
        return { ...made, ...told.tokens, usd: told.usd, estimated: told.reported === undefined };
      const listed = listedOf(about);
      // A price of its own without tokens is of all that it did; with fewer, of what it had told by then.
      const isAll = told.reported !== undefined && sumOf(told.tokens) === 0;
      const usd = isAll ? told.reported : listed === null ? null : Math.max(listed, told.reported ?? 0);
      return { ...made, ...through, usd: usd ?? null, estimated: !isAll };
    },
  };
}

interface Told {
  tokens: Tokens;
  /** US dollars by its own word. */
  reported: number | undefined;
  usd: number | null;
}
