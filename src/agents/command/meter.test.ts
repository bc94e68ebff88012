import { describe, expect, it } from "vitest";
import { meter, NO_TOKENS } from "./meter.ts";

const price = (): number => 2;
const about = { requests: 1, model: "m", price };
const tokens = (inputTokens: number, outputTokens = 0) => ({ ...NO_TOKENS, inputTokens, outputTokens });

describe("what a command used", () => {
  it("counts a message once, however often it is told, and the turn's own number where that is more", () => {
    const spent = meter({});
    spent.message("a", tokens(10, 1));
    spent.message("a", tokens(10, 5));
    spent.message("b", tokens(20, 1));
    expect(spent.usage(about)).toMatchObject({ inputTokens: 30, outputTokens: 6, usd: 2, estimated: true });
    spent.turn(tokens(30, 9));
    expect(spent.usage(about)).toMatchObject({ inputTokens: 30, outputTokens: 9 });
    expect([spent.contextTokens(), spent.messages()]).toEqual([21, 2]);
  });

  it("takes off what the conversation had before, unless the program counts anew", () => {
    const first = meter({ totals: { ...tokens(100, 10), usd: 1 } });
    first.session({ ...tokens(150, 12), usd: 1.5 });
    expect(first.usage(about)).toMatchObject({ inputTokens: 50, outputTokens: 2, usd: 0.5, estimated: false });
    expect(first.conversation()).toMatchObject({ totals: { inputTokens: 150 } });
    const anew = meter({ totals: tokens(100, 10) });
    anew.session(tokens(40, 4));
    expect(anew.usage(about)).toMatchObject({ inputTokens: 40, outputTokens: 4 });
  });

  it("is what the models say to pawl where the program was ended before it told as much, or tells nothing", () => {
    const spent = meter({});
    const seen = { requests: 2, model: undefined, price };
    spent.seen("r1", "m", tokens(10, 1));
    spent.seen("r1", "m", tokens(10, 4));
    spent.seen("r2", "m", tokens(20, 2));
    const both = { requests: 2, inputTokens: 30, outputTokens: 6, estimated: true };
    expect(spent.usage({ ...seen, answers: 2 })).toMatchObject({ ...both, usd: 4 });
    // Of a third answer nobody has said what it cost.
    expect(spent.usage({ ...seen, requests: 3, answers: 3 })).toMatchObject({ outputTokens: 6, usd: null });
    spent.message("a", { ...tokens(10, 4), usd: 1 });
    expect(spent.usage({ ...seen, answers: 2 })).toMatchObject({ ...both, usd: 4 });
    // It has told all of it by now: its own word counts.
    spent.turn({ ...tokens(30, 6), usd: 1.5 });
    expect(spent.usage({ ...seen, answers: 2 })).toMatchObject({ inputTokens: 30, usd: 1.5, estimated: false });
  });

  it.each([
    ["has", tokens(160, 17)],
    ["has not", tokens(130, 13)],
  ])("is the same whether the next totals have what an ended turn never told, or not: %s", (_, totals) => {
    const ended = meter({ totals: tokens(100, 10) });
    ended.seen("r1", "m", tokens(20, 3));
    ended.seen("r1", "m", tokens(30, 4));
    const before = ended.conversation();
    expect(before).toMatchObject({ totals: tokens(100, 10), untold: tokens(30, 4) });
    const next = meter(before);
    next.seen("r2", "m", tokens(30, 3));
    next.session(totals);
    expect(next.usage({ ...about, answers: 1 })).toMatchObject(tokens(30, 3));
    expect(next.conversation()).toEqual({ totals });
  });

  it("takes a price that the program tells without tokens for that of all it did", () => {
    const spent = meter({});
    spent.seen("r1", "m", tokens(10, 1));
    spent.turn({ ...NO_TOKENS, usd: 0.5 });
    expect(spent.usage(about)).toMatchObject({ inputTokens: 10, outputTokens: 1, usd: 0.5, estimated: false });
  });

  it("is nothing where no model answered, as far as all of them are seen", () => {
    expect(meter({}).usage({ ...about, answers: 0 }).usd).toBe(0);
  });

  it("is unknown where nothing was told, unknown for a model without a price, and nothing only where nothing was asked", () => {
    const silent = meter({});
    expect(silent.usage(about).usd).toBeNull();
    expect(silent.usage({ ...about, requests: 0 }).usd).toBe(0);
    silent.turn(tokens(5));
    expect(silent.usage({ ...about, price: () => null }).usd).toBeNull();
    expect(silent.usage({ ...about, model: undefined }).usd).toBeNull();
  });
});
