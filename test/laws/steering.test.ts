/** Laws of steering: directives of every kind at any moment, with drivers dying in between. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Directive, FactOf } from "../../src/events.ts";
import { fold } from "../../src/loop/fold.ts";
import { mainLane } from "../../src/loop/state.ts";
import { wanted } from "../../src/loop/wanted.ts";
import { runRecipe } from "../../src/recipes/run.ts";
import { complaintsAbout } from "../support/journal-grammar.ts";
import { live } from "../support/live.ts";
import { marked, type Behaviour } from "../support/sim-agent.ts";
import { makeSpec, makeWorld, type Letter, type World } from "../support/world.ts";

const act = (lines: string[], claim = false, more: Partial<Behaviour> = {}): Behaviour => ({
  lines,
  claim,
  faults: [],
  usd: 0,
  ...more,
});

const behaviours = fc.array(
  fc.record({
    lines: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d", "good"), { maxLength: 4 }),
    claim: fc.boolean(),
    faults: fc.array(fc.constantFrom("limited", "limited-reset", "crash", "timeout"), { maxLength: 2 }),
    usd: fc.constantFrom(0, 0.01),
  }),
  { minLength: 1, maxLength: 5 },
);
const words = fc.record({ kind: fc.constant("say" as const), when: fc.constantFrom("now", "next") });
const onlyNow = fc.constant({ kind: "say" as const, when: "only-now" as const });
/** Of what was said first, or of nothing that is there. */
const cancel = fc.record({
  kind: fc.constant("cancel" as const),
  directive: fc.integer({ min: 1, max: 5 }).map((n) => `d${n}`),
});
/** Of these the end of a run does not depend. */
const harmless = fc.oneof(
  words,
  onlyNow,
  cancel,
  fc.constant({ kind: "pause" as const }),
  fc.constant({ kind: "resume" as const }),
  fc.constant({ kind: "model" as const, model: "other" }),
  fc.constant({ kind: "memory" as const, op: "clear" as const, id: "none" }),
  fc.constant({ kind: "answer" as const, question: "q" }),
);
const any = fc.oneof(
  harmless,
  fc.constant({ kind: "interrupt" as const }),
  fc.record({ kind: fc.constant("stop" as const), when: fc.constantFrom("now", "after") }),
  fc.constant({ kind: "budget" as const, limits: { iterations: 3 } }),
);
/** Words among all else: each kind drawn as often as the next, there would hardly be any. */
const mostlyWords = fc.oneof({ weight: 2, arbitrary: words }, { weight: 1, arbitrary: any });
const touch = fc.integer({ min: 1, max: 50 });
const deaths = fc.array(fc.record({ touch, afterEffect: fc.boolean() }), { maxLength: 3 });

/** Every text is its own, so that it can be found again. */
function letters(of: readonly { touch: number; directive: object }[]): Letter[] {
  return of
    .map(({ touch: at, directive }, i) => ({ touch: at, directive: { text: marked(`${i}`), ...directive } }))
    .map((letter) => ({ touch: letter.touch, directive: clean(letter.directive) }))
    .toSorted((a, b) => a.touch - b.touch);
}
function clean({ text, ...rest }: { text: string; kind?: string }): Directive {
  return (rest.kind === "say" || rest.kind === "answer" ? { ...rest, text } : rest) as Directive;
}
const post = (kind: fc.Arbitrary<object>, minLength = 0): fc.Arbitrary<Letter[]> =>
  fc.array(fc.record({ touch, directive: kind }), { minLength, maxLength: 5 }).map(letters);
