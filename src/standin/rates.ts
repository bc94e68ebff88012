/** List prices of models, from the public price table that pawl itself uses. */
import { calcPrice } from "@pydantic/genai-prices";
import type { Rates } from "./billing.ts";

/** Few enough to stay below the tiers for long contexts. */
const SAMPLE_TOKENS = 1000;

/** null: not in the table. */
export function ratesOf(model: string): Rates | null {
  const perToken = (usage: Parameters<typeof calcPrice>[0]): number | undefined => {
    const price = calcPrice(usage, model)?.total_price;
    return price === undefined ? undefined : price / SAMPLE_TOKENS;
  };
  const input = perToken({ input_tokens: SAMPLE_TOKENS });
  const output = perToken({ output_tokens: SAMPLE_TOKENS });
  if (input === undefined || output === undefined) return null;
  const cacheWrite5m = perToken({ input_tokens: SAMPLE_TOKENS, cache_write_tokens: SAMPLE_TOKENS }) ?? input;
  return {
    input,
    cacheRead: perToken({ input_tokens: SAMPLE_TOKENS, cache_read_tokens: SAMPLE_TOKENS }) ?? input,
    cacheWrite5m,
    // The table's own field for this needs no asking: an hour costs twice the input at every provider that has it.
    cacheWrite1h: 2 * input,
    output,
  };
}
