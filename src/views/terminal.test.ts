import { describe, expect, it, onTestFinished, vi } from "vitest";
import { iterationFacts, laneReady } from "../../test/support/recorded-run.ts";
import { makeSpec, startFact } from "../../test/support/world.ts";
import type { Fact, NewFact } from "../events.ts";
import { makeRedact } from "../journal/redact.ts";
import { apply, fold } from "../loop/fold.ts";
import type { RunState } from "../loop/state.ts";
import { branchOf, diffStat, resumeCommand, summary } from "./summary.ts";
import { terminalView, type TerminalOptions } from "./terminal.ts";

const BLOB = "a".repeat(64);
const check = { name: "tests", kind: "command", command: "npm test", required: true, timeoutMs: 1_000 } as const;

function factsOf(news: readonly NewFact[], spec = makeSpec({ checks: [check] })): Fact[] {
  const envelope = { v: 1, run: spec.run, lane: "main", epoch: 1 };
  return [startFact(spec), ...news].map(
    (fact, seq) => ({ ...envelope, seq, at: seq * 1_000, elapsed: seq * 1_000, ...fact }) as Fact,
  );
}

/** What a person sees of these facts, and the state at the end. */
function show(facts: readonly Fact[], options: Partial<TerminalOptions> = {}): { text: string; state: RunState } {
  let text = "";
  const view = terminalView({
    write: (more) => (text += more),
    live: true,
    colour: false,
    loudness: "normal",
    redact: (line) => line,
    now: () => 0,
    ...options,
  });
  const state = fold(facts.slice(0, 1));
  for (const fact of facts.slice(1)) {
    apply(state, fact);
    view.fact(fact, state);
  }
  view.close();
  return { text, state };
}

const twoIterations = [
  ...laneReady(),
  ...iterationFacts(1, { prompt: BLOB, log: null, verdict: "fail" }),
  ...iterationFacts(2, { prompt: BLOB, log: null, verdict: "pass" }),
];
const limitedTurn: NewFact[] = [
  ...laneReady(),
  ...iterationFacts(1, { prompt: BLOB, log: null, verdict: "fail" }).flatMap((fact): NewFact[] => {
    if (fact.type === "iteration-start" || fact.type === "turn-start") return [fact];
    const outcome = { is: "limited", kind: "usage", message: "come back later", resetAt: 5_000 } as const;
    return fact.type === "turn-end" ? [{ ...fact, outcome }] : [];
  }),
  { type: "wait-start", wait: "wait/1", reason: "usage limit: come back later", until: 5_000, untilElapsed: 5_000 },
];
const ended: NewFact[] = [
  ...twoIterations,
  { type: "run-end", outcome: { is: "verified", rule: "all-required-pass", reason: "tests passed" } },
];

