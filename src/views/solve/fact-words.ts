/** Facts of a run that solves, in one line each. */
import type { FactOf } from "../../events.ts";
import { oneLine } from "../plain.ts";
import { counted } from "../cli/format.ts";

const MAX_CHARS = 160;
const MS_PER_SECOND = 1_000;
const short = (text: string): string => oneLine(text, { max: MAX_CHARS });

export function proposalWords(fact: FactOf<"proposal-made">): string {
  const note = fact.note.trim() === "" ? "" : `: ${short(fact.note)}`;
  switch (fact.do) {
    case "plan":
      return `attempt ${fact.turn} proposes a plan${note}`;
    case "run":
      return `attempt ${fact.turn} proposes ${fact.language ?? "code"}, ${counted(fact.code?.bytes ?? 0, "byte")}${note}`;
    case "answer":
      return `attempt ${fact.turn} answers ${short(fact.answer?.text ?? "")}`;
    case "nothing":
      return `attempt ${fact.turn} proposes nothing that can be used: ${short(fact.problem ?? "")}`;
  }
}

export function executionWords({ turn, kind, durationMs, stdout, message, by }: FactOf<"execution-recorded">): string {
  const took = `${(durationMs / MS_PER_SECOND).toFixed(1)} s`;
  const said = kind === "ok" ? (stdout.text.trim() === "" ? "nothing" : short(stdout.text)) : short(message);
  return `attempt ${turn} ran (${by}) ${kind === "ok" ? `well in ${took}, printed` : `and failed in ${took}:`} ${said}`;
}
