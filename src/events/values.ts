/** What facts are made of. */
import { z } from "zod";

export const count = z.int().nonnegative();
export const ms = z.number().nonnegative();
/** sha-256 of a blob, hex. */
export const blob = z.string().regex(/^[0-9a-f]{64}$/);
/** A git object name. */
export const oid = z.string().regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/);

export const usageSchema = z.strictObject({
  requests: count,
  toolCalls: count,
  inputTokens: count,
  outputTokens: count,
  cacheReadTokens: count,
  cacheWriteTokens: count,
  /** null: nobody knows; never treated as 0. */
  usd: z.number().nonnegative().nullable(),
  /** Computed from list prices or a cut stream instead of reported by the agent. */
  estimated: z.boolean(),
});
export type Usage = z.infer<typeof usageSchema>;
