/** What a turn cost at its end: the program's cumulative totals where they can be trusted, else our own count. */
import type { Usage } from "../../events.ts";
import type { Meter, Tokens } from "../api-meter.ts";
import { combine, sumOf } from "../api-meter.ts";
import type { Totals } from "./reader.ts";

export const NO_TOTALS: Totals = { usd: 0, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

/**
 * `baselines`: what the totals may have been at the start of the turn. One is certain; of several (a resumed process
 * may or may not go on from the totals that were saved) the one that leaves exactly what we counted is taken.
 */
export function settle(
  meter: Meter,
  { totals, baselines }: { totals: Totals | undefined; baselines: readonly Totals[] },
): Usage {
  const own = meter.usage();
  if (totals === undefined) return own;
  const exact = baselines.find((base) => sumOf(totals) - sumOf(base) === sumOf(own));
  const base = baselines.length === 1 ? baselines[0] : exact;
  if (base === undefined) return own;
  const spent: Tokens = combine(totals, base, (x, y) => x - y);
  const usd = totals.usd - base.usd;
  if (usd < 0 || Object.values(spent).some((tokens) => tokens < 0)) return own;
  // Requests that were cut are missing in the totals.
  const missed = sumOf(own) > sumOf(spent);
  const tokens = combine(own, spent, Math.max);
  // Its guess for a model it does not know is no cost: ours is the list price, or unknown.
  if (totals.guessed === true) return { ...own, ...tokens };
  return { ...own, ...tokens, usd: missed ? Math.max(usd, own.usd ?? 0) : usd, estimated: missed };
}
