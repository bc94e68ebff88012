/** Looking at a run that another process drives, through its journal. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openState, type State } from "../../src/compose.ts";
import type { Fact, FactOf, FactType } from "../../src/events.ts";
import { atFileEnd } from "./file-end.ts";
import { waitFor } from "./temp.ts";

/** A busy machine takes its time to start a driver and an agent. */
const LIMIT_MS = 150_000;
/** Of each kind, when something never comes. */
const SHOWN_FACTS = 12;
const SHOWN_CHARS = 400;

const opened: State[] = [];
atFileEnd(() => {
  for (const state of opened.splice(0)) state.close();
});

export interface LiveRun {
  readonly run: string;
  facts(): Promise<Fact[]>;
  of<T extends FactType>(type: T): Promise<FactOf<T>[]>;
  /** Waits until there are `n` facts of this type; returns the last of them. */
  nth<T extends FactType>(type: T, n?: number): Promise<FactOf<T>>;
  /** Waits until a tool of this turn runs. */
  toolRuns(turn: number): Promise<void>;
  /** Waits until a tool is called with this word. */
  calls(word: string): Promise<void>;
}

/** `state`: PAWL_HOME of the driver. */
export async function liveRun({
  state: dir,
  env,
}: {
  state: string;
  env: Readonly<Record<string, string>>;
}): Promise<LiveRun> {
  const state = await waitFor(() => existsSync(join(dir, "journal.db")) && openState(env), {
    what: "a journal",
    limitMs: LIMIT_MS,
  });
  opened.push(state);
  const { run } = await waitFor(async () => (await state.journal.runs())[0], { what: "the run", limitMs: LIMIT_MS });
  const facts = (): Promise<Fact[]> => state.journal.read(run);
  const of = async <T extends FactType>(type: T): Promise<FactOf<T>[]> =>
    (await facts()).filter((fact): fact is FactOf<T> => fact.type === type);
  const seen = async (): Promise<string> => {
    const told = (await facts()).slice(-SHOWN_FACTS).map((fact) => JSON.stringify(fact).slice(0, SHOWN_CHARS));
    const traced = (await state.trace.read(run)).slice(-SHOWN_FACTS);
    return `; its last facts:\n${told.join("\n")}\nand of its trace:\n${traced.map(({ line }) => JSON.stringify(line).slice(0, SHOWN_CHARS)).join("\n")}`;
  };
  const wait = <T>(predicate: () => Promise<T>, what: string): Promise<Exclude<T, false | undefined>> =>
    waitFor(predicate, { what, limitMs: LIMIT_MS, seen });
  return {
    run,
    facts,
    of,
    nth: (type, n = 1) => wait(async () => (await of(type))[n - 1], `${n} × ${type}`),
    async toolRuns(turn) {
      const runs = async (): Promise<boolean> =>
        (await state.trace.read(run, { turn })).some(({ line }) => line.kind === "tool-start");
      await wait(runs, `a tool call in turn ${turn}`);
    },
    async calls(word) {
      const called = async (): Promise<boolean> =>
        (await state.trace.read(run)).some(
          ({ line: { kind, data } }) => kind === "tool-start" && JSON.stringify(data).includes(word),
        );
      await wait(called, `a tool call with ${word}`);
    },
  };
}
