import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BillableBlock, PrefixCache, Ttl } from "./billing.ts";
import {
  addBilling,
  billInput,
  LOOKBACK_BLOCKS,
  MIN_CACHEABLE_TOKENS,
  priced,
  tokensOf,
  totalTokens,
} from "./billing.ts";
import { ratesOf } from "./rates.ts";

const MINUTE_MS = 60_000;
/** A block of about this many tokens. */
const block = (tokens: number, mark?: Ttl, letter = "x"): BillableBlock => ({
  text: letter.repeat(tokens * 4),
  ...(mark === undefined ? {} : { breakpoint: mark }),
});
const bill = (blocks: BillableBlock[], cache: PrefixCache, nowMs = 0) =>
  billInput({ model: "m", blocks, mode: "marked" }, { cache, nowMs });

describe("the prefix cache", () => {
  it("writes up to the breakpoint and reads it back, and bills the rest as plain input", () => {
    const cache: PrefixCache = new Map();
    expect(bill([block(2000, "5m"), block(10)], cache)).toEqual({
      inputTokens: 10,
      cacheReadTokens: 0,
      cacheWrite5mTokens: 2000,
      cacheWrite1hTokens: 0,
    });
    expect(bill([block(2000, "5m"), block(30)], cache)).toMatchObject({ inputTokens: 30, cacheReadTokens: 2000 });
  });

  it("reads the old prefix and writes only what is new when a conversation grows", () => {
    const cache: PrefixCache = new Map();
    bill([block(2000), block(100, "5m")], cache);
    expect(bill([block(2000), block(100), block(50), block(70, "5m")], cache)).toMatchObject({
      inputTokens: 0,
      cacheReadTokens: 2100,
      cacheWrite5mTokens: 120,
    });
  });

  it("is lost for everything after a changed early byte", () => {
    const cache: PrefixCache = new Map();
    bill([block(1500, "5m"), block(100), block(500, "5m")], cache);
    expect(bill([block(1500, "5m", "y"), block(100), block(500, "5m")], cache)).toMatchObject({
      cacheReadTokens: 0,
      cacheWrite5mTokens: 2100,
    });
  });

  it("keeps the part before a changed block when that part has a breakpoint of its own", () => {
    const cache: PrefixCache = new Map();
    bill([block(1500, "5m"), block(100), block(500, "5m")], cache);
    expect(bill([block(1500, "5m"), block(100, undefined, "y"), block(500, "5m")], cache)).toMatchObject({
      cacheReadTokens: 1500,
      cacheWrite5mTokens: 600,
    });
  });

  it("never caches a prefix below the minimum", () => {
    const cache: PrefixCache = new Map();
    const small = [block(MIN_CACHEABLE_TOKENS - 1, "5m")];
    bill(small, cache);
    expect(bill(small, cache)).toMatchObject({ inputTokens: MIN_CACHEABLE_TOKENS - 1, cacheReadTokens: 0 });
  });

  it("looks back twenty blocks from a breakpoint and no further", () => {
    const grown = (blocks: number): number => {
      const cache: PrefixCache = new Map();
      bill([block(2000, "5m")], cache);
      const more = Array.from({ length: blocks }, (_, at) => block(1, at === blocks - 1 ? "5m" : undefined));
      return bill([block(2000), ...more], cache).cacheReadTokens;
    };
    expect(grown(LOOKBACK_BLOCKS - 1)).toBe(2000);
    expect(grown(LOOKBACK_BLOCKS)).toBe(0);
  });

  it("forgets after five minutes unless it is read, and after an hour where that was asked for", () => {
    const cache: PrefixCache = new Map();
    const short = [block(2000, "5m")];
    bill(short, cache, 0);
    expect(bill(short, cache, 4 * MINUTE_MS).cacheReadTokens).toBe(2000);
    expect(bill(short, cache, 8 * MINUTE_MS).cacheReadTokens).toBe(2000);
    expect(bill(short, cache, 14 * MINUTE_MS).cacheReadTokens).toBe(0);
    const long = [block(2000, "1h", "z")];
    expect(bill(long, cache, 0).cacheWrite1hTokens).toBe(2000);
    expect(bill(long, cache, 59 * MINUTE_MS).cacheReadTokens).toBe(2000);
    expect(bill(long, cache, 118 * MINUTE_MS).cacheReadTokens).toBe(2000);
    expect(bill(long, cache, 179 * MINUTE_MS).cacheReadTokens).toBe(0);
  });

  it("bills up to the last hour-long breakpoint at its price and the rest at the other", () => {
    expect(bill([block(2000, "1h"), block(300, "5m"), block(5)], new Map())).toEqual({
      inputTokens: 5,
      cacheReadTokens: 0,
      cacheWrite5mTokens: 300,
      cacheWrite1hTokens: 2000,
    });
  });

  it("is not shared between models", () => {
    const cache: PrefixCache = new Map();
    const blocks = [block(2000, "5m")];
    billInput({ model: "a", blocks, mode: "marked" }, { cache, nowMs: 0 });
    expect(billInput({ model: "b", blocks, mode: "marked" }, { cache, nowMs: 0 }).cacheReadTokens).toBe(0);
  });

  it("reads any earlier prefix, with free writes, in the automatic mode", () => {
    const cache: PrefixCache = new Map();
    const automatic = (blocks: BillableBlock[]) =>
      billInput({ model: "m", blocks, mode: "automatic" }, { cache, nowMs: 0 });
    expect(automatic([block(2000), block(100)])).toMatchObject({ inputTokens: 2100, cacheWrite5mTokens: 0 });
    expect(automatic([block(2000), block(100), block(7)])).toMatchObject({ inputTokens: 7, cacheReadTokens: 2100 });
  });

  it("accounts every token exactly once, whatever was asked before", () => {
    const anyBlock = fc.record({
      text: fc.constantFrom("x", "ä").map((seed) => seed.repeat(3000)),
      mark: fc.option(fc.constantFrom<Ttl>("5m", "1h"), { nil: undefined }),
    });
    const anyRequest = fc.record({
      blocks: fc.array(anyBlock, { maxLength: 8 }),
      mode: fc.constantFrom("marked" as const, "automatic" as const),
      waitMs: fc.nat(6 * MINUTE_MS),
    });
    let read = 0;
    let grown = 0;
    fc.assert(
      fc.property(fc.array(anyRequest, { maxLength: 12 }), (requests) => {
        const cache: PrefixCache = new Map();
        let nowMs = 0;
        for (const { blocks: raw, mode, waitMs } of requests) {
          nowMs += waitMs;
          const blocks = raw.map(({ text, mark }) => ({ text, ...(mark === undefined ? {} : { breakpoint: mark }) }));
          const billed = billInput({ model: "m", blocks, mode }, { cache, nowMs });
          const parts = Object.values(billed);
          expect(parts.every((part) => part >= 0)).toBe(true);
          expect(parts.reduce((sum, part) => sum + part, 0)).toBe(totalTokens(blocks));
          read += billed.cacheReadTokens > 0 ? 1 : 0;
          grown += billed.cacheReadTokens > 0 && billed.cacheWrite5mTokens + billed.cacheWrite1hTokens > 0 ? 1 : 0;
        }
      }),
      { numRuns: 200 },
    );
    expect(read).toBeGreaterThan(100);
    expect(grown).toBeGreaterThan(20);
  });
});

describe("prices", () => {
  const tokens = {
    inputTokens: 100,
    cacheReadTokens: 1000,
    cacheWrite5mTokens: 40,
    cacheWrite1hTokens: 10,
    outputTokens: 2,
  };

  it("weighs reads, writes and output against plain input", () => {
    expect(priced(tokens, null).inputEquivalents).toBeCloseTo(100 + 100 + 50 + 20 + 10);
  });

  it("has list prices for known models and says that it does not know the others", () => {
    expect(priced(tokens, ratesOf("claude-opus-4-8")).usd).toBeCloseTo(
      (100 * 5 + 1000 * 0.5 + 40 * 6.25 + 10 * 10 + 2 * 25) / 1e6,
    );
    expect(priced(tokens, ratesOf("no-such-model")).usd).toBeNull();
    expect(addBilling(priced(tokens, ratesOf("claude-opus-4-8")), priced(tokens, null)).usd).toBeNull();
  });

  it("counts bytes, not characters", () => {
    expect(tokensOf("äöü")).toBe(2);
    expect(tokensOf("")).toBe(0);
  });
});
