import { expect, it } from "vitest";
import { traceWords } from "./trace-words.ts";

const retry = (data: object): string | undefined => traceWords({ at: 0, turn: 1, kind: "retry", data });

it("a request that the agent repeats is told in plain words", () => {
  expect(retry({ attempt: 1, delayMs: 500, status: null })).toBe(
    "no answer from the model; the agent asks again in 0.5 s (retry 1)",
  );
  expect(retry({ attempt: 2, delayMs: 90_000, status: 529 })).toBe(
    "the model answered with status 529; the agent asks again in 1 min 30 s (retry 2)",
  );
  // Written by another pawl, or cut.
  expect(retry({})).toBe("no answer from the model; the agent asks again");
});
