/**
 * Steering from another terminal, during a live turn of the real Claude Code: what the receipt says, what the journal
 * holds, and what the model was sent. Turns are held open by a tool call that waits for a file, so nothing is timed.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openState, type State } from "../../src/compose.ts";
import type { Fact, FactOf, FactType } from "../../src/events.ts";
import type { LoggedRequest } from "../../src/standin/request-log.ts";
import { byIteration, CLAIM, cliPlace, GATE, type CliPlace, type RunningCli } from "../support/cli.ts";
import { waitFor } from "../support/temp.ts";

/** Ends when the test opens the gate: a file that git ignores, in the one place that both see. */
const heldBy = (gate: string): Record<string, unknown> =>
  bash(
    `node -e "const fs=require('fs');const t=setInterval(()=>{if(fs.existsSync('${GATE}${gate}'))clearInterval(t)},20)"`,
  );
const open = ({ repository }: CliPlace, gate: string): void =>
  writeFileSync(join(repository.path, `${GATE}${gate}`), "");
const write = (text: string): Record<string, unknown> =>
  bash(`node -e "require('fs').writeFileSync('work.txt','${text}')"`);

function bash(command: string): Record<string, unknown> {
  return { tools: [{ name: "Bash", input: { command, description: "work" } }] };
}

interface Live {
  place: CliPlace;
  running: RunningCli;
  run: string;
  facts(): Promise<Fact[]>;
  /** Waits for the first fact of a type that satisfies the test. */
  fact<T extends FactType>(type: T, is?: (fact: FactOf<T>) => boolean): Promise<FactOf<T>>;
  /** Waits until the model has been asked for this tool call and it runs. */
  toolRuns(turn: number): Promise<void>;
  /** Requests of the conversation in which these words are new to the model. */
  sent(words: string): LoggedRequest[];
}

async function live(script: Parameters<typeof byIteration>[0], ...flags: string[]): Promise<Live> {
  const place = await cliPlace({ script: byIteration(script) });
  const running = place.start(["run", "write work.txt", "--check", "grep -q right work.txt", "--json", ...flags]);
  const state = await waitFor(() => existsSync(join(place.state, "journal.db")) && openState(place.env), {
    what: "a journal",
  });
  onTestFinished(() => state.close());
  const { run } = await waitFor(async () => (await state.journal.runs())[0], { what: "the run" });
  return { place, running, run, ...watching(state, { run, place }) };
}

function watching(
  state: State,
  { run, place }: { run: string; place: CliPlace },
): Omit<Live, "place" | "running" | "run"> {
  const facts = (): Promise<Fact[]> => state.journal.read(run);
  return {
    facts,
    fact: (type, is = () => true) =>
      waitFor(
        async () =>
          (await facts()).find(
            (fact): fact is FactOf<typeof type> => fact.type === type && is(fact as FactOf<typeof type>),
          ),
        { what: type },
      ),
    toolRuns: async (turn) => {
      await waitFor(
        async () => (await state.trace.read(run, { turn })).some(({ line }) => line.kind === "tool-start"),
        {
          what: `a tool call in turn ${turn}`,
        },
      );
    },
    sent: (words) =>
      (place.standin?.requests ?? []).filter(
        ({ lastUserText, toolResults, toolsOffered }) =>
          toolsOffered > 0 && [lastUserText, ...toolResults].some((text) => text.includes(words)),
      ),
  };
}

const idsOf = (
  facts: readonly Fact[],
  type: "directive-received" | "directive-delivered" | "directive-acknowledged",
): string[] => facts.flatMap((fact) => (fact.type === type ? [fact.id] : []));

it("says words into a running tool call: delivered once, acknowledged, and the loop goes on (row 23)", async () => {
  const { place, running, facts, fact, toolRuns, sent } = await live({
    1: [heldBy("row23"), write("right"), { text: CLAIM }],
  });
  await toolRuns(1);
  const steer = place.start(["steer", "prefer the quokka approach", "--wait=120", "--json"]);
  await fact("directive-received");
  open(place, "row23");
  const told = await steer.done;
  expect(told.stderr).toContain("say now");
  expect(JSON.parse(told.stdout)).toMatchObject({ id: "d1", receipt: "acknowledged", how: "into the running turn 1" });
  expect(told.code).toBe(0);

  expect((await running.done).code).toBe(0);
  expect(sent("quokka")).toHaveLength(1);
  const all = await facts();
  for (const type of ["directive-received", "directive-delivered", "directive-acknowledged"] as const)
    expect(idsOf(all, type)).toEqual(["d1"]);
  expect(all.filter(({ type }) => type === "turn-start")).toHaveLength(1);
  expect(all.at(-1)).toMatchObject({ type: "run-end", outcome: { is: "verified" } });
});

