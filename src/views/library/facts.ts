/** The facts of a run as an async iterable: from the first one on, until a driver is done with it or nobody listens. */
import { openState, type Environment } from "../../compose.ts";
import type { Fact } from "../../events.ts";

interface Following {
  run: string;
  env: Environment;
  /** Once the driving is over: the last fact there will be. */
  lastSeq: Promise<number>;
  outcome: Promise<unknown>;
  signal: AbortSignal | undefined;
}

/** A reader of its own, so that it outlives the driver's hold on the journal. */
export async function* factsUntil({ run, env, lastSeq, outcome, signal }: Following): AsyncGenerator<Fact, void, void> {
  const state = openState(env);
  const done = new AbortController();
  let seen = -1;
  let last = Number.POSITIVE_INFINITY;
  const over = lastSeq.then((seq) => {
    last = seq;
    if (seen >= last) done.abort();
  });
  try {
    for await (const fact of state.journal.follow(run, { from: 0, signal: done.signal })) {
      seen = fact.seq;
      yield fact;
      if (seen >= last) break;
    }
  } finally {
    done.abort();
    state.close();
  }
  await over;
  // Who aborted it knows; what broke must not pass in silence.
  if (signal?.aborted !== true) await outcome;
}
