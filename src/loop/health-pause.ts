/** What the notes say when a run waits for a person because its turns fail. Pure. */
import type { FactOf } from "../events.ts";
import { sayOutcome } from "./turn-outcome.ts";

const MAX_ERROR_CHARS = 1_000;
const MAX_LAST_WORDS_CHARS = 2_000;

type TurnEnd = Pick<FactOf<"turn-end">, "turn" | "outcome" | "at" | "durationMs" | "text">;

/** Tells this pause from others, so that it is written once. */
export const pauseHeading = ({ turn }: Pick<TurnEnd, "turn">): string => `## Health pause after turn ${turn}`;

/** `ends`: the last turns, oldest first. */
export function healthPause(ends: readonly TurnEnd[]): string {
  const last = ends.at(-1);
  if (last === undefined) return "";
  const failed = ends.slice(ends.findLastIndex(({ outcome }) => outcome.is === "done") + 1);
  const lines = failed.map(
    ({ turn, outcome, at, durationMs }) =>
      `- turn ${turn} (${new Date(at).toISOString()}, ${Math.round(durationMs / 1_000)} s) ${outcome.is}: ${indent(sayOutcome(outcome), MAX_ERROR_CHARS)}`,
  );
  const words = last.text.trim() === "" ? [] : ["", "Last words of the agent:", "", quote(last.text)];
  return [
    pauseHeading(last),
    "",
    "pawl waits for a person: these turns failed, one after the other.",
    "",
    ...lines,
    ...words,
    "",
  ].join("\n");
}

const indent = (text: string, max: number): string => text.slice(0, max).trim().replaceAll("\n", "\n  ");
const quote = (text: string): string => text.slice(-MAX_LAST_WORDS_CHARS).trim().replaceAll(/^/gm, "    ");
