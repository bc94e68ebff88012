/** A run of the built command line, watched from outside: its facts as they come, and tool calls held open by a gate. */
import { randomUUID } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openState } from "../../src/compose.ts";
import type { Fact, FactOf, FactType } from "../../src/events.ts";
import type { Step } from "../../src/standin/script.ts";
import { GATE, type CliPlace } from "./cli.ts";
import { waitFor } from "./temp.ts";

/** A machine that does much else starts a run slowly. */
const START_LIMIT_MS = 120_000;

export const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command, description: "work" } }] });
/** Longer than a call may take by itself. */
const GATE_LIMIT_MS = 600_000;

export interface Gate {
  /** A tool call that ends when the gate is open. */
  step: Step;
  open(place: CliPlace): void;
}

export function gate(): Gate {
  const file = `${GATE}${randomUUID()}`;
  const wait = `const fs=require('fs');const t=setInterval(()=>{if(fs.existsSync('${file}'))clearInterval(t)},20)`;
  const input = { command: `node -e "${wait}"`, description: "work", timeout: GATE_LIMIT_MS };
  return {
    step: { tools: [{ name: "Bash", input }] },
    open: ({ repository }) => writeFileSync(join(repository.path, file), ""),
  };
}

export interface Watched {
  run: string;
  facts(): Promise<Fact[]>;
  /** Waits for the first fact of a type that satisfies the test. */
  fact<T extends FactType>(type: T, is?: (fact: FactOf<T>) => boolean): Promise<FactOf<T>>;
  /** Waits until a tool call of this turn runs. */
  toolRuns(turn: number): Promise<void>;
}

/** The first run of this place, once it is there. */
export async function watchRun(place: CliPlace): Promise<Watched> {
  const state = await waitFor(() => existsSync(join(place.state, "journal.db")) && openState(place.env), {
    what: "a journal",
    limitMs: START_LIMIT_MS,
  });
  onTestFinished(() => state.close());
  const { run } = await waitFor(async () => (await state.journal.runs())[0], {
    what: "the run",
    limitMs: START_LIMIT_MS,
  });
  const facts = (): Promise<Fact[]> => state.journal.read(run);
  return {
    run,
    facts,
    fact: (type, is = () => true) =>
      waitFor(
        async () =>
          (await facts()).find(
            (fact): fact is FactOf<typeof type> => fact.type === type && is(fact as FactOf<typeof type>),
          ),
        { what: type, limitMs: START_LIMIT_MS },
      ),
    toolRuns: async (turn) => {
      await waitFor(
        async () => (await state.trace.read(run, { turn })).some(({ line }) => line.kind === "tool-start"),
        { what: `a tool call in turn ${turn}`, limitMs: START_LIMIT_MS },
      );
    },
  };
}
