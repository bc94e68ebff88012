/** Laws of questions, hooks and the pause after errors: answers at any moment, with drivers dying in between. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FactOf, FactType } from "../../src/events.ts";
import { fold } from "../../src/loop/fold.ts";
import { heldQuestions } from "../../src/loop/questions.ts";
import { wanted } from "../../src/loop/wanted.ts";
import { runRecipe } from "../../src/recipes/run.ts";
import type { HookSpec, RunSpec } from "../../src/spec.ts";
import { complaintsAbout } from "../support/journal-grammar.ts";
import { live } from "../support/live.ts";
import { marked, type Behaviour } from "../support/sim-agent.ts";
import { ANY_QUESTION, makeSpec, makeWorld, type Death, type Letter, type World } from "../support/world.ts";

const HOOK_POINTS = ["run-start", "iteration-start", "iteration-end", "run-end", "resume", "stall", "error"] as const;

const of = <T extends FactType>(world: World, type: T): FactOf<T>[] =>
  world.facts.filter((f): f is FactOf<T> => f.type === type);

const behaviours: fc.Arbitrary<Behaviour[]> = fc.array(
  fc.record({
    lines: fc.uniqueArray(fc.constantFrom("a", "b", "c", "good"), { maxLength: 3 }),
    claim: fc.boolean(),
    faults: fc.array(fc.constantFrom("limited", "crash", "timeout"), { maxLength: 3 }),
    usd: fc.constant(0),
    asks: fc.array(fc.constantFrom("permission" as const, "question" as const), { maxLength: 2 }),
  }),
  { minLength: 1, maxLength: 4 },
);
const touch = fc.integer({ min: 1, max: 60 });
const deaths = fc.array(fc.record({ touch, afterEffect: fc.boolean() }), { maxLength: 3 });

/** Later than any run lasts: what is to come then comes when somebody is waited for. */
const WHEN_ASKED = 10_000;
const questions = fc.constantFrom(ANY_QUESTION, ANY_QUESTION, ANY_QUESTION, "q1", "q2");
const anything = fc.record({
  touch: fc.integer({ min: 1, max: 200 }),
  what: fc.constantFrom(
    "words",
    "allow",
    "deny no",
    "1",
    "go on",
    "retry",
    "stop",
    "resume",
    "pause",
    "interrupt",
    "halt",
  ),
  question: questions,
});
const wordsWhenAsked = fc.record({
  touch: fc.constant(WHEN_ASKED),
  what: fc.constant("words"),
  question: fc.constant(ANY_QUESTION),
});
/** Words carry a mark, so that they are found again in what the model was sent. */
const post = (list: fc.Arbitrary<{ touch: number; what: string; question: string }[]>): fc.Arbitrary<Letter[]> =>
  list.map((all) =>
    all
      .map(({ touch: at, what, question }, i): Letter => {
        if (what === "resume" || what === "pause" || what === "interrupt")
          return { touch: at, directive: { kind: what } };
        if (what === "halt") return { touch: at, directive: { kind: "stop", when: "after" } };
        const text = what === "words" ? marked(`w${i}`) : what;
        return { touch: at, directive: { kind: "answer", question, text } };
      })
      .toSorted((a, b) => a.touch - b.touch),
  );
const letters = post(fc.array(anything, { maxLength: 6 }));
const talk = fc.oneof({ weight: 3, arbitrary: wordsWhenAsked }, { weight: 1, arbitrary: anything });
const talkative = post(fc.array(talk, { minLength: 2, maxLength: 8 }));

type HookWay = Pick<HookSpec, "on" | "policy" | "toPrompt">;
const anyHook: fc.Arbitrary<HookWay> = fc.record({
  on: fc.uniqueArray(fc.constantFrom(...HOOK_POINTS), { minLength: 1, maxLength: 3 }),
  policy: fc.constantFrom("warn" as const, "block" as const, "suspend" as const),
  toPrompt: fc.boolean(),
});
/** Its words are for the next prompt, and there is one. */
const talkingHook: fc.Arbitrary<HookWay> = fc.record({
  on: fc.uniqueArray(fc.constantFrom("run-start", "iteration-start", "iteration-end", "error"), {
    minLength: 1,
    maxLength: 3,
  }),
  policy: fc.constantFrom("warn" as const, "suspend" as const),
  toPrompt: fc.constant(true),
});
const named = (list: fc.Arbitrary<HookWay[]>): fc.Arbitrary<HookSpec[]> =>
  list.map((all) => all.map((hook, i) => ({ name: `h${i}`, command: "true", timeoutMs: 1_000, ...hook })));

const specsWith = (hooks: fc.Arbitrary<HookWay[]>) =>
  fc.record({
    questions: fc.constantFrom("deny" as const, "ask" as const),
    onErrors: fc.constantFrom("fail" as const, "pause" as const),
    hooks: named(hooks),
  });
const specs = specsWith(fc.array(anyHook, { maxLength: 3 }));
const talkingSpecs = specsWith(fc.array(fc.oneof(anyHook, talkingHook), { minLength: 1, maxLength: 3 }));
const specFrom = ({
  questions,
  onErrors,
  hooks: all,
}: Pick<RunSpec, "onErrors" | "hooks"> & { questions: "ask" | "deny" }): RunSpec => {
  const base = makeSpec({ limits: { iterations: 6 }, maxErrors: 2, onErrors, hooks: all });
  return {
    ...base,
    ...(onErrors === "pause" ? { notes: { file: "NOTES.md", maxBytes: 1_000 } } : {}),
    agent: { ...base.agent, ask: { permissions: "ask", questions, timeoutMs: 5_000 } },
    struggle: { patience: 2, shortTurnMs: 0, ladder: ["hint", "ask", "ask", "stop"] },
  };
};

