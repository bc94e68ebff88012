/** The SQLite journal as a driver opens it, for the contract suite and the programs it starts. */
import { factSchema } from "../../src/events.ts";
import { openJournal, type JournalHandle, type JournalOptions } from "../../src/journal/open.ts";
import { makeRedact } from "../../src/journal/redact.ts";
import { isRunning, KNOWN_TYPES } from "./journal-samples.ts";

export function open(dir: string, overrides: Partial<JournalOptions> = {}): JournalHandle {
  return openJournal({
    dir,
    redact: makeRedact({ environment: {} }),
    validator: async () => (fact) => factSchema.parse(fact),
    knownTypes: KNOWN_TYPES,
    isAlive: isRunning,
    ...overrides,
  });
}
