/**
 * What a request costs, accounted the way the real API bills: prefix cache reads and writes by `cache_control`
 * breakpoints. Pure: the cache is a value passed in, time too. Tokens are bytes / 4, so only ratios mean something.
 */
import { createHash } from "node:crypto";

export type Ttl = "5m" | "1h";

/** A piece of the request in the order the cache sees it: tools, system, messages. */
export interface BillableBlock {
  /** Serialized, without `cache_control`. */
  text: string;
  /** Where it is known otherwise than by its bytes. */
  tokens?: number;
  /** Part of the prefix's identity but not of its tokens: role, parameters that break the cache. */
  salt?: string;
  breakpoint?: Ttl;
}

/** `marked`: only where `cache_control` stands. `automatic`: every prefix, writes free (the OpenAI protocols). */
export type CacheMode = "marked" | "automatic";

/** Prefix hash to the time (ms) when it is forgotten. */
export type PrefixCache = Map<string, { expiresAtMs: number; ttl: Ttl }>;

export interface Billing {
  /** Neither read from nor written to the cache. */
  inputTokens: number;
  cacheReadTokens: number;
  cacheWrite5mTokens: number;
  cacheWrite1hTokens: number;
  outputTokens: number;
  /** Everything in units of one uncached input token, by the usual factors: comparable between models. */
  inputEquivalents: number;
  /** List price; null: the model is not known. */
  usd: number | null;
}

/** US dollars per token. */
export interface Rates {
  input: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  output: number;
}

export const MIN_CACHEABLE_TOKENS = 1024;
export const LOOKBACK_BLOCKS = 20;
export const MAX_BREAKPOINTS = 4;
const BYTES_PER_TOKEN = 4;
const TTL_MS: Readonly<Record<Ttl, number>> = { "5m": 5 * 60_000, "1h": 60 * 60_000 };
/** In units of one input token. */
const FACTORS: Rates = { input: 1, cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2, output: 5 };
/** Beyond this many prefixes the forgotten ones are dropped, then the oldest. */
const MAX_PREFIXES = 200_000;

export const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

const blockTokens = ({ text, tokens }: BillableBlock): number => tokens ?? tokensOf(text);

export function totalTokens(blocks: readonly BillableBlock[]): number {
  return blocks.reduce((sum, block) => sum + blockTokens(block), 0);
}

interface Prefix {
  hash: string;
  /** Of everything up to and with this block. */
  tokens: number;
  breakpoint: Ttl | undefined;
}

function prefixesOf(root: string, blocks: readonly BillableBlock[]): Prefix[] {
  let hash = root;
  let tokens = 0;
  return blocks.map((block) => {
    hash = createHash("sha256")
      .update(`${hash}\0${block.salt ?? ""}\0${block.text}`)
      .digest("base64");
    tokens += blockTokens(block);
    return { hash, tokens, breakpoint: block.breakpoint };
  });
}

/** Index of the longest prefix that is in the cache and within reach of a breakpoint; -1: none. */
function findHit(
  prefixes: readonly Prefix[],
  { cache, nowMs, reach }: { cache: PrefixCache; nowMs: number; reach: number },
) {
  for (let at = prefixes.length - 1; at >= 0; at -= 1) {
    if (prefixes[at]?.breakpoint === undefined) continue;
    for (let back = at; back >= 0 && at - back < reach; back -= 1) {
      const entry = cache.get(prefixes[back]?.hash ?? "");
      if (entry !== undefined && entry.expiresAtMs > nowMs) return back;
    }
  }
  return -1;
}

function remember(cache: PrefixCache, prefix: Prefix, { ttl, nowMs }: { ttl: Ttl; nowMs: number }): void {
  cache.delete(prefix.hash);
  cache.set(prefix.hash, { expiresAtMs: nowMs + TTL_MS[ttl], ttl });
  if (cache.size <= MAX_PREFIXES) return;
  for (const [hash, entry] of cache) if (entry.expiresAtMs <= nowMs) cache.delete(hash);
  for (const hash of cache.keys()) {
    if (cache.size <= MAX_PREFIXES) break;
    cache.delete(hash);
  }
}

export interface BillRequest {
  /** Caches are not shared between models. */
  model: string;
  blocks: readonly BillableBlock[];
  mode: CacheMode;
}

type InputBilling = Pick<Billing, "inputTokens" | "cacheReadTokens" | "cacheWrite5mTokens" | "cacheWrite1hTokens">;

/**
 * Accounts the input of one request and updates the cache: what was read lives on for its time to live, what lies
 * between the longest hit and the last breakpoint is written (up to the last `1h` breakpoint at that price, the rest
 * at the other's), and what comes after is plain input. A prefix below the minimum is never cached.
 */
export function billInput(
  { model, blocks, mode }: BillRequest,
  { cache, nowMs }: { cache: PrefixCache; nowMs: number },
): InputBilling {
  const marked = mode === "marked" ? blocks : blocks.map((block) => ({ ...block, breakpoint: "5m" as const }));
  const prefixes = prefixesOf(`${mode}\0${model}`, marked);
  const total = prefixes.at(-1)?.tokens ?? 0;
  const hit = findHit(prefixes, { cache, nowMs, reach: mode === "marked" ? LOOKBACK_BLOCKS : prefixes.length });
  const read = prefixes[hit]?.tokens ?? 0;
  let last1h = read;
  let last = read;
  for (const [at, prefix] of prefixes.entries()) {
    const known = cache.get(prefix.hash);
    if (at <= hit) {
      const used = at === hit || prefix.breakpoint !== undefined;
      if (used && known !== undefined && known.expiresAtMs > nowMs) remember(cache, prefix, { ttl: known.ttl, nowMs });
      continue;
    }
    if (prefix.breakpoint === undefined || prefix.tokens < MIN_CACHEABLE_TOKENS) continue;
    remember(cache, prefix, { ttl: prefix.breakpoint, nowMs });
    if (prefix.breakpoint === "1h") last1h = prefix.tokens;
    last = prefix.tokens;
  }
  if (mode === "automatic")
    return { inputTokens: total - read, cacheReadTokens: read, cacheWrite5mTokens: 0, cacheWrite1hTokens: 0 };
  return {
    inputTokens: total - last,
    cacheReadTokens: read,
    cacheWrite5mTokens: last - last1h,
    cacheWrite1hTokens: last1h - read,
  };
}

export function priced(tokens: InputBilling & { outputTokens: number }, rates: Rates | null): Billing {
  const sum = (of: Rates): number =>
    tokens.inputTokens * of.input +
    tokens.cacheReadTokens * of.cacheRead +
    tokens.cacheWrite5mTokens * of.cacheWrite5m +
    tokens.cacheWrite1hTokens * of.cacheWrite1h +
    tokens.outputTokens * of.output;
  return { ...tokens, inputEquivalents: sum(FACTORS), usd: rates === null ? null : sum(rates) };
}

export const NOTHING_BILLED: Billing = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
  inputEquivalents: 0,
  usd: 0,
};

/** An unknown price makes the sum unknown. */
export function addBilling(a: Billing, b: Billing): Billing {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWrite5mTokens: a.cacheWrite5mTokens + b.cacheWrite5mTokens,
    cacheWrite1hTokens: a.cacheWrite1hTokens + b.cacheWrite1hTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    inputEquivalents: a.inputEquivalents + b.inputEquivalents,
    usd: a.usd === null || b.usd === null ? null : a.usd + b.usd,
  };
}
