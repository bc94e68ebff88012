/**
 * What pawl notes of a turn's requests as they pass the gateway, before Codex hears of them. Codex writes its own record
 * beside its work: it may have run the tool of an answer, and be killed, before what the answer cost is in there.
 */
import { join } from "node:path";
import { countAt, objectAt, parsed, textAt } from "../acp/json.ts";
import type { Tokens } from "../acp/meter.ts";
import { noteLine, notedLines } from "../notes.ts";
import type { Spent } from "./meter.ts";

/** Of one answer; `response`: the model's own name for it, as in Codex's record. */
export interface NotedAnswer {
  response: string;
  model: string;
  spent: Spent;
}

/** A model counts what the cache had apart from the rest, Codex with it. */
export const spentOf = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Tokens): Spent => ({
  input: inputTokens + cacheReadTokens + cacheWriteTokens,
  cached: cacheReadTokens,
  cacheWrite: cacheWriteTokens,
  output: outputTokens,
});

type Note = { turn: string } & ({ is: "left" } | { is: "unsent" } | ({ is: "answered" } & NotedAnswer));

export interface NotedTurn {
  /** That left; undefined: nothing was noted of this turn. */
  requests: number | undefined;
  answers: NotedAnswer[];
}

/** Directly in the home, whose parent the agent cannot write. */
const fileOf = (home: string): string => join(home, "codex-spent.jsonl");

export const note = (home: string, line: Note): void => noteLine(fileOf(home), line);

export function notedTurn(home: string, turn: string): NotedTurn {
  const answers = new Map<string, NotedAnswer>();
  let requests: number | undefined;
  for (const line of notedLines(fileOf(home))) {
    const noted = parsed(line) ?? {};
    if (noted["turn"] !== turn) continue;
    switch (noted["is"]) {
      case "left":
        requests = (requests ?? 0) + 1;
        break;
      case "unsent":
        requests = Math.max(0, (requests ?? 0) - 1);
        break;
      case "answered": {
        const spent = objectAt(noted, "spent");
        const response = textAt(noted, "response");
        // More may have been known of it later.
        answers.set(response, {
          response,
          model: textAt(noted, "model"),
          spent: {
            input: countAt(spent, "input"),
            cached: countAt(spent, "cached"),
            cacheWrite: countAt(spent, "cacheWrite"),
            output: countAt(spent, "output"),
          },
        });
      }
    }
  }
  return { requests, answers: [...answers.values()] };
}
