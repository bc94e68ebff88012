import { describe, expect, it } from "vitest";
import type { Fact, NewFact } from "../../events.ts";
import { fold } from "../../loop/fold.ts";
import type { RunRow } from "../../ports.ts";
import type { Limits } from "../../spec.ts";
import { iterationFacts, laneReady } from "../../../test/support/recorded-run.ts";
import { makeSpec, startFact } from "../../../test/support/world.ts";
import { statusText } from "./status-text.ts";
import { statusView, type StatusInput, type StatusView } from "./status-view.ts";

const T0 = Date.UTC(2026, 10, 15, 12);
const OWNER = { pid: 7, startedAt: "", boot: "", host: "here" };
const red = (n: number): NewFact[] => iterationFacts(n, { prompt: "0".repeat(64), log: null, verdict: "fail" });

interface Look extends Pick<StatusInput, "suspended" | "inTheWay"> {
  laterMs?: number;
  driven?: boolean;
  limits?: Partial<Limits>;
}

/** One second of driven time for each fact; looked at `laterMs` after the last. */
function look(news: readonly NewFact[], { laterMs = 0, driven = true, limits = {}, ...more }: Look = {}): StatusView {
  const spec = makeSpec({ run: "r-1", limits: { iterations: 20, usd: 5, drivenMs: 3_600_000, ...limits } });
  const facts = [startFact(spec), ...news].map((fact, seq) => ({
    v: 1,
    run: "r-1",
    lane: "main",
    seq,
    at: T0 + seq * 1_000,
    elapsed: seq * 1_000,
    epoch: 1,
    prev: "",
    ...fact,
  })) as Fact[];
  const last = facts.at(-1)?.at ?? T0;
  const row: RunRow = {
    run: "r-1",
    createdAt: T0,
    repository: "/r",
    goal: "g",
    owner: driven ? OWNER : undefined,
    lastSeq: facts.length - 1,
  };
  return statusView(fold(facts), { row, facts, queued: [], now: last + laterMs, ...more });
}

