/** Rules of questions, hooks and the pause after errors, each on a simulated run through the real kernel. */
import { describe, expect, it } from "vitest";
import type { Directive, FactOf, FactType } from "../../src/events.ts";
import { permissionOf, replyTo, wayOf } from "../../src/loop/questions.ts";
import type { HookSpec, RunSpec } from "../../src/spec.ts";
import { live, type LiveOptions } from "../support/live.ts";
import type { Behaviour } from "../support/sim-agent.ts";
import { ANY_QUESTION, makeSpec, makeWorld, type World } from "../support/world.ts";

const act = (lines: string[], claim = false, more: Partial<Behaviour> = {}): Behaviour => ({
  lines,
  claim,
  faults: [],
  usd: 0,
  ...more,
});
const of = <T extends FactType>(world: World, type: T): FactOf<T>[] =>
  world.facts.filter((f): f is FactOf<T> => f.type === type);
const asking = (over: Partial<RunSpec> = {}): RunSpec => {
  const base = makeSpec(over);
  return { ...base, agent: { ...base.agent, ask: { permissions: "ask", questions: "ask", timeoutMs: 5_000 } } };
};
/** Given when nothing else happens any more, one after the other. */
const said = (...texts: string[]): World["letters"] =>
  texts.map((text) => ({
    touch: 1e6,
    directive: { kind: "answer", question: ANY_QUESTION, text } satisfies Directive,
  }));
const hook = (over: Partial<HookSpec>): HookSpec => ({
  name: "tell",
  on: ["iteration-end"],
  command: "true",
  policy: "warn",
  toPrompt: false,
  timeoutMs: 1_000,
  ...over,
});
async function lived(
  spec: RunSpec,
  acts: Behaviour[],
  { answers = [], prepare, ...options }: LiveOptions & { answers?: string[]; prepare?: (world: World) => void } = {},
): Promise<World> {
  const world = makeWorld();
  world.letters = said(...answers);
  world.quick = true;
  prepare?.(world);
  await live(world, spec, acts, options);
  return world;
}
const outcome = (world: World): string => {
  const end = of(world, "run-end").at(-1)?.outcome;
  return `${end?.is} ${end?.rule}`;
};

