/** What every reading and steering command begins with: the state directory, the run that is meant, its facts folded. */
import { openState, type State } from "../../compose.ts";
import { UsageError } from "../../errors.ts";
import type { Fact } from "../../events.ts";
import { fold } from "../../loop/fold.ts";
import type { RunState } from "../../loop/state.ts";
import type { RunRow } from "../../ports.ts";
import { looksLikeRun, resolveRun } from "./run-id.ts";

export interface Opened {
  state: State;
  row: RunRow;
}

export async function withState<T>(work: (state: State) => Promise<T>): Promise<T> {
  const state = openState(process.env);
  try {
    return await work(state);
  } finally {
    state.close();
  }
}

/** `asked` undefined: the newest run of this repository. */
export function withRun<T>(asked: string | undefined, work: (opened: Opened) => Promise<T>): Promise<T> {
  return withState(async (state) =>
    work({ state, row: await resolveRun(state.journal, { asked, cwd: process.cwd() }) }),
  );
}

export interface Read extends Opened {
  facts: Fact[];
  folded: RunState;
}

export async function readRun({ state, row }: Opened): Promise<Read> {
  const facts = await state.journal.read(row.run);
  return { state, row, facts, folded: fold(facts) };
}

/**
 * `[RUN] WHAT`: with two words the first is the run; a single one is WHAT, unless it begins with `r-`: then it is a run
 * and WHAT is missing (undefined).
 */
export function runAndWhat(words: readonly string[]): { asked: string | undefined; what: string | undefined } {
  const [first, second, ...more] = words;
  if (more.length > 0) {
    throw new UsageError(`too many words: ${JSON.stringify(words.slice(1).join(" "))}`, {
      hint: "put a text of several words in quotes",
    });
  }
  if (second !== undefined) return { asked: first, what: second };
  if (first !== undefined && looksLikeRun(first)) return { asked: first, what: undefined };
  return { asked: undefined, what: first };
}

/** A whole number from the command line. */
export function wholeNumber(name: string): (text: string) => number {
  return (text) => {
    if (/^\d{1,9}$/.test(text)) return Number(text);
    throw new UsageError(`${name} takes a whole number, not ${JSON.stringify(text)}`);
  };
}