/** A judge that is away on its first tries, and now and then for good. */
const moody = (lines: readonly string[], tries: number): boolean | "unverifiable" =>
  lines.includes("good") ? tries > 4 || "unverifiable" : false;

interface Lived {
  spec: RunSpec;
  given: readonly Letter[];
  dying?: readonly Death[];
  failing?: boolean;
  quick?: boolean;
}

async function lived(
  acts: readonly Behaviour[],
  { spec, given, dying = [], failing = false, quick = true }: Lived,
): Promise<World> {
  const world = makeWorld();
  world.letters = [...given];
  world.quick = quick;
  if (failing)
    world.hookResult = ({ name }, runs) =>
      runs % 2 === 1 ? { ok: false, exitCode: 1, output: `${marked(`hook-${name}-${runs}`)} no` } : {};
  const end = await live(world, spec, acts, { passes: moody, deaths: dying });
  expect(end.outcome).toBeDefined();
  return world;
}

describe("laws of people", () => {
  it("keeps every journal well-formed: no question is answered twice or left open, no finished hook repeated", async () => {
    await fc.assert(
      fc.asyncProperty(
        behaviours,
        specs,
        letters,
        deaths,
        fc.boolean(),
        fc.boolean(),
        async (acts, s, given, dying, failing, quick) => {
          const world = await lived(acts, { spec: specFrom(s), given, dying, failing, quick });
          expect(complaintsAbout(world.facts)).toEqual([]);
          expect(world.boughtTwice).toEqual([]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it("gives each answer to the agent at most once, and says so only when it did", async () => {
    const RUNS = 300;
    let told = 0;
    await fc.assert(
      fc.asyncProperty(behaviours, specs, letters, deaths, async (acts, s, given, dying) => {
        const world = await lived(acts, { spec: specFrom(s), given, dying });
        const names = world.replies.map(({ question }) => question);
        expect(new Set(names).size).toBe(names.length);
        const said = of(world, "directive-delivered").filter(({ how }) => how.startsWith("given to the agent"));
        const byPeople = of(world, "human-answered").filter(({ by }) => by === "person").length;
        expect(said.length).toBeLessThanOrEqual(Math.min(byPeople, names.length));
        if (said.length > 0) told += 1;
      }),
      { numRuns: RUNS },
    );
    expect(told).toBeGreaterThan(RUNS / 6);
  });

  it("shows a person's words in one prompt, more often only where a driver died, and never words nobody waited for", async () => {
    const RUNS = 300;
    let [prompted, unused] = [0, 0];
    await fc.assert(
      fc.asyncProperty(behaviours, specs, talkative, deaths, async (acts, s, given, dying) => {
        const world = await lived(acts, { spec: specFrom(s), given, dying, failing: true });
        const used = new Set(of(world, "human-answered").flatMap(({ directive }) => directive ?? []));
        const delivered = of(world, "directive-delivered");
        for (const { id, directive } of of(world, "directive-received")) {
          if (directive.kind !== "answer" || !directive.text.startsWith("[[")) continue;
          const times = world.shown.filter((mark) => marked(mark) === directive.text).length;
          expect(times).toBeLessThanOrEqual(used.has(id) ? 1 + dying.length : 0);
          if (!used.has(id)) unused += 1;
          if (!delivered.some((f) => f.id === id && f.how.startsWith("in the prompt"))) continue;
          expect(times).toBeGreaterThan(0);
          prompted += 1;
        }
      }),
      { numRuns: RUNS },
    );
    expect(prompted).toBeGreaterThan(RUNS / 5);
    expect(unused).toBeGreaterThan(RUNS / 10);
  });

  it("runs each hook once per occasion, again only where a driver died, and shows its words once", async () => {
    const RUNS = 300;
    let [shown, again] = [0, 0];
    /** Most of them fail and say so, so that there are words to show. */
    const fails = fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) });
    await fc.assert(
      fc.asyncProperty(behaviours, talkingSpecs, deaths, fails, async (acts, s, dying, failing) => {
        const world = await lived(acts, { spec: specFrom(s), given: [], dying, failing });
        expect(world.hooked.length).toBeLessThanOrEqual(of(world, "hook-end").length + dying.length);
        const marks = world.shown.filter((mark) => mark.startsWith("hook-"));
        if (marks.length > 0) shown += 1;
        if (world.hooked.length > of(world, "hook-end").length) again += 1;
        for (const mark of new Set(marks))
          expect(marks.filter((one) => one === mark).length).toBeLessThanOrEqual(1 + dying.length);
      }),
      { numRuns: RUNS },
    );
    expect(shown).toBeGreaterThan(RUNS / 4);
    expect(again).toBeGreaterThan(RUNS / 40);
  });

  it("has an answer for every prefix of such a journal: something to do, a wait, a person or an end", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, specs, letters, deaths, async (acts, s, given, dying) => {
        const world = await lived(acts, { spec: specFrom(s), given, dying });
        for (let n = 1; n <= world.facts.length; n += 1) {
          const state = fold(world.facts.slice(0, n));
          const { actions } = wanted(runRecipe, state, { wall: state.at, elapsed: state.elapsed });
          const lane = state.lanes.get("main");
          const idle =
            state.outcome !== undefined ||
            state.wait !== undefined ||
            state.paused ||
            heldQuestions(state).length > 0 ||
            lane?.open !== undefined;
          expect(idle || actions.size > 0).toBe(true);
        }
      }),
      { numRuns: 80 },
    );
  });
});
