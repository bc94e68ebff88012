/**
 * The one way facts get onto the disk: masked, checked against the schema, chained to the head, written in the
 * transaction of the caller. The statement that moves the head is the last, so the head never names a missing fact.
 */
import { TerminalError } from "../errors.ts";
import type { Fact, NewFact } from "../events.ts";
import { fault } from "../platform/faults.ts";
import type { Redact } from "../ports.ts";
import { seal, type Sealed, type Stamp, type Tip } from "./chain.ts";
import { SPAN } from "./schema.ts";
import type { Database } from "./sqlite.ts";

export interface Author {
  redact: Redact;
  /** Throws when the whole fact is not one this pawl may write. */
  validate: Validate;
}

export type Validate = (fact: unknown) => unknown;

/** Facts ready to be written: what will be read back, and the texts. */
interface Prepared {
  facts: Fact[];
  sealed: Sealed[];
  head: Tip;
}

export function prepare(facts: readonly NewFact[], options: Author & { after: Tip; stamp: Stamp }): Prepared {
  const { redact, validate, after, stamp } = options;
  const prepared: Prepared = { facts: [], sealed: [], head: after };
  for (const fact of facts) {
    const { fact: whole, body, tip } = seal(fact, { after: prepared.head, stamp, redact });
    try {
      validate(whole);
    } catch (cause) {
      throw new TerminalError(`run ${stamp.run}: refused to record an invalid fact (${fact.type})`, {
        hint: "nothing was written; this is a mistake in pawl, please report it",
        cause,
      });
    }
    prepared.facts.push(whole);
    prepared.sealed.push({ seq: tip.seq, hash: tip.hash, body });
    prepared.head = tip;
  }
  return prepared;
}

/** Inside a write transaction; the caller then moves the head. */
export function insertFacts(
  database: Database,
  { number, sealed }: { number: number; sealed: readonly Sealed[] },
): void {
  fault("append");
  const insert = database.statement("INSERT INTO facts (id, hash, body) VALUES (?, ?, ?)");
  for (const { seq, body, hash } of sealed) insert.run(number * SPAN + seq, Buffer.from(hash, "hex"), body);
}
