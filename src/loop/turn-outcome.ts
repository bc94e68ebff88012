/** What the end of a turn means for the loop, and in words. Pure. */
import type { TurnOutcome } from "../events.ts";

/** Turn failures that never heal by trying again. */
const HOPELESS: ReadonlySet<string> = new Set(["login", "model", "billing", "refused"]);

export const neverHeals = (outcome: TurnOutcome | undefined): boolean =>
  outcome?.is === "failed" && HOPELESS.has(outcome.kind);

export const failedTurns = (inRow: number): string =>
  inRow === 1 ? "1 turn failed" : `${inRow} turns in a row failed`;

export function sayOutcome(outcome: TurnOutcome): string {
  switch (outcome.is) {
    case "failed":
    case "limited":
      return outcome.message;
    case "cut":
      return outcome.reason;
    case "timeout":
      return outcome.which === "idle" ? "no sign of life from the agent" : "the turn took too long";
    case "interrupted":
      return `interrupted by ${outcome.by}`;
    case "done":
      return "done";
  }
}
