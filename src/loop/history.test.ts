import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fitted, pruned, wireBytes, type Sizes } from "./history.ts";

const sizes = fc.array(fc.record({ whole: fc.integer({ min: 1, max: 450 }), stub: fc.integer({ min: 1, max: 20 }) }), {
  maxLength: 80,
});
const BUDGET = 1_000;
const takes = (attempts: readonly Sizes[], { counted, stubs }: ReturnType<typeof pruned>): number =>
  attempts.reduce((sum, { whole, stub }, at) => sum + (at < counted ? 0 : at < stubs ? stub : whole), 0);

describe("pruning", () => {
  it("fits the budget whatever the attempts are, and always shows the last one whole", () => {
    fc.assert(
      fc.property(sizes, (attempts) => {
        const cut = pruned(attempts, BUDGET);
        expect(takes(attempts, cut)).toBeLessThanOrEqual(BUDGET);
        expect(cut.stubs).toBeLessThan(Math.max(1, attempts.length));
        expect(cut.counted).toBeLessThanOrEqual(cut.stubs);
      }),
    );
  });

  it("happens in steps: mostly one more attempt changes nothing of what stands before it", () => {
    const attempts = Array.from({ length: 60 }, () => ({ whole: 100, stub: 5 }));
    const cuts = attempts.map((_, at) => pruned(attempts.slice(0, at + 1), BUDGET));
    const steps = cuts.filter(({ stubs }, at) => at > 0 && stubs !== cuts[at - 1]?.stubs);
    expect(steps.length).toBeGreaterThan(3);
    expect(steps.length).toBeLessThan(20);
  });

  it("never brings back what it has left out", () => {
    fc.assert(
      fc.property(sizes, (attempts) => {
        const cuts = attempts.map((_, at) => pruned(attempts.slice(0, at + 1), BUDGET));
        for (const [at, cut] of cuts.slice(1).entries()) {
          expect(cut.stubs).toBeGreaterThanOrEqual(cuts[at]?.stubs ?? 0);
          expect(cut.counted).toBeGreaterThanOrEqual(cuts[at]?.counted ?? 0);
        }
      }),
    );
  });
});

describe("the weight of a text", () => {
  it("is that of its bytes for prose and code, and more for what has more tokens than they", () => {
    const of = (text: string): number => wireBytes(text) / Buffer.byteLength(JSON.stringify(text));
    expect(of("for each row of the table: take the price, and add it up\n")).toBe(1);
    expect(of("def mean(rows):\n    return sum(rows) / len(rows)\n")).toBe(1);
    // In tokens, at three bytes each: one for each digit, two for a letter of another script, one for 1.5 bytes of a key.
    expect(of("3141592653589793238462643383279502884197")).toBeGreaterThan(2.8);
    expect(of("数字を数える".repeat(9))).toBeGreaterThan(1.9);
    expect(of(Buffer.from("some bytes that nobody can read").toString("base64"))).toBeGreaterThan(1.9);
  });
});

describe("a text that is fitted", () => {
  it("takes at most the room it has in a request, and keeps its beginning and its end", () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 600, unit: "binary" }), fc.integer({ min: 2, max: 500 }), (text, max) => {
        expect(wireBytes(fitted(text, max))).toBeLessThanOrEqual(Math.max(2, max));
      }),
    );
    const long = `first ${"x".repeat(5_000)} last`;
    expect(fitted(long, 300)).toMatch(/^first x[^]*characters left out[^]*x last$/);
    expect(fitted("short", 300)).toBe("short");
  });
});
