/** List prices, for what an agent does not report itself. A model nobody knows has no price; it is never free. */
import { createRequire } from "node:module";
import type * as Prices from "@pydantic/genai-prices";

interface Tokens {
  requests: number;
  /** Without what was read from or written to the cache. */
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
}

const require = createRequire(import.meta.url);

/** US dollars, null when the model is unknown. Loads a table of 2 MB on first use and takes microseconds after. */
export function priceOf(model: string, usage: Tokens): number | null {
  // Long requests cost more per token, so a turn's sum is priced as that many requests of average size.
  const requests = Math.max(usage.requests, 1);
  const cached = usage.cacheReadTokens + usage.cacheWriteTokens;
  const average = {
    input_tokens: (usage.inputTokens + cached) / requests,
    cache_read_tokens: usage.cacheReadTokens / requests,
    cache_write_tokens: usage.cacheWriteTokens / requests,
    output_tokens: usage.outputTokens / requests,
  };
  for (const name of namesOf(model)) {
    const price = load().calcPrice(average, name);
    if (price !== null) return price.total_price * requests;
  }
  return null;
}

/** As given, then without the marks of context size, cloud region and release: `us.anthropic.x-v1:0`, `x@20250929`. */
function namesOf(model: string): string[] {
  const plain = model
    .replace(/\[[^\]]*\]$/, "")
    .replace(/^([a-z]+\.)*anthropic\./, "")
    .replace(/-v\d+:\d+$/, "")
    .replace(/@.*$/, "");
  return plain === model ? [model] : [model, plain];
}

function load(): typeof Prices {
  return require("@pydantic/genai-prices") as typeof Prices;
}