describe("a question of the agent", () => {
  const asks = [act(["good"], true, { asks: ["permission"] })];

  it("is a fact at once, waits inside its turn, and the answer goes to the agent (row 21)", async () => {
    const world = await lived(asking(), asks, { answers: ["deny not here"] });
    expect(of(world, "human-requested")).toMatchObject([{ question: "q1", kind: "permission", turn: 1 }]);
    expect(of(world, "human-answered")).toMatchObject([{ question: "q1", text: "deny not here", by: "person" }]);
    expect(world.replies.map(({ reply }) => reply)).toEqual([{ is: "deny", reason: "not here" }]);
    expect(of(world, "directive-delivered").map(({ how }) => how)).toEqual(["given to the agent in turn 1"]);
    expect(of(world, "turn-start")).toHaveLength(1);
    expect(outcome(world)).toBe("verified all-required-pass");
  });

  it("is denied when its time is over, and the turn goes on", async () => {
    const world = await lived(asking(), asks);
    const [asked] = of(world, "human-requested");
    const [answered] = of(world, "human-answered");
    expect(answered?.by).toBe("timeout");
    expect(answered?.elapsed).toBeGreaterThanOrEqual(asked?.untilElapsed ?? Number.POSITIVE_INFINITY);
    expect(world.replies.map(({ reply }) => reply.is)).toEqual(["deny"]);
    expect(of(world, "turn-end").map((f) => f.outcome.is)).toEqual(["done"]);
  });

  it("is closed when its driver dies, and the turn that asked is cut", async () => {
    const probe = await lived(asking(), asks);
    const at = probe.facts.findIndex((f) => f.type === "human-requested");
    // Touches are at least as many as facts: the first death after the question is one of these.
    for (let touch = at; touch < at + 12; touch += 1) {
      const world = await lived(asking(), asks, { deaths: [{ touch, afterEffect: true }] });
      const closed = of(world, "human-answered");
      expect(closed.map(({ question }) => question)).toEqual(of(world, "human-requested").map((f) => f.question));
      expect(outcome(world)).toBe("verified all-required-pass");
    }
  });

  it("tells an answer that came twice, too late or to nothing", async () => {
    const world = await lived(asking(), [act(["good"], true, { asks: ["question", "question"] })], {
      prepare(it) {
        const answer = (question: string): Directive => ({ kind: "answer", question, text: "1" });
        it.letters = ["q9", "q1", "q1"].map((question) => ({ touch: 1e6, directive: answer(question) }));
      },
    });
    expect(of(world, "directive-delivered").map(({ how, refused }) => [how, refused])).toEqual([
      ["there is no question q9", true],
      ["given to the agent in turn 1", undefined],
      ["too late: q1 is closed", true],
    ]);
    expect(world.replies[0]?.reply).toEqual({ is: "text", text: "left" });
  });

  it.each([
    ["allow", { is: "allow" }],
    ["Yes", { is: "allow" }],
    ["deny", { is: "deny", reason: "a person said no" }],
    ["no, use the staging host", { is: "deny", reason: "use the staging host" }],
    ["nothing of the kind", undefined],
    ["allowance", undefined],
  ])("reads %j as a permission: %j", (text, reply) => {
    expect(permissionOf(text)).toEqual(reply);
  });

  it("never takes a permission from words that do not give one", () => {
    const by = "person" as const;
    expect(replyTo({ kind: "permission", options: [] }, { text: "hm", by })).toEqual({ is: "deny", reason: "hm" });
    const ways = { kind: "question" as const, options: ["Left", "Right"] };
    expect(replyTo(ways, { text: " right ", by })).toEqual({ is: "text", text: "Right" });
    expect(replyTo(ways, { text: "2", by })).toEqual({ is: "text", text: "Right" });
    expect(replyTo(ways, { text: "3", by })).toEqual({ is: "text", text: "3" });
  });

  it("knows what a person means where the run waits", () => {
    expect(["go on", "Retry", "", "stop", "stop it and look"].map(wayOf)).toEqual([
      "go-on",
      "go-on",
      "go-on",
      "stop",
      "words",
    ]);
  });
});

