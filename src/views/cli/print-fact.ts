/** Facts for programs. */
import type { Fact } from "../../events.ts";

/** The journal's own schema, one fact a line. */
export function printFact(fact: Fact): void {
  process.stdout.write(`${JSON.stringify(fact)}\n`);
}