it("takes words for the next prompt, another model and other limits during a live turn", async () => {
  const { place, running, facts, toolRuns, sent, fact } = await live(
    { 1: [heldBy("three"), { text: "not yet" }], 2: [write("right"), { text: CLAIM }] },
    "--max-iterations",
    "5",
    "--model",
    "claude-sonnet-5",
  );
  await toolRuns(1);
  const next = await place.pawl("steer", "--next", "mind the wombat");
  expect(next.stdout).toBe("d1 queued\n");
  const model = await place.pawl("model", "claude-opus-5-5", "--wait", "--json");
  expect(JSON.parse(model.stdout)).toMatchObject({
    receipt: "delivered",
    how: "switched to claude-opus-5-5 in the running turn",
  });
  const budget = await place.pawl("budget", "--max-iterations", "7", "--wait");
  expect(budget.stdout).toBe("d3 delivered (limits changed)\n");
  const status = JSON.parse((await place.pawl("status", "--json")).stdout) as Record<string, unknown>;
  expect(status).toMatchObject({
    phase: { is: "turn", turn: 1 },
    budget: { iterations: { used: 1, limit: 7 } },
    directives: [
      { id: "d1", receipt: "queued" },
      { id: "d2", receipt: "delivered" },
      { id: "d3", receipt: "delivered" },
    ],
  });
  open(place, "three");
  const delivered = await fact("directive-delivered", ({ id }) => id === "d1");
  expect(delivered).toMatchObject({ how: "in the prompt of turn 2", turn: 2 });
  expect((await running.done).code).toBe(0);

  const [first, ...more] = sent("wombat");
  expect(more).toEqual([]);
  expect(first?.prompt).toMatch(
    /^## Orchestrator directive \(priority\)\n\nmind the wombat\n\nIteration 2 of 7\n\n## Goal\n/m,
  );
  const models = (place.standin?.requests ?? [])
    .filter(({ toolsOffered }) => toolsOffered > 0)
    .map((request) => request.model);
  expect(models[0]).toBe("claude-sonnet-5");
  expect(new Set(models.slice(1))).toEqual(new Set(["claude-opus-5-5"]));
  expect(idsOf(await facts(), "directive-acknowledged")).toEqual(["d1"]);
});

it("pauses, resumes, interrupts and stops a live run", async () => {
  const { place, running, facts, fact, toolRuns } = await live({
    1: [heldBy("pause"), { text: "first" }],
    2: [heldBy("never"), { text: "second" }],
    3: [heldBy("stop"), write("wrong"), { text: "third" }],
    4: [{ text: "must not come" }],
  });
  await toolRuns(1);
  expect((await place.pawl("pause", "--wait")).stdout).toBe("d1 delivered (no new turn starts)\n");
  expect((await place.pawl("status")).stdout).toContain("pausing after it");
  open(place, "pause");
  await fact("decision-made", ({ iteration }) => iteration === 1);
  await waitFor(
    async () => (await place.pawl("status")).stdout.match(/^state +paused by cli; to go on: pawl resume r-/m) !== null,
    { what: "paused" },
  );
  expect((await facts()).filter(({ type }) => type === "turn-start")).toHaveLength(1);
  expect(running.stderr()).toContain("paused by cli; to go on: pawl resume r-");

  expect((await place.pawl("resume")).code).toBe(0);
  await toolRuns(2);
  const interrupt = await place.pawl("interrupt", "--wait");
  expect(interrupt.stdout).toBe("d3 delivered (turn 2 interrupted)\n");
  expect((await fact("turn-end", ({ turn }) => turn === 2)).outcome).toEqual({
    is: "interrupted",
    by: "directive:interrupt",
  });

  await toolRuns(3);
  expect((await place.pawl("stop", "--wait")).stdout).toBe("d4 delivered (stopping after this iteration)\n");
  expect((await place.pawl("status")).stdout).toContain("stopping after it");
  open(place, "stop");
  const ended = await running.done;
  expect(ended.code).toBe(1);
  expect(ended.of("run-end")[0]?.outcome).toMatchObject({ is: "stopped", rule: "directive:stop-after" });
  // The iteration was finished: its change is judged and handed over.
  expect(ended.of("check-end").at(-1)).toMatchObject({ iteration: 3, verdict: { is: "fail" } });
  expect(place.repository.git("show", "HEAD:work.txt")).toBe("wrong");

  const all = await facts();
  const resumed = all.find((one) => one.type === "directive-received" && one.directive.kind === "resume");
  const second = all.find((one) => one.type === "turn-start" && one.turn === 2);
  expect(second?.seq).toBeGreaterThan(resumed?.seq ?? Number.POSITIVE_INFINITY);
  // What the model was sent: nothing while paused, word of the interruption, nothing after the stop.
  const requests = (place.standin?.requests ?? []).filter(({ toolsOffered }) => toolsOffered > 0);
  const first = (n: number): LoggedRequest | undefined =>
    requests.find(({ prompt }) => prompt.includes(`Iteration ${n} of`));
  expect(Date.parse(first(2)?.at ?? "")).toBeGreaterThanOrEqual(Math.floor(resumed?.at ?? Number.POSITIVE_INFINITY));
  expect(first(3)?.lastUserText).toContain("[Request interrupted by user");
  expect(first(4)).toBeUndefined();

  const late = await place.pawl("steer", "too late");
  expect(late.code).toBe(2);
  expect(late.stderr).toContain("has ended: stopped");
  expect(late.stderr).toContain("pawl resume");
});

it("stops a live run at once and keeps the work of the turn it cut", async () => {
  const { place, running, fact, toolRuns } = await live({ 1: [write("half"), heldBy("never"), { text: "no" }] });
  await toolRuns(1);
  const file = join(place.repository.path, "work.txt");
  await waitFor(() => existsSync(file) && readFileSync(file, "utf8") === "half", { what: "the agent's file" });
  expect((await place.pawl("stop", "--now", "--wait")).stdout).toBe("d1 delivered (stopping now)\n");
  expect((await fact("turn-end")).outcome).toEqual({ is: "interrupted", by: "directive:stop" });
  const ended = await running.done;
  expect(ended.code).toBe(1);
  expect(ended.of("run-end")[0]?.outcome.rule).toBe("directive:stop-now");
  expect(place.repository.git("show", "HEAD:work.txt")).toBe("half");
});
