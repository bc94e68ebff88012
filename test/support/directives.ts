/**
 * Directives of every kind on one agent, through the built command line and its real program: one run, steered from
 * other processes while its turns are held open. What a receipt says is held against the stand-in's log: delivered is
 * what stands in a request body, acknowledged what the next message of the model came after.
 */
import { beforeAll, describe, expect, it } from "vitest";
import type { Fact, FactOf, FactType } from "../../src/events.ts";
import type { Gap } from "../../src/ports.ts";
import type { LoggedRequest } from "../../src/standin/request-log.ts";
import type { Step } from "../../src/standin/script.ts";
import { CHECK, openGate, RUN_LIMIT_MS, untilOpen } from "./agent-run.ts";
import { byIteration, cliPlace, type CliPlace, type CliResult } from "./cli.ts";
import { liveRun, type LiveRun } from "./live-run.ts";
import { waitFor } from "./temp.ts";

export interface SteeredAgent {
  /** For people. */
  name: string;
  /** As in `--agent`, where that is something else. */
  entry?: string;
  /** The second is asked for while a turn runs. */
  models: { first: string; second: string };
  /** The model that it has titles written by, where those requests offer tools, too. */
  titles?: string;
  /** Of `pawl run`, beside those. */
  flags?: readonly string[];
  /** Its login, where it is not what every place has. */
  env?: (place: CliPlace) => Readonly<Record<string, string>>;
  /** A step that runs a command with one of its tools. */
  shell(command: string): Step;
  /** As it declares them: what it cannot take during a turn waits for the next. */
  gaps: readonly Gap[];
}

/** What a person gives, when, and what is true of its receipt. */
interface Row {
  what: string;
  words: readonly string[];
  how: string;
  /** Words for the model: they get there once, in a request of this turn. */
  text?: string;
  turn?: number;
}

const NOW = "prefer the quokka approach";
const NEXT = "mind the wombat";
const ITERATIONS = 9;

const cannot = (gaps: readonly Gap[], what: Gap["cannot"]): boolean => gaps.some((gap) => gap.cannot === what);

/** In the order in which they are given; d1 and so on by that. */
function rowsOf({ gaps, models: { second } }: SteeredAgent): Row[] {
  const into = cannot(gaps, "say-now") ? 2 : 1;
  return [
    { what: "say next", words: ["steer", "--next", NEXT], how: "in the prompt of turn 2", text: NEXT, turn: 2 },
    {
      what: "model",
      words: ["model", second],
      how: cannot(gaps, "switch-model-now") ? `next turn uses ${second}` : `switched to ${second} in the running turn`,
    },
    { what: "budget", words: ["budget", "--max-iterations", `${ITERATIONS}`], how: "limits changed" },
    { what: "pause", words: ["pause"], how: "no new turn starts" },
    {
      what: "say now",
      words: ["steer", NOW],
      how: into === 1 ? "into the running turn 1" : "in the prompt of turn 2",
      text: NOW,
      turn: into,
    },
    { what: "resume", words: ["resume"], how: "going on" },
    { what: "interrupt", words: ["interrupt"], how: "turn 2 interrupted" },
    { what: "stop", words: ["stop"], how: "stopping after this iteration" },
  ];
}

interface Played {
  place: CliPlace;
  ended: CliResult;
  facts: Fact[];
  /** Of the conversation, in order. */
  requests: LoggedRequest[];
  /** Receipts by the directive's kind. */
  receipts: Map<string, { receipt: string; how: string | null }>;
  /** Facts when the words had been given and no request could have taken them. */
  before: Fact[];
  turnsWhilePaused: number;
}

async function played(agent: SteeredAgent, rows: readonly Row[]): Promise<Played> {
  const held = (gate: string): Step => agent.shell(untilOpen(gate));
  const place = await cliPlace({
    script: byIteration({
      1: [held("one"), { text: "first" }],
      2: [held("never"), { text: "second" }],
      3: [held("three"), agent.shell("echo wrong > work.txt"), { text: "third" }],
      4: [{ text: "must not come" }],
    }),
  });
  const env = agent.env?.(place) ?? {};
  const { first } = agent.models;
  const flags = ["--agent", agent.entry ?? agent.name, "--model", first, "--max-iterations", "5", ...CHECK];
  const running = place.start(["run", "write work.txt", ...flags, ...(agent.flags ?? [])], {
    env,
    limitMs: RUN_LIMIT_MS,
  });
  const live = await liveRun(place);
  const receipts: Played["receipts"] = new Map();
  const give = async (what: string, ...more: string[]): Promise<void> => {
    const words = rows.find((row) => row.what === what)?.words ?? [];
    const { stdout } = await place.pawl(...words, ...more, "--json");
    receipts.set(what, JSON.parse(stdout) as { receipt: string; how: string | null });
  };

  await live.toolRuns(1);
  await give("say next", "--no-wait");
  for (const what of ["model", "budget", "pause"]) await give(what, "--wait");
  const before = await live.facts();
  // The last: some agents leave a command behind as soon as there is something to hear.
  await give("say now", "--no-wait");
  await live.nth("directive-received", 5);
  openGate(place, "one");
  await paused(live, place);
  const turnsWhilePaused = (await live.of("turn-start")).length;
  expect((await place.pawl("resume")).code).toBe(0);
  await live.toolRuns(2);
  await give("interrupt", "--wait");
  await live.toolRuns(3);
  await give("stop", "--wait");
  openGate(place, "three");
  const ended = await running.done;
  const requests = (place.standin?.requests ?? []).filter(
    ({ toolsOffered, model }) => toolsOffered > 0 && model !== agent.titles,
  );
  return { place, ended, facts: await live.facts(), requests, receipts, before, turnsWhilePaused };
}

