/**
 * Counts what a turn costs. A request is seen twice: by the gateway, as soon as the model says what it cost, and by
 * opencode, once the tools of its answer have run. It counts once, and the larger word counts.
 */
import type { Usage } from "../../events.ts";
import { priceOf } from "../../platform/prices.ts";
import { numberAt, objectAt, textAt, type Json } from "./json.ts";
import { combine, NO_TOKENS, type Spent, type Tokens } from "./spent.ts";

export interface Meter {
  /** By the gateway, as often as more is known. */
  spent(spent: Spent): void;
  /** A `step-finish` part of opencode's; `model` without the provider. */
  response(model: string, part: Json): void;
  tool(id: string, name: string): void;
  tools(): [string, number][];
  /** `requests`: made, as far as somebody counted. */
  usage(requests?: number): Usage;
}

interface Entry {
  session: string;
  model: string;
  tokens: Tokens;
  /** As opencode reckons; undefined: it has not told. */
  usd: number | undefined;
}

const add = (x: number, y: number): number => x + y;
const isSame = (a: Tokens, b: Tokens): boolean => sumOf(combine(a, b, (x, y) => Math.abs(x - y))) === 0;
const sumOf = (tokens: Tokens): number => Object.values(tokens).reduce(add, 0);

/** All that the model had before it, and its answer. */
export const contextOf = (part: Json): number => sumOf(tokensIn(part));

function tokensIn(part: Json): Tokens {
  const tokens = objectAt(part, "tokens");
  const cache = objectAt(tokens, "cache");
  return {
    inputTokens: numberAt(tokens, "input"),
    // It takes what was thought out of the output.
    outputTokens: numberAt(tokens, "output") + numberAt(tokens, "reasoning"),
    cacheReadTokens: numberAt(cache, "read"),
    cacheWriteTokens: numberAt(cache, "write"),
  };
}

export function meter(price: typeof priceOf = priceOf): Meter {
  const entries: Entry[] = [];
  const requests = new Map<string, Entry>();
  const seen = new Set<string>();
  const tools = new Map<string, string>();

  /** A model that opencode has no price for costs nothing with it: then it is the list's, or unknown. */
  const costs = (): { usd: number | null; estimated: boolean } => {
    let usd: number | null = 0;
    const listed = new Map<string, Tokens & { requests: number }>();
    for (const { model, tokens, usd: told = 0 } of entries) {
      if (told > 0 || sumOf(tokens) === 0) usd += told;
      else {
        const before = listed.get(model) ?? { ...NO_TOKENS, requests: 0 };
        listed.set(model, { ...combine(before, tokens, add), requests: before.requests + 1 });
      }
    }
    for (const [model, spent] of listed) {
      const cost = price(model, spent);
      usd = usd === null || cost === null ? null : usd + cost;
    }
    return { usd, estimated: listed.size > 0 };
  };

  return {
    spent({ request, session, model, tokens }) {
      const known = requests.get(request);
      const entry = known ?? { session, model, tokens: NO_TOKENS, usd: undefined };
      entry.tokens = combine(entry.tokens, tokens, Math.max);
      if (known !== undefined) return;
      requests.set(request, entry);
      entries.push(entry);
    },
    response(model, part) {
      const id = textAt(part, "id");
      if (seen.has(id)) return;
      seen.add(id);
      const session = textAt(part, "sessionID");
      const tokens = tokensIn(part);
      const open = entries.filter((entry) => entry.session === session && entry.usd === undefined);
      // The gateway may be ahead, and one that was broken off is asked again: the one with the same numbers is meant.
      const known = open.find((entry) => isSame(entry.tokens, tokens)) ?? open[0];
      const entry = known ?? { session, model, tokens: NO_TOKENS, usd: undefined };
      entry.tokens = combine(entry.tokens, tokens, Math.max);
      entry.usd = numberAt(part, "cost");
      // As it was asked for: a provider may answer with a longer name.
      entry.model = model;
      if (known === undefined) entries.push(entry);
    },
    tool: (id, name) => void tools.set(id, name),
    tools() {
      const counts = new Map<string, number>();
      for (const name of tools.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
      return [...counts];
    },
    usage(made = 0) {
      const tokens = entries.reduce((sum, entry) => combine(sum, entry.tokens, add), NO_TOKENS);
      return { requests: Math.max(made, entries.length), toolCalls: tools.size, ...tokens, ...costs() };
    },
  };
}
