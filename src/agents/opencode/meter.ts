/** Counts what a turn costs. Every response counts once, by the id of the part that ends it. */
import type { Usage } from "../../events.ts";
import { priceOf } from "../../platform/prices.ts";
import { numberAt, objectAt, type Json } from "./json.ts";

export interface Meter {
  /** A `step-finish` part: `model` without the provider. */
  response(id: string, model: string, part: Json): void;
  tool(id: string, name: string): void;
  tools(): [string, number][];
  /** `requests`: made, as far as somebody counted. */
  usage(requests?: number): Usage;
}

const NOTHING = { requests: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, usd: 0 };
const FIELDS = ["requests", "inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"] as const;

/** All that the model had before it, and its answer. */
export function contextOf(part: Json): number {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = spentIn(part);
  return inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens;
}

function spentIn(part: Json): typeof NOTHING {
  const tokens = objectAt(part, "tokens");
  const cache = objectAt(tokens, "cache");
  return {
    requests: 1,
    inputTokens: numberAt(tokens, "input"),
    // It takes what was thought out of the output.
    outputTokens: numberAt(tokens, "output") + numberAt(tokens, "reasoning"),
    cacheReadTokens: numberAt(cache, "read"),
    cacheWriteTokens: numberAt(cache, "write"),
    usd: numberAt(part, "cost"),
  };
}

export function meter(price: typeof priceOf = priceOf): Meter {
  const seen = new Set<string>();
  const models = new Map<string, typeof NOTHING>();
  const tools = new Map<string, string>();

  const total = (): typeof NOTHING => {
    const sum = { ...NOTHING };
    for (const one of models.values()) for (const field of FIELDS) sum[field] += one[field];
    return sum;
  };
  /** A model that opencode has no price for costs nothing with it: then it is the list's, or unknown. */
  const costs = (): { usd: number | null; estimated: boolean } => {
    let usd: number | null = 0;
    let estimated = false;
    for (const [model, spent] of models) {
      const free = spent.inputTokens + spent.outputTokens + spent.cacheReadTokens + spent.cacheWriteTokens === 0;
      const listed = spent.usd > 0 || free ? spent.usd : price(model, spent);
      estimated ||= spent.usd === 0 && !free;
      usd = usd === null || listed === null ? null : usd + listed;
    }
    return { usd, estimated };
  };

  return {
    response(id, model, part) {
      if (seen.has(id)) return;
      seen.add(id);
      const sum = { ...(models.get(model) ?? NOTHING) };
      const spent = spentIn(part);
      for (const field of [...FIELDS, "usd"] as const) sum[field] += spent[field];
      models.set(model, sum);
    },
    tool: (id, name) => void tools.set(id, name),
    tools() {
      const counts = new Map<string, number>();
      for (const name of tools.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
      return [...counts];
    },
    usage(requests = 0) {
      const { requests: answered, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = total();
      const tokens = { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens };
      return { requests: Math.max(requests, answered), toolCalls: tools.size, ...tokens, ...costs() };
    },
  };
}
