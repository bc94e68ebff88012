/** What a person sees of a question: in the terminal, in the summary, with the command that answers it. */
import { describe, expect, it } from "vitest";
import { makeSpec, startFact } from "../../test/support/world.ts";
import type { Fact, NewFact } from "../events.ts";
import { apply, fold } from "../loop/fold.ts";
import { summary } from "./summary.ts";
import { terminalView } from "./terminal.ts";

function shown(loudness: "quiet" | "normal", ...news: NewFact[]): { text: string; summary: string } {
  const spec = makeSpec({ run: "r-1" });
  const facts = [startFact(spec), ...news].map((fact, seq): Fact => ({
    v: 1,
    run: "r-1",
    lane: "main",
    epoch: 1,
    seq,
    at: 0,
    elapsed: 1_000,
    ...fact,
  }));
  let text = "";
  const write = (more: string): void => void (text += more);
  const view = terminalView({ write, live: true, colour: false, loudness, redact: (line) => line, now: () => 0 });
  const state = fold(facts.slice(0, 1));
  for (const fact of facts.slice(1)) view.fact(fact, apply(state, fact));
  view.close();
  return { text, summary: summary(state, { diff: undefined }) };
}

const asked = (over: Partial<Extract<NewFact, { type: "human-requested" }>>): NewFact => ({
  type: "human-requested",
  question: "q1",
  kind: "permission",
  text: "use Bash: rm -rf build\u001b[2J",
  options: [],
  turn: 1,
  untilElapsed: 61_000,
  ...over,
});

describe("a run that has ended", () => {
  const ended = (is: "failed" | "needs-human", rule: string, warnings?: string[]): string =>
    shown("normal", {
      type: "run-end",
      outcome: { is, rule, reason: "because" },
      ...(warnings === undefined ? {} : { warnings }),
    }).summary;

  it("is told what helps with just this end, and what was not delivered", () => {
    expect(ended("failed", "agent:errors")).toContain("pawl doctor");
    expect(ended("failed", "claim:abort")).not.toContain("pawl doctor");
    expect(ended("failed", "claim:abort")).toContain("pawl logs r-1");
    expect(ended("needs-human", "work-missing")).toContain("pawl restore r-1 --list");
    expect(ended("failed", "x", ["a.txt changed late"])).toContain("warning     a.txt changed late");
  });
});

describe("a question", () => {
  it("is shown with its command, its time and what comes then, also where little is shown", () => {
    for (const loudness of ["quiet", "normal"] as const) {
      expect(shown(loudness, asked({})).text).toBe(
        "  q1: the agent asks for a permission: use Bash: rm -rf build\n" +
          "    answer: pawl answer r-1 q1 allow | deny [WHY]   (1 min 00 s left, then it is denied)\n",
      );
    }
  });

  it("lists what is offered by number", () => {
    const { text } = shown("normal", asked({ kind: "question", text: "which?", options: ["left", "right"] }));
    expect(text).toContain("    1  left\n    2  right\n");
    expect(text).toContain("pawl answer r-1 q1 1 | 2 | TEXT   (1 min 00 s left, then the agent decides itself)");
  });

  it("that holds the run stands in the summary, as long as it is open", () => {
    const held = asked({ kind: "errors", text: "3 turns in a row failed", turn: null, untilElapsed: null });
    const open = shown("normal", held);
    expect(open.text).toContain('pawl answer r-1 q1 "go on" | stop | TEXT for the agent   (it waits)');
    expect(open.summary).toContain('pawl answer r-1 q1 "go on"  # q1: 3 turns in a row failed');
    const closed = shown("normal", held, { type: "human-answered", question: "q1", text: "go on", by: "person" });
    expect(closed.text).toContain("  answer to q1: go on\n");
    expect(closed.summary).not.toContain("pawl answer");
  });

  it("is not mixed up with a hook, which is told when it fails", () => {
    const hook = (ok: boolean): NewFact => ({
      type: "hook-end",
      hook: "tell",
      on: "iteration-end",
      occasion: "iteration 1",
      ok,
      exitCode: ok ? 0 : 2,
      durationMs: 1_500,
      output: "no network\n",
    });
    expect(shown("normal", hook(true)).text).toBe("");
    expect(shown("normal", hook(false)).text).toBe("  hook tell at iteration-end FAILED with 2 in 1.5 s: no network\n");
  });
});
