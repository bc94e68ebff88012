/** Counts what a turn costs. Every response counts once; Codex tells of each more than once, live and in its record. */
import type { Usage } from "../../events.ts";
import { priceOf } from "../../platform/prices.ts";

export interface Spent {
  /** With what was read from or written to the cache. */
  input: number;
  cached: number;
  cacheWrite: number;
  output: number;
}

export interface Meter {
  /** `key`: the same for the same response. */
  response(key: string, model: string, spent: Spent): void;
  tool(id: string, name: string): void;
  responses(): number;
  tools(): [string, number][];
  /** `requests`: made, as far as somebody counted. */
  usage(requests?: number): Usage;
}

const NOTHING = { requests: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

export function meter(price: typeof priceOf = priceOf): Meter {
  const seen = new Set<string>();
  const models = new Map<string, typeof NOTHING>();
  const tools = new Map<string, string>();

  const total = (): typeof NOTHING => {
    const sum = { ...NOTHING };
    for (const one of models.values()) {
      for (const field of Object.keys(NOTHING) as (keyof typeof NOTHING)[]) sum[field] += one[field];
    }
    return sum;
  };
  const usd = (): number | null => {
    let sum = 0;
    for (const [model, spent] of models) {
      const cost = price(model, spent);
      if (cost === null) return null;
      sum += cost;
    }
    return sum;
  };

  return {
    response(key, model, { input, cached, cacheWrite, output }) {
      if (seen.has(key)) return;
      seen.add(key);
      const before = models.get(model) ?? NOTHING;
      models.set(model, {
        requests: before.requests + 1,
        inputTokens: before.inputTokens + Math.max(0, input - cached - cacheWrite),
        outputTokens: before.outputTokens + output,
        cacheReadTokens: before.cacheReadTokens + cached,
        cacheWriteTokens: before.cacheWriteTokens + cacheWrite,
      });
    },
    tool: (id, name) => void tools.set(id, name),
    responses: () => seen.size,
    tools() {
      const counts = new Map<string, number>();
      for (const name of tools.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
      return [...counts];
    },
    usage(requests = 0) {
      const { requests: answered, ...tokens } = total();
      return {
        requests: Math.max(requests, answered),
        toolCalls: tools.size,
        ...tokens,
        usd: usd(),
        // Codex tells no price: it is the list's.
        estimated: true,
      };
    },
  };
}
