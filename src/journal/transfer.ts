/** A run as JSON Lines, one body a line, byte for byte: to keep journals of each released version, and to move them. */
import { UsageError } from "../errors.ts";
import type { Fact, FactOf } from "../events.ts";
import type { Redact } from "../ports.ts";
import { insertFacts } from "./append.ts";
import { chainReader, hashOf, type Sealed } from "./chain.ts";
import { bodiesOf, readFacts } from "./read.ts";
import { insertRun, needDatabase, needRun } from "./runs.ts";
import type { Store } from "./sqlite.ts";

export function exportRun(store: Store, run: string): string {
  const database = needDatabase(store, run);
  return database.read(() => {
    const record = needRun(database, run);
    readFacts(database, { record, cursor: { next: 0, prev: undefined }, each: () => undefined });
    const bodies = bodiesOf(database, { record, from: 0, to: record.head.seq });
    return bodies.map(([body]) => `${String(body)}\n`).join("");
  });
}

/** Takes it in as it is, after checking the chain; returns the run's id. UsageError when the id is taken. */
export function importRun(store: Store, { jsonl, redact }: { jsonl: string; redact: Redact }): string {
  const bodies = jsonl.split("\n").filter((line) => line !== "");
  const first = firstOf(bodies[0]);
  let epoch = 0;
  const chain = chainReader({ run: first.run, from: 0, prev: "" }, (fact) => {
    epoch = Math.max(epoch, fact.epoch);
  });
  const wrong = bodies.findIndex((body) => !chain.take(body));
  if (wrong >= 0)
    throw new UsageError(`line ${wrong + 1} does not follow the one before it`, { hint: "the file was changed" });
  const sealed = bodies.map((body, seq): Sealed => ({ seq, body, hash: hashOf(body) }));
  const head = { seq: sealed.length - 1, hash: sealed.at(-1)?.hash ?? "" };
  const { workspace, goal } = first.spec;
  const about = {
    run: first.run,
    createdAt: Math.round(first.at),
    repository: workspace.repository,
    goal: redact(goal),
  };
  const database = store.always();
  database.write(() => {
    const { number } = insertRun(database, { ...about, head, epoch, owner: undefined, queued: 0, taken: 0 });
    insertFacts(database, { number, sealed });
  });
  return first.run;
}

function firstOf(line: string | undefined): FactOf<"run-start"> {
  try {
    const fact = JSON.parse(line ?? "") as Fact;
    if (fact.type === "run-start") return fact;
  } catch {
    // Told below, with the other ways of not being a journal.
  }
  throw new UsageError("this is not an exported run", {
    hint: "a file of `run-start` and what follows it, one fact a line",
  });
}
