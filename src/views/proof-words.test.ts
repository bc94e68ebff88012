/** What people see of judging: the baseline, the proof part by part, a pause, and what an end costs. */
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { judgedSpec, verdictFrom, type Says } from "../../test/support/judging.ts";
import { iterationFacts, laneReady } from "../../test/support/recorded-run.ts";
import { startFact } from "../../test/support/world.ts";
import type { Evidence, Fact, NewFact, ProofPart, Verdict } from "../events.ts";
import { apply, fold } from "../loop/fold.ts";
import type { RunState } from "../loop/state.ts";
import type { RunSpec } from "../spec.ts";
import { header } from "./cli/header.ts";
import { phaseOf, phaseWords } from "./cli/status-phase.ts";
import { terminalView, type TerminalOptions } from "./terminal.ts";

const BLOB = "a".repeat(64);
const check = { name: "npm test", kind: "command", command: "npm test", required: true, timeoutMs: 1_000 } as const;
const spec = judgedSpec({ passes: 3 }, { checks: [check], run: "r-1" });
const past = iterationFacts(1, { prompt: BLOB, log: null, verdict: "pass" });
const upTo = (type: string): NewFact[] => past.slice(0, past.findIndex((fact) => fact.type === type) + 1);
const tree = past.find((fact) => fact.type === "change-recorded")?.judged ?? "";
const about = { check: check.name, tree, iteration: 1 };
const verdict = (says: Says): Verdict => verdictFrom(tree, says);
const passed: NewFact = { type: "check-end", ...about, verdict: verdict([]) };
const judged: NewFact[] = [...laneReady(), ...upTo("change-recorded"), { type: "check-start", ...about }, passed];

const repetition = (n: number): ProofPart => ({ is: "repetition", n, of: 3 });
const control: ProofPart = { is: "control" };
const begun = (part: ProofPart): NewFact => ({ type: "proof-start", ...about, part });
const ended = (part: ProofPart, said: Verdict): NewFact => ({ type: "proof-end", ...about, part, verdict: said });
const planted = (evidence: Partial<Evidence>): NewFact => ended(control, verdict(evidence));
const baseline = (says: Says): NewFact => ({
  type: "baseline-recorded",
  check: check.name,
  tree,
  verdict: verdict(says),
});
const pause: NewFact = {
  type: "directive-received",
  id: "d1",
  directive: { kind: "pause" },
  source: "cli",
  queuedAt: 0,
};

function factsOf(news: readonly NewFact[], over: RunSpec = spec): Fact[] {
  const envelope = { v: 1, run: "r-1", lane: "main", epoch: 1 };
  return [startFact(over), ...news].map(
    (fact, seq) => ({ ...envelope, seq, at: seq * 1_000, elapsed: seq * 1_000, ...fact }) as Fact,
  );
}

/** What a person sees of these facts from the n-th on, line by line. */
function shown(news: readonly NewFact[], { from = 0, ...options }: Partial<TerminalOptions> & { from?: number } = {}) {
  const lines: string[] = [];
  const plain = { live: true, colour: false, loudness: "normal", redact: (line: string) => line } as const;
  const view = terminalView({
    ...plain,
    write: (text) => lines.push(text.trimEnd()),
    now: () => Date.now(),
    ...options,
  });
  let state: RunState | undefined;
  for (const [at, fact] of factsOf(news).entries()) {
    state = apply(state, fact);
    if (at > from) view.fact(fact, state);
    else view.past(fact, state);
  }
  return { lines, view };
}

const news = (facts: readonly NewFact[], before: readonly NewFact[]): string[] => {
  const { lines, view } = shown([...before, ...facts], { from: before.length });
  view.close();
  return lines;
};

describe("the baseline", () => {
  it.each<[string, Says, string]>([
    ["tests that failed", ["one", "two", "three"], "  baseline: npm test fails (3 tests failed before the run)"],
    ["an exit code alone", false, "  baseline: npm test fails (exit 1 before the run)"],
    ["tests that passed", [], "  baseline: npm test passes (5 tests, 0.0 s)"],
    ["no judgement", "unverifiable", "  baseline: npm test could not be judged before the run (the judge was away)"],
  ])("is told when it is known: %s", (_, says, line) => {
    expect(news([baseline(says)], laneReady())).toEqual([line]);
  });

  it("of a check that takes long says what the end will cost, and how it costs less", () => {
    const [first, second] = news([baseline({ durationMs: 27_000 })], laneReady());
    expect(first).toContain("npm test passes (27 s)");
    expect(second).toContain(
      "it takes 27 s, and before `verified` it is repeated 2 times: a run with --passes 1 does without",
    );
    // Two minutes of repetitions are the limit anyway.
    expect(news([baseline({ durationMs: 100_000 })], laneReady()).join("\n")).toContain("it is repeated once");
    expect(news([baseline({ durationMs: 200_000 })], laneReady())).toHaveLength(1);
  });
});