describe("status", () => {
  it("of a run that has ended has what was to be known beside the outcome", () => {
    const outcome = { is: "verified" as const, rule: "r", reason: "r" };
    const view = look([...laneReady(), { type: "run-end", outcome, warnings: ["a.txt was changed late"] }]);
    expect(statusText(view)).toContain("Warnings\n  a.txt was changed late");
  });

  it("of a run that its limits ended offers the resume that is accepted", () => {
    const outcome = { is: "exhausted" as const, rule: "budget:iterations", reason: "r" };
    const ended: NewFact[] = [...laneReady(), ...red(1), ...red(2), { type: "run-end", outcome }];
    const limits = { iterations: 2, usd: 0.5 };
    const text = statusText(look(ended, { driven: false, limits }));
    expect(text).toMatch(/^ {2}pawl resume r-1 --max-iterations 4 --max-cost 1 +# go on$/m);
  });

  it("tells what stands in the way of a resume, and first the command that helps", () => {
    const outcome = { is: "stopped" as const, rule: "r", reason: "r" };
    const ended: NewFact[] = [...laneReady(), ...red(1), { type: "run-end", outcome }];
    const inTheWay = { command: "git switch pawl/x", why: "the workspace is at main" };
    expect(statusText(look(ended, { driven: false, inTheWay }))).toMatch(
      /^ {2}git switch pawl\/x +# the workspace is at main\n {2}pawl resume r-1 +# go on$/m,
    );
  });

  it("names the branch as soon as there is one", () => {
    expect(look(laneReady()).branch).toBe("pawl/x");
    expect(statusText(look(laneReady()))).toMatch(/^branch +pawl\/x, no commit yet$/m);
  });

  it("does not call a run working whose process was stopped by a signal", () => {
    const text = statusText(look([...laneReady(), ...red(1)], { suspended: true }));
    expect(text).toMatch(/^state +suspended: process 7 /m);
    expect(text).not.toContain("working");
    expect(text).toMatch(/^ {2}kill -CONT 7 +# let it go on$/m);
  });

  it("shows the last five iterations, and what is left of every limit", () => {
    const view = look([...laneReady(), ...[1, 2, 3, 4, 5, 6, 7].flatMap(red)]);
    expect(view.recent.map(({ n }) => n)).toEqual([3, 4, 5, 6, 7]);
    expect(view.budget).toMatchObject({
      iterations: { used: 7, limit: 20, left: 13 },
      usd: { used: 1.75, limit: 5, left: 3.25 },
    });
    expect(view.budget["drivenMs"]?.left).toBe(3_600_000 - view.drivenMs);
    expect(statusText(view)).toMatch(
      /^limits .*iterations 7 of 20 \(13 left\), cost \$1\.75 of \$5\.00 \(\$3\.25 left\), time /m,
    );
  });

  it("knows a verdict that no decision followed yet", () => {
    const facts = red(1);
    const cut = facts.slice(0, facts.findIndex(({ type }) => type === "check-end") + 1);
    expect(look([...laneReady(), ...cut], { driven: false }).checks).toEqual([{ check: "tests", is: "fail" }]);
  });

  it("tells struggle in words", () => {
    const text = statusText(look([...laneReady(), ...red(1), ...red(2)]));
    expect(text).toMatch(/^Struggle\n/m);
    expect(text).toMatch(/^ {2}failures over time +1 → 1$/m);
    expect(text).toMatch(/^best +iteration 2 \(1 failure\)$/m);
    const same = [1, 2, 3].flatMap((n) =>
      iterationFacts(n, { prompt: "0".repeat(64), log: null, verdict: "fail", text: "the same" }),
    );
    expect(statusText(look([...laneReady(), ...same]))).toMatch(/^ {2}it says the same again +2 iterations in a row$/m);
  });

  it("says when a wait ends, by the clock and how long", () => {
    const wait = { type: "wait-start", wait: "w", reason: "usage limit", untilElapsed: null } as const;
    const view = look([...laneReady(), { ...wait, until: T0 + 7_200_000 }], { laterMs: 196_000 });
    expect(view.wait).toEqual({ reason: "usage limit", until: T0 + 7_200_000, leftMs: 7_000_000 });
    expect(view.state).toMatch(/^waiting until .*\d\d:\d\d \(1 h 56 min left\): usage limit$/);
    const backoff = look([...laneReady(), { ...wait, until: null, untilElapsed: 64_000 }]);
    expect(backoff.wait).toMatchObject({ leftMs: 60_000 });
    expect(statusText(backoff)).toContain("pawl resume r-1");
  });

  it("shows open questions with the time left, and how to answer", () => {
    const asked: NewFact = {
      type: "human-requested",
      question: "q1",
      kind: "question",
      text: "Which way?",
      options: ["left", "right"],
      turn: 1,
      untilElapsed: 604_000,
    };
    const view = look([...laneReady(), asked], { laterMs: 100_000 });
    expect(view.questions).toMatchObject([
      { question: "q1", kind: "question", text: "Which way?", options: ["left", "right"], leftMs: 500_000 },
    ]);
    const between: NewFact = { ...asked, turn: null };
    expect(look([...laneReady(), between], { laterMs: 100_000, driven: false }).questions[0]?.leftMs).toBe(600_000);
    // Its turn ended with its driver: no answer would be taken, so none is asked for.
    expect(look([...laneReady(), asked], { driven: false }).questions).toEqual([]);
    const text = statusText(view);
    expect(text).toMatch(/q1.*Which way\?/);
    expect(text).toContain("pawl answer r-1 q1");
    const answered: NewFact = { type: "human-answered", question: "q1", text: "left", by: "person" };
    expect(look([...laneReady(), asked, answered]).questions).toEqual([]);
  });

  it("shows every directive that is under way with its receipt", () => {
    const say = { type: "directive-received", source: "cli", queuedAt: 0 } as const;
    const view = look([
      ...laneReady(),
      { ...say, id: "d1", directive: { kind: "say", text: "a", when: "next" } },
      { ...say, id: "d2", directive: { kind: "pause" } },
      { type: "directive-delivered", id: "d2", how: "no new turn starts", turn: null },
    ]);
    expect(view.directives.map(({ id, receipt, how }) => [id, receipt, how])).toEqual([
      ["d1", "queued", null],
      ["d2", "delivered", "no new turn starts"],
    ]);
  });
});
