/**
 * Counts what a turn costs from the stream itself. Every API message counts once, by its id: the stream, the snapshots
 * of blocks and the transcript all repeat the same usage. Tokens come in parts, so each field keeps its largest value.
 */
import type { Usage } from "../events.ts";

export interface Tokens {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}
export type Price = (model: string, spent: Tokens & { requests: number }) => number | null;

/** As the Messages API reports it; null and absent mean "not said here". */
export interface ApiUsage {
  input_tokens?: number | null;
  output_tokens?: number | null;
  cache_read_input_tokens?: number | null;
  cache_creation_input_tokens?: number | null;
  /** Of one answer, where it took several: what the provider did to shorten the conversation is counted here alone. */
  iterations?: readonly (ApiUsage & { type?: unknown })[] | null;
}

const NO_TOKENS: Tokens = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
const FIELDS = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

/** With what shortening the conversation cost. */
const billedOf = (usage: ApiUsage): Tokens =>
  (usage.iterations ?? [])
    .filter(({ type }) => type === "compaction")
    .reduce((sum, one) => combine(sum, tokensOf(one), (x, y) => x + y), tokensOf(usage));

/** How long the conversation is by now: as the last look of the model at it found it. */
export function contextOf(usage: ApiUsage): number {
  const last = usage.iterations?.findLast(({ type }) => type === "message");
  return sumOf(tokensOf(last ?? usage));
}

function tokensOf(usage: ApiUsage): Tokens {
  return {
    inputTokens: usage.input_tokens ?? 0,
    outputTokens: usage.output_tokens ?? 0,
    cacheReadTokens: usage.cache_read_input_tokens ?? 0,
    cacheWriteTokens: usage.cache_creation_input_tokens ?? 0,
  };
}

export function combine(a: Tokens, b: Tokens, by: (x: number, y: number) => number): Tokens {
  const out = { ...NO_TOKENS };
  for (const field of FIELDS) out[field] = by(a[field], b[field]);
  return out;
}

export const sumOf = (tokens: Tokens): number => FIELDS.reduce((sum, field) => sum + tokens[field], 0);

export interface Meter {
  /** Usage of one API message, as often as it is seen. */
  message(id: string, model: string, usage: ApiUsage): void;
  /** A request that has no usage of its own: it was refused, or it only asked whether a model exists. */
  bareRequest(): void;
  tool(id: string, name: string): void;
  /** The last seen usage of that message. */
  of(id: string): Tokens | undefined;
  tokens(): Tokens;
  tools(): [string, number][];
  usage(): Usage;
}

export function meter(price: Price): Meter {
  const messages = new Map<string, Tokens>();
  const models = new Map<string, Tokens & { requests: number }>();
  const toolIds = new Set<string>();
  const toolCounts = new Map<string, number>();
  let bare = 0;

  const tokens = (): Tokens => {
    let total = NO_TOKENS;
    for (const one of models.values()) total = combine(total, one, (x, y) => x + y);
    return total;
  };
  const usd = (): number | null => {
    let total = 0;
    for (const [model, one] of models) {
      const cost = sumOf(one) === 0 ? 0 : price(model, one);
      if (cost === null) return null;
      total += cost;
    }
    return total;
  };

  return {
    message(id, model, usage) {
      const known = messages.get(id);
      const before = known ?? NO_TOKENS;
      const after = combine(before, billedOf(usage), Math.max);
      messages.set(id, after);
      const delta = combine(after, before, (x, y) => x - y);
      const spent = models.get(model) ?? { ...NO_TOKENS, requests: 0 };
      const requests = spent.requests + (known === undefined ? 1 : 0);
      models.set(model, { ...combine(spent, delta, (x, y) => x + y), requests });
    },
    bareRequest() {
      bare += 1;
    },
    tool(id, name) {
      if (toolIds.has(id)) return;
      toolIds.add(id);
      toolCounts.set(name, (toolCounts.get(name) ?? 0) + 1);
    },
    of: (id) => messages.get(id),
    tokens,
    tools: () => [...toolCounts],
    usage: () => ({
      requests: messages.size + bare,
      toolCalls: toolIds.size,
      ...tokens(),
      usd: usd(),
      estimated: true,
    }),
  };
}