describe("the proof", () => {
  it("is told part by part, counted in the order in which parts end, and not told again by its conclusion", () => {
    const facts = [
      ...[repetition(2), repetition(3), control].map(begun),
      ended(repetition(3), verdict([])),
      planted({ control: "seen" }),
      ended(repetition(2), verdict([])),
      { ...passed, verdict: verdict({ runs: 3, control: "seen" }) } as NewFact,
    ];
    expect(news(facts, judged)).toEqual([
      "  proof: npm test passes again (2 of 3)",
      "  proof: planted failure seen by npm test",
      "  proof: npm test passes again (3 of 3)",
    ]);
  });

  it.each<[string, NewFact, string]>([
    [
      "a repetition that fails",
      ended(repetition(2), verdict(["shaky"])),
      "npm test FAILS when it is run again: shaky failed",
    ],
    ["no plant", planted({ control: "none" }), "no planted failure could be tried with npm test"],
    [
      "a plant that is not seen",
      planted({ control: "not-seen", suspicions: ["who speaks?"] }),
      "planted failure NOT seen by npm test: who speaks?",
    ],
    [
      "a judge that is away",
      ended(repetition(2), verdict("unverifiable")),
      "npm test could not be judged again (the judge was away)",
    ],
  ])("tells of %s", (_, fact, line) => {
    expect(news([fact], judged)).toEqual([`  proof: ${line}`]);
  });

  it("is said of a pass at once where no failure can be planted", () => {
    const none = { ...passed, verdict: verdict({ control: "none" }) } as NewFact;
    expect(news([none], judged.slice(0, -1))).toEqual(["  npm test: pass in 0.0 s, no planted failure could be tried"]);
  });

  it("is in the status with what is under way, by this driver alone", () => {
    const facts = factsOf([
      ...judged,
      begun(repetition(2)),
      begun(repetition(3)),
      begun(control),
      ended(repetition(2), verdict([])),
    ]);
    const state = fold(facts);
    const phase = phaseOf(state, { facts, driven: true });
    expect(phase).toMatchObject({ is: "proving", parts: [{ part: { n: 3 } }, { part: { is: "control" } }] });
    expect(phaseWords(phase, state, { now: state.at })).toContain(
      "proving npm test (repetition 3 of 3, planted failure) for ",
    );
    const lease = { type: "lease-changed", pid: 2, startedAt: "", boot: "", host: "h", swept: 0 } as const;
    const later = [...facts, { ...facts.at(-1), ...lease, epoch: 2, seq: facts.length } as Fact];
    expect(phaseOf(fold(later), { facts: later, driven: true }).is).toBe("between");
  });

  it("and the baseline are what still goes on while nothing else is shown", () => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const still = (facts: readonly NewFact[], from = 0): string[] => {
      const { lines, view } = shown(facts, { from });
      vi.advanceTimersByTime(10_000);
      view.close();
      return lines.filter((line) => line.includes("still"));
    };
    const proving = [...judged, begun(repetition(2)), begun(control)];
    expect(still(proving)).toEqual(["  still proving npm test (repetition 2 of 3, planted failure), 10 s"]);
    // Who begins to watch in the middle of it is told the same.
    expect(still(proving, proving.length)[0]).toMatch(
      /^ {2}still proving npm test \(repetition 2 of 3, planted failure\), /,
    );
    expect(still([...laneReady(), ...upTo("turn-end")])).toEqual([
      "  still running check npm test on the tree before the run, 10 s",
    ]);
    expect(still([...laneReady(), pause])).toEqual(["  still paused by cli; to go on: pawl resume r-1, 10 s"]);
  });
});

describe("a pause", () => {
  const line = "paused by cli; to go on: pawl resume r-1";
  const turn = [...laneReady(), ...upTo("turn-start")];

  it("is said once, when what was under way has ended: by whom, and the command to go on", () => {
    expect(news([pause], turn)).toEqual(["  directive d1 from cli: pause"]);
    const rest = past.slice(past.findIndex(({ type }) => type === "turn-end"));
    const lines = news(
      rest.map((fact) => (fact.type === "decision-made" ? goesOn(fact) : fact)),
      [...turn, pause],
    );
    expect(lines.findIndex((one) => one === line)).toBeGreaterThan(
      lines.findIndex((one) => one.startsWith("iteration 1 closed")),
    );
    expect(lines.filter((one) => one.includes("paused"))).toEqual([line]);
  });

  it("between two turns is said at once, also to who wants silence", () => {
    expect(news([pause], laneReady())).toEqual(["  directive d1 from cli: pause", line]);
    const { lines, view } = shown([...laneReady(), pause], { loudness: "quiet" });
    view.close();
    expect(lines).toEqual([line]);
  });

  it("is in the status with its source", () => {
    const facts = factsOf([...laneReady(), pause]);
    const state = fold(facts);
    const phase = phaseOf(state, { facts, driven: true });
    expect(phase).toEqual({ is: "paused", by: "cli" });
    expect(phaseWords(phase, state, { now: 0 })).toBe(line);
  });
});

const goesOn = (fact: Extract<NewFact, { type: "decision-made" }>): NewFact => ({
  ...fact,
  rule: "continue",
  next: "continue",
});

describe("the header", () => {
  it("says how often each check runs before the end", () => {
    expect(header(spec)).toContain(
      "  before `verified` each check runs about 5 times: before the first change, on the change, 2 repetitions, with a planted failure\n",
    );
    const once = judgedSpec({ passes: 1, control: "off" }, { checks: [check] });
    expect(header(once)).toContain("runs about 2 times: before the first change, on the change\n");
    expect(header(judgedSpec({}, { checks: [] }))).not.toContain("before `verified`");
  });
});