describe("a live run", () => {
  it("closes each iteration with one line: duration, tools, files, verdicts, cost", () => {
    const { text } = show(factsOf(twoIterations));
    const lines = text.split("\n").filter((line) => line.includes("closed"));
    expect(lines).toEqual([
      "iteration 1 closed: 7.0 s · Bash ×2, Write ×1 · 1 file (+3 −1) · tests fail · $0.25",
      "iteration 2 closed: 6.0 s · Bash ×2, Write ×1 · 1 file (+3 −1) · tests pass · ~$0.25",
    ]);
    expect(text).toMatch(/tests: FAIL \(exit 1\)/);
    expect(text).toMatch(/all-required-pass: tests passed/);
  });

  it("says once why it waits: the turn has told which limit it was", () => {
    const { text } = show(factsOf(limitedTurn));
    expect(text.match(/come back later/g)).toHaveLength(1);
    expect(text).toMatch(/refused by a usage limit \(come back later\)[^]*\n {2}waiting until .*\d\d:\d\d UTC/);
    // Another reason is told.
    const other = { type: "wait-start", wait: "throttle/1", reason: "2 calls in the last hour", until: 5_000 } as const;
    const throttled = show(factsOf([...limitedTurn.slice(0, -1), { ...other, untilElapsed: null }]));
    expect(throttled.text).toContain("waiting: 2 calls in the last hour, until");
  });

  it("says nothing when quiet and every fact when verbose", () => {
    expect(show(factsOf(twoIterations), { loudness: "quiet" }).text).toBe("");
    const facts = factsOf(twoIterations);
    const upTo = (count: number): string => show(facts.slice(0, count), { loudness: "verbose" }).text;
    for (const words of ["workspace ready", "turn 1, new session", "handed over"])
      expect(upTo(facts.length)).toContain(words);
    expect(facts.flatMap(({ type }, at) => (at > 0 && upTo(at + 1) === upTo(at) ? [type] : []))).toEqual([]);
  });

  it("stamps every line with the time where nobody looks, and colours only when told to", () => {
    const log = show(factsOf(twoIterations), { live: false }).text.trimEnd().split("\n");
    expect(log.every((line) => /^\d\d:\d\d:\d\d /.test(line))).toBe(true);
    expect(show(factsOf(twoIterations)).text).not.toContain("\u001b");
    expect(show(factsOf(twoIterations), { colour: true }).text).toContain("\u001b[");
  });

  it("shows life after ten silent seconds, then more rarely, with the last sign of the agent", () => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const said = (options: Partial<TerminalOptions>): string[] => {
      const shown: string[] = [];
      const facts = factsOf([...laneReady(), ...iterationFacts(1, { prompt: BLOB, log: null, verdict: "fail" })]);
      const write = (text: string): void => void shown.push(text.trim());
      const plain = { live: true, colour: false, loudness: "normal", redact: (line: string) => line } as const;
      const view = terminalView({ ...plain, write, now: () => Date.now(), ...options });
      const state = fold(facts.slice(0, 1));
      for (const fact of facts.slice(
        1,
        facts.findIndex(({ type }) => type === "turn-end"),
      )) {
        apply(state, fact);
        view.fact(fact, state);
      }
      vi.advanceTimersByTime(4_000);
      view.trace({ at: 0, turn: 1, kind: "thinking", data: { type: "thinking", text: "hm" } });
      vi.advanceTimersByTime(200_000);
      view.close();
      vi.advanceTimersByTime(900_000);
      return shown.filter((line) => line.includes("still"));
    };
    expect(said({})).toEqual([
      "still in turn 1 of iteration 1, 10 s; last sign of the agent 6.0 s ago",
      "still in turn 1 of iteration 1, 30 s; last sign of the agent 26 s ago",
      "still in turn 1 of iteration 1, 1 min 10 s; last sign of the agent 1 min 06 s ago",
      "still in turn 1 of iteration 1, 2 min 30 s; last sign of the agent 2 min 26 s ago",
    ]);
    expect(said({ live: false })).toHaveLength(5);
    expect(said({ live: false, loudness: "quiet" })).toHaveLength(3);
    expect(said({ loudness: "quiet" })).toEqual([]);
  });

  it("shows the past with the time at which it happened, also when it is looked at later", () => {
    const log = show(factsOf(twoIterations), { live: false, now: () => 86_399_000 })
      .text.trimEnd()
      .split("\n");
    const first = new Date(3_000).toTimeString().slice(0, 8);
    expect(log[0]).toMatch(new RegExp(`^${first.slice(0, 5)}:0\\d iteration 1`));
    let text = "";
    const view = terminalView({
      write: (more) => (text += more),
      live: false,
      colour: false,
      loudness: "normal",
      redact: (line) => line,
      now: () => 86_399_000,
    });
    view.trace({ at: 3_000, turn: 1, kind: "text", data: { text: "words" } });
    view.close();
    expect(text.startsWith(first)).toBe(true);
  });

  it("shows paths of tools without the directory the agent works in", () => {
    let text = "";
    const write = (more: string): void => void (text += more);
    const quiet = {
      live: true,
      colour: false,
      loudness: "normal",
      redact: (line: string) => line,
      now: () => 0,
    } as const;
    const view = terminalView({ ...quiet, write, root: "/r/place" });
    const input = { file_path: "/r/place/src/a.ts" };
    view.trace({ at: 0, turn: 1, kind: "tool-start", data: { type: "tool-start", id: "1", name: "Read", input } });
    view.trace({ at: 0, turn: 1, kind: "text", data: { type: "text", text: "see /r/place/src/a.ts" } });
    const call = { type: "tool-start", id: "2", name: "mcp__jira__get_issue", input: { key: "A-1" } };
    view.trace({ at: 0, turn: 1, kind: "tool-start", data: call });
    view.close();
    expect(text).toBe('  → Read src/a.ts\n  see /r/place/src/a.ts\n  → jira/get_issue {"key":"A-1"}\n');
  });

  it("shows the agent's stream line by line, without its controls and without secrets", () => {
    let text = "";
    const redact = makeRedact({ environment: { API_TOKEN: "very-secret-value" } });
    const view = terminalView({
      write: (t) => (text += t),
      live: true,
      colour: false,
      loudness: "normal",
      redact,
      now: () => 0,
    });
    const trace = (kind: string, data: unknown): void => view.trace({ at: 0, turn: 1, kind, data });
    trace("text", { type: "text", text: "first\n\u001b]0;owned\u0007second very-secret-value" });
    trace("tool-start", { type: "tool-start", id: "1", name: "Bash", input: { command: `echo ${"x".repeat(5_000)}` } });
    trace("tool-end", { type: "tool-end", id: "1", ok: true, output: "fine" });
    trace("tool-end", { type: "tool-end", id: "2", ok: false, output: "went wrong" });
    trace("thinking", { type: "thinking", text: "hm" });
    view.close();
    const lines = text.trimEnd().split("\n");
    expect(lines[0]).toBe("  first");
    expect(lines[1]).toMatch(/^ {2}second /);
    expect(lines).toHaveLength(4);
    expect(lines[2]?.length).toBeLessThan(200);
    expect(lines[3]).toContain("went wrong");
    expect(text).not.toContain("\u001b");
    expect(text).not.toContain("very-secret-value");
  });
});

