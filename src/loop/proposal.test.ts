import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { plainSolve } from "../../test/support/solve-spec.ts";
import { possible, proposalSchema, readProposal } from "./proposal.ts";
import { planProblem } from "./solve-plan.ts";

const step = (id: string, ...needs: string[]) => ({ id, title: `do ${id}`, needs, expect: "" });
const plan = (...steps: unknown[]) => readProposal({ do: "plan", note: "n", steps }, {});

describe("a proposal", () => {
  it("is read for what it is", () => {
    expect(readProposal({ do: "run", note: "n", language: "shell", code: "ls" }, {})).toEqual({
      does: "run",
      note: "n",
      language: "shell",
      code: "ls",
    });
    expect(readProposal({ do: "answer", note: "n", answer: " 42\n" }, {})).toMatchObject({
      does: "answer",
      answer: "42",
    });
    expect(readProposal({ do: "answer", note: "n", answer: { n: 1 } }, {})).toMatchObject({ answer: '{"n":1}' });
    expect(plan(step("a"), step("b", "a"))).toMatchObject({ does: "plan", steps: [{ id: "a" }, { id: "b" }] });
  });

  it.each([
    [undefined, /form/],
    ["words", /no object/],
    [[], /no object/],
    [{ do: "dance" }, /plan, run or answer/],
    [{ do: "run", code: " " }, /no `code`/],
    [{ do: "run", code: "x", language: "perl" }, /no language "perl"/],
    [{ do: "answer", answer: "" }, /empty/],
    [{ do: "plan" }, /a list/],
    [{ do: "plan", steps: [] }, /no steps/],
    [{ do: "plan", steps: [step("a"), step("a")] }, /same id/],
    [{ do: "plan", steps: [step("a", "b")] }, /needs b, which is no step/],
    [{ do: "plan", steps: [step("a", "b"), step("b", "a")] }, /need each other: a, b/],
    [{ do: "plan", steps: [step("../a")] }, /short name/],
    [{ do: "plan", steps: [{ id: "a" }] }, /no title/],
    [{ do: "plan", steps: Array.from({ length: 51 }, (_, n) => step(`s${n}`)) }, /at most 50/],
  ])("that cannot be used says why: %j", (given, why) => {
    expect(readProposal(given, {})).toMatchObject({ does: "nothing", problem: expect.stringMatching(why) });
  });

  it("keeps to the language that was asked for", () => {
    expect(readProposal({ do: "run", note: "", code: "x", language: "python" }, { language: "shell" })).toMatchObject({
      does: "nothing",
      problem: "the code has to be shell, and it is python",
    });
    expect(readProposal({ do: "run", note: "", code: "x" }, { language: "shell" })).toMatchObject({
      language: "shell",
    });
  });

  it("is total: whatever comes is a proposal or a reason", () => {
    const any = fc.anything();
    const words = fc.constantFrom("a", "b", "");
    const needs = fc.oneof(fc.array(words), any);
    const steps = fc.array(fc.oneof(fc.record({ id: words, title: words, needs }, { requiredKeys: [] }), any));
    const fields = {
      do: fc.constantFrom("plan", "run", "answer", "dance"),
      note: any,
      language: fc.oneof(fc.constantFrom("python", "shell"), any),
      code: fc.oneof(fc.string(), any),
      answer: any,
      steps: fc.oneof(steps, fc.constant([step("a"), step("b", "a")]), any),
    };
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.oneof(any, fc.record(fields, { requiredKeys: ["do"] })), (given) => {
        const { does, problem } = readProposal(given, {});
        expect(does === "nothing").toBe(problem !== undefined);
        seen.add(does);
      }),
      { numRuns: 1_000 },
    );
    expect([...seen].toSorted()).toEqual(["answer", "nothing", "plan", "run"]);
  });

  it("is for what can be done there, and nothing else: the schema says it, and what does not keep to it is sent back", () => {
    const local = { executor: "local", planOnly: false } as const;
    expect(possible(local, { inStep: false })).toEqual(["plan", "run", "answer"]);
    expect(possible(local, { inStep: true })).toEqual(["run", "answer"]);
    expect(possible({ ...local, executor: "claude" }, { inStep: false })).toEqual(["plan", "answer"]);
    expect(possible({ ...local, planOnly: true }, { inStep: false })).toEqual(["plan"]);
    expect(proposalSchema(plainSolve, ["answer"])).toMatchObject({ properties: { do: { enum: ["answer"] } } });
    expect(readProposal({ do: "run", note: "", code: "x" }, {}, ["plan", "answer"])).toMatchObject({
      does: "nothing",
      problem: "`do` is run, and here it can only be plan or answer",
    });
  });
});

it("a plan of fifty steps in a row can be carried out", () => {
  const steps = Array.from({ length: 50 }, (_, n) => step(`s${n}`, ...(n === 0 ? [] : [`s${n - 1}`])));
  expect(planProblem(steps.toReversed())).toBeUndefined();
});
