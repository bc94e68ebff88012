/** Turns in several lanes under one limit, which they must not pass by more than a request each. */
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { solveSpec } from "../../test/support/solve-spec.ts";
import type { Usage } from "../events.ts";
import { addUsage, capOf, noSpending, NO_USAGE, overCap } from "./budget.ts";
import type { RunState } from "./state.ts";

const LIMIT = 10;
const REQUEST = 1;

const plus = (usage: Usage): Usage => ({ ...usage, requests: usage.requests + 1, usd: (usage.usd ?? 0) + REQUEST });

it("turns that begin and end at any time beside each other pass a limit by one request each at most", () => {
  const moves = fc.array(fc.record({ lane: fc.nat({ max: 2 }), does: fc.constantFrom("ask", "ask", "ask", "end") }), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(moves, (all) => {
      const { limits } = solveSpec({ limits: { usd: LIMIT } });
      const state = { limits, spent: noSpending() } as RunState;
      const open = new Map<number, Usage>();
      let late = 0;
      const end = (lane: number): void => {
        addUsage(state.spent, open.get(lane) ?? NO_USAGE);
        open.delete(lane);
      };
      for (const { lane, does } of all) {
        if (does === "end") {
          end(lane);
          continue;
        }
        if (!open.has(lane) && state.spent.usd >= LIMIT) continue;
        const own = plus(open.get(lane) ?? NO_USAGE);
        open.set(lane, own);
        const others = [...open].flatMap(([other, usage]) => (other === lane ? [] : [usage]));
        if (overCap(capOf(state, { own, others }), own) === undefined) continue;
        late += 1;
        end(lane);
      }
      for (const lane of open.keys()) end(lane);
      expect(state.spent.usd).toBeLessThanOrEqual(LIMIT + late * REQUEST);
      expect(late === 0 || state.spent.usd >= LIMIT).toBe(true);
    }),
  );
});

it("a turn alone has all that is left, and each of two a half of it", () => {
  const state = { limits: { usd: 10, toolCalls: 5 }, spent: { ...noSpending(), usd: 4 } } as RunState;
  expect(capOf(state, { own: NO_USAGE, others: [] })).toMatchObject({ usd: 6, toolCalls: 5, tokens: null });
  const other = { ...NO_USAGE, usd: 2 };
  expect(capOf(state, { own: NO_USAGE, others: [other] })).toMatchObject({ usd: 2, toolCalls: 3 });
});
