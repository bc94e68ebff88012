/** Counts what a turn costs, by model: from what passes the gateway, else from what the agent says at the turn's end. */
import type { Usage } from "../../events.ts";
import { priceOf } from "../../platform/prices.ts";

export interface Tokens {
  /** Without what was read from or written to the cache. */
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

export const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const FIELDS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;
const sumOf = (tokens: Tokens): number => FIELDS.reduce((sum, field) => sum + tokens[field], 0);

export interface Meter {
  /** A request leaves. */
  request(): void;
  /** One of them never left whole. */
  unsent(): void;
  /** A model has answered one; what it cost may be told later. */
  reply(): void;
  /** More of one response's usage: the difference to what was told of it before. `first`: nothing was. */
  spent(model: string, more: Tokens & { first: boolean }): void;
  tool(id: string, name: string): void;
  /** What the agent says the whole turn came to; only for what did not pass the gateway. */
  told(model: string | undefined, tokens: Tokens): void;
  /** Dollars that the agent says the turn cost. */
  toldCost(usd: number): void;
  tools(): [string, number][];
  usage(): Usage;
}

type Price = typeof priceOf;

interface About {
  /** Every request passes here: what was not answered cost nothing. */
  isSeen: boolean;
  price?: Price;
}

export function meter({ isSeen, price = priceOf }: About): Meter {
  const models = new Map<string, Tokens & { requests: number }>();
  const tools = new Map<string, string>();
  let requests = 0;
  let replies = 0;
  let told: { model: string | undefined; tokens: Tokens } | undefined;
  let toldUsd: number | undefined;

  const total = (): Tokens => {
    if (models.size === 0 && told !== undefined) return told.tokens;
    const sum = { ...NO_TOKENS };
    for (const one of models.values()) for (const field of FIELDS) sum[field] += one[field];
    return sum;
  };
  const listed = (): number | null => {
    let sum = 0;
    for (const [model, one] of models) {
      const cost = sumOf(one) === 0 ? 0 : price(model, one);
      if (cost === null) return null;
      sum += cost;
    }
    return sum;
  };
  const usd = (): number | null => {
    if (models.size > 0) return listed();
    if (toldUsd !== undefined) return toldUsd;
    if (told === undefined) return isSeen && replies === 0 ? 0 : null;
    return told.model === undefined ? null : price(told.model, { ...told.tokens, requests: Math.max(1, requests) });
  };

  return {
    request: () => void (requests += 1),
    unsent: () => void (requests -= 1),
    reply: () => void (replies += 1),
    spent(model, { first, ...more }) {
      const before = models.get(model) ?? { ...NO_TOKENS, requests: 0 };
      const after = { ...before, requests: before.requests + (first ? 1 : 0) };
      for (const field of FIELDS) after[field] += more[field];
      models.set(model, after);
    },
    tool: (id, name) => void tools.set(id, name),
    told: (model, tokens) => void (told = { model, tokens }),
    toldCost: (amount) => void (toldUsd = amount),
    tools() {
      const counts = new Map<string, number>();
      for (const name of tools.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
      return [...counts];
    },
    usage: () => ({
      requests,
      toolCalls: tools.size,
      ...total(),
      usd: usd(),
      estimated: models.size > 0 || toldUsd === undefined,
    }),
  };
}