describe("a question of the loop", () => {
  const stuck = { struggle: { patience: 1, shortTurnMs: 0, ladder: ["ask" as const, "stop" as const] } };

  it("is asked at the ladder's rung, and words stand in the next prompt, once", async () => {
    const world = await lived(
      asking({ ...stuck, limits: { iterations: 4 } }),
      [act(["a"]), act([]), act([]), act([])],
      {
        answers: ["look at the parser [[words]]"],
      },
    );
    expect(of(world, "human-requested")).toMatchObject([{ kind: "ladder", turn: null, options: ["go on", "stop"] }]);
    expect(world.shown).toEqual(["words"]);
    expect(of(world, "decision-made").map(({ rule, next }) => `${rule} ${next}`)).toContain("struggle:ask continue");
    expect(outcome(world)).toBe("stuck struggle:stop");
  });

  it("ends the run as before when nobody is asked, or nobody answers in time", async () => {
    const acts = [act(["a"]), act([])];
    const spec = makeSpec(stuck);
    expect(outcome(await lived(spec, acts))).toBe("needs-human struggle:ask");
    const world = await lived(asking(stuck), acts);
    expect(of(world, "human-answered")).toMatchObject([{ by: "timeout" }]);
    expect(outcome(world)).toBe("needs-human struggle:ask");
  });

  it("ends the run when a person says stop, by an answer or by a directive", async () => {
    const acts = [act(["a"]), act([])];
    expect(outcome(await lived(asking(stuck), acts, { answers: ["stop"] }))).toBe("stopped answer:stop");
    const world = await lived(asking(stuck), acts, {
      prepare: (it) => (it.letters = [{ touch: 1e6, directive: { kind: "stop", when: "after" } }]),
    });
    expect(of(world, "human-answered")).toMatchObject([{ by: "policy" }]);
    expect(outcome(world)).toBe("stopped directive:stop-after");
  });

  it("has the checks tried again where they could not judge: could not judge is never pass or fail (rows 6, 13)", async () => {
    const judge = (_: readonly string[], tries: number): boolean | "unverifiable" => tries >= 6 || "unverifiable";
    const world = await lived(asking(), [act(["good"], true)], { passes: judge, answers: ["retry", "retry"] });
    expect(of(world, "human-requested").map(({ kind }) => kind)).toEqual(["unverifiable", "unverifiable"]);
    expect(of(world, "turn-start")).toHaveLength(1);
    expect(of(world, "check-end").map(({ verdict }) => verdict.is)).toEqual([
      ...Array.from({ length: 6 }, () => "unverifiable"),
      "pass",
    ]);
    expect(outcome(world)).toBe("verified all-required-pass");
  });

  it("is what a verdict outside of the known ones comes to, never another turn (row 13)", async () => {
    const world = await lived(asking(), [act(["good"], true)], {
      answers: ["stop"],
      adjust(ports) {
        for (const check of ports.checks) check.judge = async () => ({ is: "perhaps" }) as never;
      },
    });
    expect(of(world, "human-requested")).toMatchObject([
      { kind: "unverifiable", text: 'check tests could not judge: it answered "perhaps", which is no verdict' },
    ]);
    expect(of(world, "turn-start")).toHaveLength(1);
    expect(outcome(world)).toBe("stopped answer:stop");
  });

  it("is still open after its driver died, and `resume` answers it", async () => {
    const spec = asking({ ...stuck, limits: { iterations: 3 } });
    const acts = [act(["a"]), act([]), act([])];
    const calm = await lived(spec, acts, { answers: ["go on"] });
    const asked = calm.facts.findIndex((f) => f.type === "human-requested");
    for (let touch = asked; touch < asked + 12; touch += 1) {
      const world = await lived(spec, acts, {
        deaths: [{ touch, afterEffect: true }],
        prepare: (it) => (it.letters = [{ touch: 1e6, directive: { kind: "resume" } }]),
      });
      expect(of(world, "human-requested")).toHaveLength(1);
      expect(of(world, "human-answered")).toMatchObject([{ text: "go on", by: "person" }]);
    }
  });
});

