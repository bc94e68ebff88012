import { expect, it } from "vitest";
import { factWords } from "./fact-words.ts";

const about = { v: 1, run: "r-1", lane: "main", seq: 1, at: 0, elapsed: 0, epoch: 1 } as const;

it.each([
  ["over", "the wait is over"],
  ["directive:resume", "the wait is over: directive:resume"],
])("the end of a wait (%s) is said once", (why, words) => {
  expect(factWords({ ...about, type: "wait-end", wait: "w", why })).toBe(words);
});

const wait = { ...about, type: "wait-start", wait: "wait/1", reason: "usage limit: no", untilElapsed: null } as const;

it("the end of a wait is a time of 24 hours with its zone, and a day where it is another", () => {
  const at = Date.parse("2026-11-18T14:05:09");
  const zone = "UTC([+-]\\d{1,2}(:\\d\\d)?)?";
  expect(factWords({ ...wait, at, until: at })).toMatch(new RegExp(`^waiting: usage limit: no, until 14:05 ${zone}$`));
  const benched = { ...about, type: "agent-benched", seat: "a", turn: 1, reason: "no", untilElapsed: 0 } as const;
  expect(factWords({ ...benched, at: at - 86_400_000, until: at })).toMatch(
    new RegExp(`^a is left alone until 2026-11-18 14:05 ${zone}: no$`),
  );
});

it.each([
  [0, "0 files"],
  [1, "1 file +"],
  [2, "2 files"],
])("%i changed files are %s", (fileCount, words) => {
  const change = { snapshot: 1, commit: "c", tree: "t", judged: "t", files: [], added: 1, removed: 0, warnings: [] };
  const fact = { ...about, type: "change-recorded" as const, iteration: 1, by: "agent" as const, fileCount, ...change };
  expect(factWords(fact)).toContain(words);
});
