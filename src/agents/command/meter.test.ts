import { describe, expect, it } from "vitest";
import { meter, NO_TOKENS } from "./meter.ts";

const price = (): number => 2;
const about = { requests: 1, model: "m", price };
const tokens = (inputTokens: number, outputTokens = 0) => ({ ...NO_TOKENS, inputTokens, outputTokens });

describe("what a command used", () => {
  it("counts a message once, however often it is told, and the turn's own number where that is more", () => {
    const spent = meter(undefined);
    spent.message("a", tokens(10, 1));
    spent.message("a", tokens(10, 5));
    spent.message("b", tokens(20, 1));
    expect(spent.usage(about)).toMatchObject({ inputTokens: 30, outputTokens: 6, usd: 2, estimated: true });
    spent.turn(tokens(30, 9));
    expect(spent.usage(about)).toMatchObject({ inputTokens: 30, outputTokens: 9 });
    expect([spent.contextTokens(), spent.messages()]).toEqual([21, 2]);
  });

  it("takes off what the conversation had before, unless the program counts anew", () => {
    const first = meter({ ...tokens(100, 10), usd: 1 });
    first.session({ ...tokens(150, 12), usd: 1.5 });
    expect(first.usage(about)).toMatchObject({ inputTokens: 50, outputTokens: 2, usd: 0.5, estimated: false });
    expect(first.totals()).toMatchObject({ inputTokens: 150 });
    const anew = meter(tokens(100, 10));
    anew.session(tokens(40, 4));
    expect(anew.usage(about)).toMatchObject({ inputTokens: 40, outputTokens: 4 });
  });

  it("is unknown where nothing was told, unknown for a model without a price, and nothing only where nothing was asked", () => {
    const silent = meter(undefined);
    expect(silent.usage(about).usd).toBeNull();
    expect(silent.usage({ ...about, requests: 0 }).usd).toBe(0);
    silent.turn(tokens(5));
    expect(silent.usage({ ...about, price: () => null }).usd).toBeNull();
    expect(silent.usage({ ...about, model: undefined }).usd).toBeNull();
  });
});
