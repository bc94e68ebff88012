import { expect, it } from "vitest";
import { factWords } from "./fact-words.ts";

const about = { v: 1, run: "r-1", lane: "main", seq: 1, at: 0, elapsed: 0, epoch: 1 } as const;

it.each([
  ["over", "the wait is over"],
  ["directive:resume", "the wait is over: directive:resume"],
])("the end of a wait (%s) is said once", (why, words) => {
  expect(factWords({ ...about, type: "wait-end", wait: "w", why })).toBe(words);
});
