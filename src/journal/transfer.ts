/**
 * A run as JSON Lines, one fact a line: its run, the hash of the one before, and the whole of it. Lines have a chain of
 * their own, which is the run's where its facts were recorded whole. To keep journals of each released version, and to
 * move them.
 */
import { UsageError } from "../errors.ts";
import type { Fact, FactOf } from "../events.ts";
import type { Redact } from "../ports.ts";
import { insertFacts } from "./append.ts";
import { extend, opened, ORIGIN, type Sealed, type Stand } from "./chain.ts";
import { readFacts, rowsOf } from "./read.ts";
import { insertRun, needDatabase, needRun } from "./runs.ts";
import type { Told } from "./shorten.ts";
import type { Store } from "./sqlite.ts";

export function exportRun(store: Store, run: string): string {
  const database = needDatabase(store, run);
  return database.read(() => {
    const record = needRun(database, run);
    const facts: Fact[] = [];
    readFacts(database, { record, cursor: { next: 0, tip: ORIGIN }, each: (fact) => facts.push(fact) });
    let stand: Stand = ORIGIN;
    const lines = rowsOf(database, { record, from: 0, to: record.head.seq }).map(({ body }, n) => {
      const whole = wholeText(String(body), facts[n]);
      const line = `${JSON.stringify({ run, prev: stand.hash }).slice(0, -1)},${whole.slice(1)}\n`;
      stand = extend(stand, { bodies: whole, count: 1 });
      return line;
    });
    return lines.join("");
  });
}

/** As it was recorded where that was whole. */
function wholeText(body: string, fact: Fact | undefined): string {
  if ((JSON.parse(body) as Told).v !== undefined || fact === undefined) return body;
  const { run: _run, ...whole } = fact;
  return JSON.stringify(whole);
}

const LINE = /^\{"run":("(?:[^"\\]|\\.)*"),"prev":"([0-9a-f]*)",(.*)$/;

/** Takes it in as it is, after checking the chain; returns the run's id. UsageError when the id is taken. */
export function importRun(store: Store, { jsonl, redact }: { jsonl: string; redact: Redact }): string {
  const lines = jsonl.split("\n").filter((line) => line !== "");
  const first = firstOf(lines[0]);
  const { run } = first;
  const sealed: Sealed[] = [];
  let epoch = 0;
  let tip: Stand = ORIGIN;
  for (const line of lines) {
    const [, ofRun = "", prev, rest = ""] = LINE.exec(line) ?? [];
    const body = `{${rest}`;
    const [fact] = opened(body, { run, tip: { ...tip, facts: [] }, count: 1 }) ?? [];
    if (fact === undefined || prev !== tip.hash || ofRun !== JSON.stringify(run))
      throw doesNotFollow(sealed.length + 1);
    epoch = Math.max(epoch, fact.epoch);
    tip = extend(tip, { bodies: body, count: 1 });
    sealed.push({ seq: tip.seq, hash: tip.hash, body });
  }
  const { workspace, goal } = first.spec;
  const about = {
    run,
    createdAt: Math.round(first.at),
    repository: workspace.repository,
    goal: redact(goal),
  };
  const database = store.always();
  database.write(() => {
    const { number } = insertRun(database, { ...about, head: tip, epoch, owner: undefined, queued: 0, taken: 0 });
    insertFacts(database, { number, sealed });
  });
  return run;
}

function doesNotFollow(line: number): UsageError {
  return new UsageError(`line ${line} does not follow the one before it`, { hint: "the file was changed" });
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