/** Words, most of them taken back by name a little later, where they may have been shown or not. */
const regretted = fc
  .array(
    fc.record({
      touch: fc.integer({ min: 1, max: 30 }),
      said: fc.oneof({ weight: 3, arbitrary: words }, { weight: 1, arbitrary: onlyNow }),
      after: fc.option(fc.integer({ min: 0, max: 9 }), { freq: 4 }),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) => {
    const said = list.map(({ touch: at, said: directive }) => ({ touch: at, directive: directive as object, of: -1 }));
    const regrets = list.flatMap(({ touch: at, after }, of) =>
      after === null ? [] : [{ touch: at + after, directive: { kind: "cancel" }, of }],
    );
    const inOrder = [...said, ...regrets].toSorted((a, b) => a.touch - b.touch);
    const nameOf = (of: number): string => `d${inOrder.findIndex((one) => one === said[of]) + 1}`;
    return letters(
      inOrder.map(({ touch: at, directive, of }) => ({
        touch: at,
        directive: of < 0 ? directive : { ...directive, directive: nameOf(of) },
      })),
    );
  });

const received = (world: World): FactOf<"directive-received">[] =>
  world.facts.filter((f) => f.type === "directive-received");
const deliveredIds = (world: World): string[] =>
  world.facts.flatMap((f) => (f.type === "directive-delivered" ? [f.id] : []));
/** Those whose receipt says that the model was sent them. */
const reached = (world: World): Set<string> =>
  new Set(
    world.facts.flatMap((f) => (f.type === "directive-delivered" && /^(in|into) the /.test(f.how) ? [f.id] : [])),
  );
/** By the receipt's own field: words are for people. */
const isRefused = (world: World, wantedId: string): boolean =>
  world.facts.some((f) => f.type === "directive-delivered" && f.id === wantedId && f.refused === true);
const howOf = (world: World, wantedId: string): string[] =>
  world.facts.flatMap((f) => (f.type === "directive-delivered" && f.id === wantedId ? [f.how] : []));
const textOf = (directive: Directive): string | undefined => (directive.kind === "say" ? directive.text : undefined);

const spec = makeSpec({ maxErrors: 9, limits: { iterations: 5 } });

describe("laws of steering", () => {
  it("keeps every journal well-formed, whatever people say and wherever drivers die", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, post(any), deaths, async (acts, given, dying) => {
        const world = makeWorld();
        world.letters = [...given];
        const end = await live(world, spec, acts, { deaths: dying });
        expect(complaintsAbout(world.facts)).toEqual([]);
        expect(end.outcome).toBeDefined();
        expect(world.boughtTwice).toEqual([]);
      }),
      { numRuns: 600 },
    );
  });

  it("has an answer for every prefix of such a journal: something to do, a wait, a pause or an end", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, post(any), deaths, async (acts, given, dying) => {
        const world = makeWorld();
        world.letters = [...given];
        await live(world, spec, acts, { deaths: dying });
        for (let n = 1; n <= world.facts.length; n += 1) {
          const state = fold(world.facts.slice(0, n));
          const { actions } = wanted(runRecipe, state, { wall: state.at, elapsed: state.elapsed });
          const ending = mainLane(state).open !== undefined && actions.size === 0;
          const idle = state.outcome !== undefined || state.wait !== undefined || state.paused || ending;
          expect(idle || actions.size > 0).toBe(true);
        }
      }),
      { numRuns: 80 },
    );
  });

  it("shows words to the model once, says so only when it did, and forgets none while the run goes on", async () => {
    const RUNS = 400;
    let [shown, kept] = [0, 0];
    await fc.assert(
      fc.asyncProperty(behaviours, post(mostlyWords, 1), async (acts, given) => {
        const world = makeWorld();
        world.letters = [...given];
        await live(world, spec, acts);
        for (const { id, directive } of received(world)) {
          const text = textOf(directive);
          if (text === undefined) continue;
          const times = world.shown.filter((mark) => marked(mark) === text).length;
          expect(times).toBe(reached(world).has(id) ? 1 : 0);
          if (times === 0) kept += 1;
          else shown += 1;
        }
        const others = received(world).filter(({ directive }) => textOf(directive) === undefined);
        const lastWord = world.facts.findLast((f) => f.type === "run-end")?.seq ?? 0;
        for (const { id, seq } of others) if (seq < lastWord) expect(deliveredIds(world)).toContain(id);
      }),
      { numRuns: RUNS },
    );
    expect(shown).toBeGreaterThan(RUNS / 2);
    expect(kept).toBeGreaterThan(RUNS / 8);
  });

  it("shows no words more than once for each death, and loses none that it says it delivered", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, post(words), deaths, async (acts, given, dying) => {
        const world = makeWorld();
        world.letters = [...given];
        await live(world, spec, acts, { deaths: dying });
        for (const { id, directive } of received(world)) {
          const times = world.shown.filter((mark) => marked(mark) === textOf(directive)).length;
          expect(times).toBeLessThanOrEqual(1 + dying.length);
          if (deliveredIds(world).includes(id)) expect(times).toBeGreaterThan(0);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("says words that are only for now into the running turn or not at all, and tells which", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, post(onlyNow), deaths, async (acts, given, dying) => {
        const world = makeWorld();
        world.letters = [...given];
        await live(world, spec, acts, { deaths: dying });
        for (const prompt of world.prompts)
          for (const { directive } of given) expect(prompt).not.toContain(textOf(directive));
        for (const { id, directive } of received(world)) {
          const times = world.shown.filter((mark) => marked(mark) === textOf(directive)).length;
          const [how, ...more] = howOf(world, id);
          expect(more).toEqual([]);
          if (how?.startsWith("into the running turn")) expect(times).toBe(1);
          else if (dying.length === 0) expect(times).toBe(0);
          const isSaid = how?.startsWith("into the running turn") === true;
          if (how !== undefined) expect([how, isRefused(world, id)]).toEqual([how, !isSaid]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("never shows the model what it says was taken back, but in a request that died with its driver, and says too late of what it did show", async () => {
    const RUNS = 400;
    let [tookBack, tooLate] = [0, 0];
    const steer = fc.oneof(
      { weight: 1, arbitrary: post(fc.oneof(words, onlyNow, cancel)) },
      { weight: 3, arbitrary: regretted },
    );
    await fc.assert(
      fc.asyncProperty(behaviours, steer, deaths, async (acts, given, dying) => {
        const world = makeWorld();
        world.letters = [...given];
        await live(world, spec, acts, { deaths: dying });
        for (const { id, directive, seq } of received(world)) {
          if (directive.kind !== "cancel") continue;
          const words = received(world).find((said) => said.id === directive.directive && said.seq < seq);
          const text = words === undefined ? undefined : textOf(words.directive);
          const times = world.shown.filter((mark) => marked(mark) === text).length;
          for (const how of howOf(world, id)) {
            if (how === "took it back") {
              expect(text).toBeDefined();
              // A request that was out when its driver died left no trace: nobody can know that it showed them.
              expect(times).toBeLessThanOrEqual(dying.length);
              if (times === 0) tookBack += 1;
            } else {
              expect(how).toMatch(/^too late/);
              if (times > 0) tooLate += 1;
            }
          }
        }
      }),
      { numRuns: RUNS },
    );
    expect(tookBack).toBeGreaterThan(RUNS / 4);
    expect(tooLate).toBeGreaterThan(RUNS / 10);
  });

  it("does not say that a cancel took back words that came after it", async () => {
    const world = makeWorld();
    world.letters = [
      { touch: 1, directive: { kind: "cancel", directive: "d2" } },
      { touch: 1, directive: { kind: "say", when: "now", text: "later" } },
      { touch: 2, directive: { kind: "cancel", directive: "d2" } },
    ];
    await live(world, spec, [act([])]);
    expect(howOf(world, "d1")).toEqual([expect.stringMatching(/^too late/)]);
    expect(howOf(world, "d3")).toEqual(["took it back"]);
  });

  it("takes nothing back but words: a stop that was cancelled still stops", async () => {
    const world = makeWorld();
    world.letters = [
      { touch: 3, directive: { kind: "stop", when: "after" } },
      { touch: 3, directive: { kind: "cancel", directive: "d1" } },
    ];
    const end = await live(world, spec, [act(["a"])]);
    expect(end.outcome?.is).toBe("stopped");
    expect(howOf(world, "d2")).toEqual([expect.stringMatching(/^too late/)]);
  });

  it("ends as it would have without words, pauses and model switches", async () => {
    await fc.assert(
      fc.asyncProperty(behaviours, post(harmless), deaths, async (acts, given, dying) => {
        const calm = makeWorld();
        const calmEnd = await live(calm, spec, acts);
        const world = makeWorld();
        world.letters = [...given];
        const end = await live(world, spec, acts, { deaths: dying });
        expect(end.outcome).toEqual(calmEnd.outcome);
        expect(world.content).toEqual(calm.content);
        expect(world.commits.map((c) => c.tree)).toEqual(calm.commits.map((c) => c.tree));
        expect(world.facts.filter((f) => f.type === "iteration-start")).toHaveLength(
          calm.facts.filter((f) => f.type === "iteration-start").length,
        );
      }),
      { numRuns: 400 },
    );
  });

  it("does not starve the agent's end when words come for a turn that hangs", async () => {
    const world = makeWorld();
    const say = { kind: "say" as const, when: "now" as const, text: marked("x") };
    world.letters = [{ touch: 4, directive: say }];
    const end = await live(world, spec, [act(["good"], true, { faults: ["timeout"] })]);
    expect(end.outcome?.is).toBe("verified");
    expect(world.shown).toEqual(["x"]);
  });

  it.each(["claimed", "exhausted", "stuck", "needs-human", "stopped", "failed"] as const)(
    "goes on with a run that ended %s once it is reopened, and ends it anew",
    async (is) => {
      const world = makeWorld();
      world.letters = [{ touch: 9, directive: { kind: "stop", when: "now" } }];
      await live(world, spec, [act(["a"]), act(["b"]), act(["good"], true)]);
      const last = world.facts.at(-1);
      if (last?.type !== "run-end") throw new Error("it did not end");
      last.outcome = { is, rule: "test", reason: "for the test" };
      const end = await live(world, spec, [act(["a"]), act(["b"]), act(["good"], true)], { reopen: { limits: {} } });
      expect(world.facts.find((f) => f.type === "run-reopened")).toMatchObject({ was: { is } });
      expect(end.outcome?.is).toBe("verified");
    },
  );
});
