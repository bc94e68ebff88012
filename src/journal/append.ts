/**
 * The one way facts get onto the disk: masked, checked against the schema, chained to the head, written in the
 * transaction of the caller. The statement that moves the head is the last, so the head never names a missing fact.
 */
import { TerminalError } from "../errors.ts";
import type { Fact, NewFact } from "../events.ts";
import { fault } from "../platform/faults.ts";
import type { Redact } from "../ports.ts";
import { seal, type Link, type Sealed, type Stamp } from "./chain.ts";
import { SPAN } from "./schema.ts";
import type { Database } from "./sqlite.ts";

export interface Author {
  redact: Redact;
  /** Throws when the whole fact is not one this pawl may write. */
  validate: (fact: unknown) => unknown;
}

/** Facts ready to be written: what will be read back, and the texts. */
interface Prepared {
  facts: Fact[];
  sealed: Sealed[];
  head: Link;
}

export function prepare(facts: readonly NewFact[], options: Author & { after: Link; stamp: Stamp }): Prepared {
  const { redact, validate, after, stamp } = options;
  const prepared: Prepared = { facts: [], sealed: [], head: after };
  for (const fact of facts) {
    const sealed = seal(fact, { after: prepared.head, stamp, redact });
    const whole = JSON.parse(sealed.body) as Fact;
    try {
      validate(whole);
    } catch (cause) {
      throw new TerminalError(`run ${stamp.run}: refused to record an invalid fact (${fact.type})`, {
        hint: "nothing was written; this is a mistake in pawl, please report it",
        cause,
      });
    }
    prepared.facts.push(whole);
    prepared.sealed.push(sealed);
    prepared.head = { seq: sealed.seq, hash: sealed.hash };
  }
  return prepared;
}

/** Inside a write transaction; the caller then moves the head. */
export function insertFacts(
  database: Database,
  { number, sealed }: { number: number; sealed: readonly Sealed[] },
): void {
  fault("append");
  const insert = database.statement("INSERT INTO facts (id, body) VALUES (?, ?)");
  for (const { seq, body } of sealed) insert.run(number * SPAN + seq, body);
}
