import * as fc from "fast-check";
import { expect, it } from "vitest";
import { meter, sumOf } from "../api-meter.ts";
import { NO_TOTALS, settle } from "./settle.ts";

const price = (model: string, spent: { inputTokens: number }) => (model === "known" ? spent.inputTokens : null);

it("counts a message once, however often and in whatever order its usage is repeated (row 27)", () => {
  const usage = fc.record({ input_tokens: fc.nat(1000), output_tokens: fc.nat(1000) });
  fc.assert(
    fc.property(
      fc.dictionary(fc.string({ minLength: 1 }), usage),
      fc.nat(5),
      fc.boolean(),
      (messages, repeats, isTurned) => {
        const spent = meter(price);
        for (let i = 0; i <= repeats; i += 1) {
          for (const [id, full] of Object.entries(messages)) {
            const parts = [
              { input_tokens: full.input_tokens, output_tokens: Math.min(1, full.output_tokens) },
              { input_tokens: null, output_tokens: full.output_tokens },
            ];
            for (const part of isTurned ? parts.toReversed() : parts) spent.message(id, "known", part);
          }
        }
        const all = Object.values(messages);
        expect(spent.usage()).toMatchObject({
          requests: all.length,
          inputTokens: all.reduce((sum, one) => sum + one.input_tokens, 0),
          outputTokens: all.reduce((sum, one) => sum + one.output_tokens, 0),
        });
      },
    ),
  );
});

it("does not know the cost when it does not know one model's price", () => {
  const spent = meter(price);
  expect(spent.usage().usd).toBe(0);
  spent.message("a", "known", { input_tokens: 3 });
  expect(spent.usage().usd).toBe(3);
  spent.message("b", "strange", { input_tokens: 1 });
  expect(spent.usage().usd).toBeNull();
});

it("counts each tool call once, by name", () => {
  const spent = meter(price);
  for (const id of ["t1", "t1", "t2"]) spent.tool(id, "Bash");
  spent.tool("t3", "Write");
  expect(spent.tools()).toEqual([
    ["Bash", 2],
    ["Write", 1],
  ]);
  expect(spent.usage().toolCalls).toBe(3);
});

const totals = (inputTokens: number, usd: number) => ({ ...NO_TOTALS, inputTokens, usd });

function counted(inputTokens: number) {
  const spent = meter(price);
  spent.message("m", "known", { input_tokens: inputTokens });
  return spent;
}

it("takes the program's cost for the difference of its totals", () => {
  const usage = settle(counted(10), { totals: totals(110, 1.5), baselines: [totals(100, 1)] });
  expect(usage).toMatchObject({ inputTokens: 10, usd: 0.5, estimated: false });
});

it("charges what only the totals saw, and what only the stream saw", () => {
  const helper = settle(counted(10), { totals: totals(150, 2), baselines: [totals(100, 1)] });
  expect(helper).toMatchObject({ inputTokens: 50, usd: 1, estimated: false });
  const cut = settle(counted(30), { totals: totals(110, 2), baselines: [totals(100, 1)] });
  expect(cut).toMatchObject({ inputTokens: 30, usd: 30, estimated: true });
});

it("charges no earlier turn again when it is unsure where a resumed process counts from", () => {
  const baselines = [totals(500, 5), NO_TOTALS];
  expect(settle(counted(10), { totals: totals(510, 5.25), baselines })).toMatchObject({ usd: 0.25, estimated: false });
  expect(settle(counted(10), { totals: totals(10, 0.25), baselines })).toMatchObject({ usd: 0.25, estimated: false });
  expect(settle(counted(10), { totals: totals(300, 3), baselines })).toMatchObject({ usd: 10, estimated: true });
});

it("keeps its own count when the totals went backwards or never came", () => {
  expect(settle(counted(10), { totals: totals(0, 0), baselines: [totals(500, 5)] })).toMatchObject({ usd: 10 });
  expect(settle(counted(10), { totals: undefined, baselines: [NO_TOTALS] })).toMatchObject({ usd: 10 });
  expect(sumOf(counted(10).tokens())).toBe(10);
});

it("does not take the program's guess for a model that has no price", () => {
  const spent = meter(price);
  spent.message("m", "unheard-of", { input_tokens: 10 });
  const guessed = { ...totals(10, 0.5), guessed: true as const };
  expect(settle(spent, { totals: guessed, baselines: [NO_TOTALS] })).toMatchObject({ inputTokens: 10, usd: null });
  expect(settle(counted(10), { totals: guessed, baselines: [NO_TOTALS] })).toMatchObject({ usd: 10, estimated: true });
});