describe("the summary", () => {
  it("tells outcome, verdicts, iterations, cost, branch, diff, what is unverified, isolation and what to do next", () => {
    const { state } = show(factsOf(ended));
    const text = summary(state, { diff: { files: 1, added: 6, removed: 2, atLeast: false } });
    expect(text).toMatch(/ verified: tests passed$/m);
    expect(text).toMatch(/checks +tests \(npm test\): pass in 1\.5 s, isolation: copy/);
    expect(text).toMatch(/iterations +2 of \d+, 2 turns, 6 tool calls/);
    expect(text).toMatch(/cost +~\$0\.50/);
    expect(text).toMatch(/tokens +2,400 \(in 200, out 40, cache read 2,000, cache write 160\)/);
    expect(text).toMatch(/branch +pawl\/x \([0-9a-f]{10}\)/);
    expect(text).toMatch(/diff +1 file, \+6 −2 against the base/);
    expect(text).toMatch(/unverified +whatever the checks do not test/);
    expect(text).toMatch(/isolation +unfenced/);
    expect(text).toContain(`pawl show ${state.run}`);
    expect(text).toContain("&& git merge pawl/x");
    expect(text).not.toContain("pawl resume");
    expect(branchOf(state)).toBe("pawl/x");
  });

  it("says unknown where nobody knows the cost, and everything is unverified without a check", () => {
    const facts = factsOf(ended, makeSpec({ checks: [] })).map((fact) =>
      fact.type === "turn-end" ? { ...fact, usage: { ...fact.usage, usd: null } } : fact,
    );
    const text = summary(show(facts).state, { diff: undefined });
    expect(text).toMatch(/cost +unknown/);
    expect(text).toMatch(/unverified +everything: no check was configured/);
    expect(text).toMatch(/diff +unknown/);
  });

  it("names the limit to raise where one was reached", () => {
    const outcome = { is: "exhausted", rule: "budget:usd", reason: "limit on usd reached" } as const;
    const spec = makeSpec({ checks: [check], limits: { usd: 2 } });
    const { state } = show(factsOf([...twoIterations, { type: "run-end", outcome }], spec));
    expect(resumeCommand(state)).toBe(`pawl resume ${state.run} --max-cost 4`);
    expect(summary(state, { diff: undefined })).toMatch(/pawl resume r-1 --max-cost 4 +# go on/);
  });

  it.each([
    ["main", "abc", "git switch main && git merge pawl/x"],
    ["-x", "abc", "git switch -- -x && git merge pawl/x"],
    ["main", null, "git switch -c main pawl/x"],
  ])("offers a merge that works from %s, where the first commit is %s", (branch, commit, command) => {
    const { state } = show(factsOf(ended));
    const base = { ...state.base, branch, commit };
    expect(summary({ ...state, base }, { diff: undefined })).toContain(`  ${command}  # take the work`);
  });

  it("counts a unified diff, and no line of a hunk as a header", () => {
    const diff =
      "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n++++ b/y\ndiff --git a/z b/z\nBinary files differ\n";
    expect(diffStat(diff, { cut: true })).toEqual({ files: 2, added: 2, removed: 1, atLeast: true });
  });
});