describe("the pause after errors", () => {
  const spec = makeSpec({ onErrors: "pause", maxErrors: 2, notes: { file: "NOTES.md", maxBytes: 1_000 } });
  const acts = [act(["good"], true, { faults: ["crash", "timeout", "crash", "crash"] })];

  it("writes the last errors to the notes, waits, and goes on in the same iteration with the count at zero", async () => {
    const world = await lived(spec, acts, { prepare: (it) => it.memos.set("NOTES.md", "# Mine\n") });
    const asked = of(world, "human-requested");
    expect(asked).toMatchObject([
      { kind: "errors", untilElapsed: null },
      { kind: "errors", untilElapsed: null },
    ]);
    const notes = world.memos.get("NOTES.md") ?? "";
    expect(notes).toMatch(/^# Mine\n\n## Health pause after turn 2\n/);
    expect(notes).toContain("turn 1 (");
    expect(notes).toContain("no sign of life from the agent");
    expect(notes).toContain("## Health pause after turn 4\n");
    expect(of(world, "iteration-start")).toHaveLength(1);
    expect(outcome(world)).toBe("verified all-required-pass");
  });

  it("writes each pause once, wherever its driver dies", async () => {
    const calm = await lived(spec, acts);
    for (let touch = 1; touch < calm.touches; touch += 1) {
      const world = await lived(spec, acts, { deaths: [{ touch, afterEffect: touch % 2 === 0 }] });
      const headings = (world.memos.get("NOTES.md") ?? "").match(/^## .*$/gm) ?? [];
      expect(new Set(headings).size).toBe(headings.length);
      expect(outcome(world)).toBe("verified all-required-pass");
    }
  });

  it("ends when a person says stop, and without the setting fails as before", async () => {
    expect(outcome(await lived(spec, acts, { answers: ["stop"] }))).toBe("stopped answer:stop");
    expect(outcome(await lived({ ...spec, onErrors: "fail" }, acts))).toBe("failed agent:errors");
  });
});

describe("hooks", () => {
  const ON = ["run-start", "iteration-start", "iteration-end", "run-end", "resume", "stall", "error"] as const;
  const two = [act(["a"], false, { faults: ["crash"] }), act(["good"], true)];

  it("run at each point once, with the fact of that point", async () => {
    const world = await lived(makeSpec({ hooks: [hook({ on: [...ON] })] }), two);
    expect(of(world, "hook-end").map(({ on, occasion }) => `${on} ${occasion}`)).toEqual([
      "run-start run",
      "iteration-start iteration 1",
      "error turn 1",
      "iteration-end iteration 1",
      "iteration-start iteration 2",
      "iteration-end iteration 2",
      "run-end 0/2/all-required-pass",
    ]);
    expect(world.hooked.map(({ on }) => on)).toEqual([
      "run-start",
      "iteration-start",
      "turn-end",
      "decision-made",
      "iteration-start",
      "decision-made",
      "run-end",
    ]);
  });

  it("cost a run without them nothing: no fact and no start", async () => {
    const world = await lived(makeSpec(), two);
    expect(of(world, "hook-end")).toEqual([]);
    expect(world.hooked).toEqual([]);
  });

  it("tell, block or suspend when they fail", async () => {
    const fails = (it: World): unknown =>
      (it.hookResult = () => ({ ok: false, exitCode: 3, output: "no deploy\nmore" }));
    const end = async (policy: HookSpec["policy"], answers: string[] = []): Promise<World> =>
      await lived(makeSpec({ hooks: [hook({ on: ["iteration-start"], policy })] }), [act(["good"], true)], {
        answers,
        prepare: fails,
      });
    expect(outcome(await end("warn"))).toBe("verified all-required-pass");
    const blocked = await end("block");
    expect(outcome(blocked)).toBe("needs-human hook:tell");
    expect(of(blocked, "run-end")[0]?.outcome.reason).toContain("no deploy");
    expect(of(blocked, "turn-start")).toEqual([]);
    const suspended = await end("suspend", ["go on"]);
    expect(of(suspended, "human-requested")).toMatchObject([{ kind: "hook", untilElapsed: null }]);
    expect(outcome(suspended)).toBe("verified all-required-pass");
    expect(of(suspended, "hook-end")).toHaveLength(1);
    expect(outcome(await end("suspend", ["stop"]))).toBe("stopped answer:stop");
  });

  it("block in the middle of an iteration too, and a reopened run goes on without repeating them", async () => {
    const spec = makeSpec({ hooks: [hook({ on: ["error"], policy: "block" })] });
    const world = makeWorld();
    world.hookResult = () => ({ ok: false, exitCode: 1, output: "down" });
    const end = await live(world, spec, [act(["good"], true, { faults: ["crash"] })]);
    expect(end.outcome).toMatchObject({ is: "needs-human", rule: "hook:tell" });
    const again = await live(world, spec, [act(["good"], true), act(["good"], true)], { reopen: { limits: {} } });
    expect(again.outcome?.is).toBe("verified");
    expect(of(world, "hook-end")).toHaveLength(1);
  });

  it("put their output into the next prompt, once", async () => {
    const world = await lived(
      makeSpec({ hooks: [hook({ on: ["run-start"], toPrompt: true })] }),
      [act(["a"]), act(["good"], true)],
      { prepare: (it) => (it.hookResult = () => ({ output: "the build is [[red]]\n" })) },
    );
    expect(world.shown).toEqual(["red"]);
    expect(world.prompts[0]).toContain("## From hook tell\n\nthe build is [[red]]");
  });

  it("run when a run is driven again, and say what they changed as the user's", async () => {
    const spec = makeSpec({ hooks: [hook({ on: ["resume"] })] });
    const world = makeWorld();
    world.hookResult = () => (world.content.push("by the hook"), {});
    await live(world, spec, [act(["a"]), act(["good"], true)], { deaths: [{ touch: 20, afterEffect: true }] });
    expect(of(world, "hook-end").map(({ on, occasion }) => `${on} ${occasion}`)).toEqual(["resume 2"]);
    expect(world.hooked).toEqual([{ hook: "tell", on: "lease-changed" }]);
  });
});
