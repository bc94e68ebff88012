import { describe, expect, it } from "vitest";
import type { Fact, NewFact } from "../events.ts";
import { makeSpec, startFact } from "../../test/support/world.ts";
import { fold } from "./fold.ts";
import { doubtWords, notCompared } from "./protected.ts";

const OID = "a".repeat(40);
const CHANGED = [{ path: "tests/a.js", how: "edited" as const }];
const change = (about: Partial<Extract<NewFact, { type: "change-recorded" }>>): NewFact => ({
  type: "change-recorded",
  iteration: 1,
  snapshot: 1,
  commit: OID,
  tree: OID,
  judged: OID,
  by: "user",
  files: [],
  fileCount: 0,
  added: 0,
  removed: 0,
  warnings: [],
  ...about,
});
const outcome = { is: "stopped" as const, rule: "r", reason: "r" };

function folded(...facts: [NewFact, number][]) {
  const all: [NewFact, number][] = [[startFact(makeSpec()), 1], ...facts];
  return fold(
    all.map(([fact, epoch], seq): Fact => ({ v: 1, run: "r-1", lane: "main", ...fact, seq, at: 0, elapsed: 0, epoch })),
  );
}

describe("a protected file that changed between turns", () => {
  it("leaves the outcome to a person, until one goes on with the run", () => {
    const state = folded([change({ by: "agent" }), 1], [change({ followed: CHANGED }), 1]);
    expect(doubtWords(state)).toEqual([expect.stringContaining("tests/a.js (edited)")]);
    const later = folded(
      [change({ followed: CHANGED }), 1],
      [{ type: "run-end", outcome }, 1],
      [{ type: "run-reopened", was: outcome, limits: {} }, 2],
    );
    expect(doubtWords(later)).toEqual([]);
  });

  it("voids the comparison with the base only where it is a test, and for good", () => {
    expect(notCompared(folded([change({ followed: CHANGED }), 1]))).toEqual([]);
    const facts: [NewFact, number][] = [
      [change({ followed: CHANGED, testsFollowed: true }), 1],
      [change({ by: "agent" }), 1],
    ];
    expect(notCompared(folded(...facts))).toEqual([expect.stringContaining("not compared")]);
  });

  it("is the person's own before the first turn, and while the run had ended", () => {
    expect(doubtWords(folded([change({ iteration: 0, followed: CHANGED }), 1]))).toEqual([]);
    const facts: [NewFact, number][] = [
      [change({ by: "agent" }), 1],
      [{ type: "run-end", outcome }, 1],
      [{ type: "run-reopened", was: outcome, limits: {} }, 2],
      [change({ followed: CHANGED }), 2],
    ];
    expect(doubtWords(folded(...facts))).toEqual([]);
    // But it is told, with the end: nobody need have looked.
    expect(notCompared(folded(...facts))).toEqual([expect.stringContaining("had ended: tests/a.js (edited)")]);
    expect(doubtWords(folded(...facts, [change({ followed: CHANGED }), 2]))).toHaveLength(1);
  });
});

it("keeps the last undoings, and which tests differ now", () => {
  const state = folded(
    ...Array.from({ length: 30 }, (_, n): [NewFact, number] => [
      change({ by: "agent", iteration: n, protected: CHANGED, kept: `protected/${n}`, testsChanged: CHANGED }),
      1,
    ]),
    [change({ by: "agent" }), 1],
  );
  expect(state.protected?.undone.at(-1)).toEqual({ iteration: 29, paths: CHANGED, count: 1, kept: "protected/29" });
  expect(state.protected?.undone.length).toBeLessThan(30);
  expect(state.protected?.testsChanged).toEqual([]);
});