async function paused(live: LiveRun, place: CliPlace): Promise<void> {
  await live.nth("decision-made");
  await waitFor(async () => /^state +paused\b/m.test((await place.pawl("status")).stdout), { what: "paused" });
}

/** Without its provider. */
const modelOf = (name: string): string => name.slice(name.indexOf("/") + 1);

type ReceiptType = "directive-received" | "directive-delivered" | "directive-acknowledged";

export function directivesTable(agent: SteeredAgent): void {
  const rows = rowsOf(agent);
  let run: Played;
  const of = <T extends FactType>(type: T): FactOf<T>[] =>
    run.facts.filter((fact): fact is FactOf<T> => fact.type === type);
  const receiptsOf = <T extends ReceiptType>(type: T, id: string): FactOf<T>[] =>
    of(type).filter((fact) => (fact as FactOf<ReceiptType>).id === id);

  describe(`directives on ${agent.name}`, () => {
    beforeAll(async () => {
      run = await played(agent, rows);
    }, RUN_LIMIT_MS);

    it.each(rows.map((row, at) => ({ ...row, id: `d${at + 1}` })))(
      "$what arrives once, and its receipt is true",
      ({ what, id, how, text, turn }) => {
        expect(receiptsOf("directive-received", id)).toHaveLength(1);
        const [delivered, ...again] = receiptsOf("directive-delivered", id);
        expect([delivered?.how, again]).toEqual([how, []]);
        const told = run.receipts.get(what);
        const acknowledged = receiptsOf("directive-acknowledged", id);
        if (text === undefined) {
          // `resume` is told by the command that also starts a driver, without a receipt of its own.
          if (told !== undefined) expect(told).toMatchObject({ receipt: "delivered", how });
          return expect(acknowledged).toEqual([]);
        }
        // Nothing was told before the model could know it.
        expect(told).toMatchObject({ receipt: "queued", how: null });
        expect(run.before.some((fact) => fact.type === "directive-delivered" && fact.id === id)).toBe(false);
        const [request, ...more] = run.requests.filter(({ lastUserText, toolResults }) =>
          [lastUserText, ...toolResults].some((words) => words.includes(text)),
        );
        expect(more).toEqual([]);
        expect(request?.prompt.includes(`Iteration ${turn} of`) || turn === 1).toBe(true);
        expect(Date.parse(request?.at ?? "")).toBeLessThanOrEqual(delivered?.at ?? 0);
        const last = run.place.sent().findLast((body) => body.includes("Iteration 3 of"));
        expect(last?.split(text).length).toBe(2);
        expect(acknowledged).toMatchObject([{ turn }]);
        expect(acknowledged[0]?.seq).toBeGreaterThan(delivered?.seq ?? Infinity);
      },
    );

    it("leaves the run as they say: model, limits, no turn while paused, an interrupted and a last turn", () => {
      const { requests, facts, ended, place } = run;
      const prompted = (n: number): LoggedRequest | undefined =>
        requests.find(({ prompt }) => prompt.includes(`Iteration ${n} of`));
      const models = requests.map(({ model }) => model);
      const second = requests.findIndex((request) => request === prompted(2));
      const switched = cannot(agent.gaps, "switch-model-now") ? second : 1;
      expect(switched).toBeGreaterThan(0);
      expect(new Set(models.slice(0, switched))).toEqual(new Set([modelOf(agent.models.first)]));
      expect(new Set(models.slice(switched))).toEqual(new Set([modelOf(agent.models.second)]));
      expect(prompted(2)?.prompt).toContain(`Iteration 2 of ${ITERATIONS}`);
      expect(run.turnsWhilePaused).toBe(1);
      const resumed = facts.find((one) => one.type === "directive-received" && one.directive.kind === "resume");
      expect(Date.parse(prompted(2)?.at ?? "")).toBeGreaterThanOrEqual(Math.floor(resumed?.at ?? Infinity));
      expect(of("turn-end").map(({ outcome }) => outcome)).toMatchObject([
        { is: "done" },
        { is: "interrupted", by: "directive:interrupt" },
        { is: "done" },
      ]);
      // The interrupted conversation was gone on with.
      expect(new Set(of("turn-start").map(({ session }) => session.ref)).size).toBe(1);
      expect(prompted(4)).toBeUndefined();
      expect(ended.code).toBe(1);
      expect(of("run-end")[0]?.outcome).toMatchObject({ is: "stopped", rule: "directive:stop-after" });
      expect(place.repository.git("show", "HEAD:work.txt")).toBe("wrong");
      // Nothing of what was given was spent unseen.
      const counted = of("turn-end").reduce((sum, { usage }) => sum + usage.outputTokens, 0);
      expect(counted).toBe(place.standin?.billing.outputTokens);
    });
  });
}
