/** The prompts of a run that solves: within their budget whatever happened, and stable from one to the next. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { solveSpec } from "../../test/support/solve-spec.ts";
import type { Fact, Kept, NewFact } from "../events.ts";
import type { TurnAction } from "../loop/actions.ts";
import { composePrompt } from "../loop/compose-prompt.ts";
import { fold } from "../loop/fold.ts";
import { promptBytes, wireBytes } from "../loop/history.ts";
import type { ComposedPrompt } from "../loop/prompt.ts";
import { solveRecipe } from "./solve.ts";

const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const kept = (text: string): Kept => ({ blob: "a".repeat(64), bytes: text.length, text });

interface Tried {
  note: string;
  code: string;
  said: string;
  ok: boolean;
}

function promptAfter(
  tried: readonly Tried[],
  { tokens, files = [] }: { tokens: number; files?: string[] },
): ComposedPrompt {
  let seq = 0;
  const fact = (body: NewFact): Fact => ({
    v: 1,
    run: "r-1",
    lane: "main",
    seq: seq++,
    at: 0,
    elapsed: 0,
    epoch: 1,
    ...body,
  });
  const given = files.map((head, n) => ({ path: `f${n}.csv`, bytes: 9, sha256: "", head }));
  const spec = solveSpec({ limits: { iterations: 500 } }, { requestTokens: tokens, files: given });
  const facts = [
    fact({ type: "run-start", spec, pawl: "1", base: { commit: null, tree: TREE, branch: "main", detached: false } }),
    ...tried.flatMap(({ note, code, said, ok }, at) => {
      const of = { turn: at + 1, iteration: at + 1 };
      return [
        fact({ type: "proposal-made", ...of, do: "run", note, language: "python", code: kept(code) }),
        fact({
          type: "execution-recorded",
          ...of,
          by: "local",
          language: "python",
          code: kept(code),
          end: { is: "exit", code: ok ? 0 : 1 },
          stdout: kept(said),
          stderr: kept(""),
          files: [],
          durationMs: 1,
          kind: ok ? "ok" : "exception",
          exception: null,
          fingerprint: ok ? null : `f${at % 3}`,
          message: ok ? "" : said,
        }),
      ];
    }),
    fact({
      type: "directive-received",
      id: "d1",
      directive: { kind: "say", text: "\u0001".repeat(9_000), when: "next" },
      source: "t",
      queuedAt: 0,
    }),
  ];
  const n = tried.length + 1;
  const turn: TurnAction = {
    do: "turn",
    key: "t",
    lane: "main",
    why: "",
    iteration: n,
    attempt: 1,
    session: { mode: "new" },
  };
  return composePrompt(solveRecipe, { state: fold(facts), turn, context: {} });
}

/** Also what grows on its way: quotes, control characters, letters of several bytes. */
const text = fc.oneof(
  fc.string({ maxLength: 6_000 }),
  fc.constantFrom('"'.repeat(6_000), "\n".repeat(6_000), "語".repeat(3_000), ""),
);
const attempt = fc.record({ note: text, code: text, said: text, ok: fc.boolean() });

describe("prompts of solve", () => {
  it("stay within their budget, with nothing dropped but what is pruned, whatever was tried (S2)", () => {
    fc.assert(
      fc.property(
        fc.array(attempt, { maxLength: 25 }),
        fc.constantFrom(8_000, 20_000, 60_000),
        fc.array(text, { maxLength: 3 }),
        (tried, tokens, files) => {
          const prompt = promptAfter(tried, { tokens, files: files.map((head) => head.slice(0, 400)) });
          expect(wireBytes(prompt.text)).toBeLessThanOrEqual(promptBytes(tokens));
          expect(prompt.parts.filter(({ why }) => why === "no room")).toEqual([]);
          expect(prompt.text).toContain(`Iteration ${tried.length + 1} of 500`);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("are the same up to their breaks, so that the provider's cache is read, except where a step of pruning is made", () => {
    const tried = Array.from({ length: 40 }, (_, n) => ({
      note: `way ${n}`,
      code: `x = ${n}\n`.repeat(100),
      said: `no ${n}`,
      ok: false,
    }));
    const prompts = tried.map((_, n) => promptAfter(tried.slice(0, n), { tokens: 20_000 }));
    const kept = prompts.slice(1).filter((next, at) => {
      const before = prompts[at];
      const last = before?.breaks.at(-1) ?? 0;
      return next.text.startsWith(before?.text.slice(0, last) ?? "?") && next.breaks.includes(last);
    });
    expect(kept.length).toBeGreaterThan(tried.length * 0.75);
    expect(kept.length).toBeLessThan(tried.length - 1);
  });

  it("say in their list of parts what was kept whole and what was pruned (S2)", () => {
    const tried = Array.from({ length: 40 }, (_, n) => ({
      note: `way ${n}`,
      code: `x = ${n}\n`.repeat(100),
      said: `no ${n}`,
      ok: false,
    }));
    const { parts, text: words } = promptAfter(tried, { tokens: 20_000 });
    expect(parts.find(({ name }) => name === "attempt-2")).toMatchObject({
      included: false,
      why: "pruned: one line of it",
    });
    expect(parts.find(({ name }) => name === "attempt-40")).toMatchObject({ included: true, cut: 0 });
    expect(words).toContain("- attempt 2 (iteration 2): way 1 → no 1");
    expect(words).toContain("pawl show r-1 --attempt NUMBER");
  });
});
