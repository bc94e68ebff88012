/** How a turn of a command ended, from what it printed, what its model said and its exit code. Pure; its test is the table. */
import type { TurnOutcome } from "../../events.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { brief, outcomeOfRefusal } from "../outcome.ts";
import { exitWords, type Exit } from "../piped.ts";
import type { Said } from "../refusal.ts";
import type { View } from "./view.ts";

export const OVER_LIMIT: TurnOutcome = {
  is: "failed",
  kind: "max-turns",
  message: "the agent reached its limit of model calls",
};

export interface Signals {
  exit: Exit;
  view: Pick<View, "error" | "ended">;
  /** What the model last said, if that was a no. */
  refusal: Said | undefined;
  /** The request beyond the agent's limit was held back. */
  overLimit: boolean;
  /** The last that the program said on its error output. */
  words: string;
}

export function outcomeOf(signals: Signals, entry: Pick<CommandEntry, "output" | "exit">): TurnOutcome {
  const { view, refusal, overLimit, words } = signals;
  const exit = plainExit(signals.exit);
  if (overLimit) return OVER_LIMIT;
  if (view.error !== undefined) return printed(view.error, { refusal, words });
  const meaning = exit.is === "code" ? entry.exit[String(exit.code)] : undefined;
  const isDone = exit.is === "code" && (meaning === undefined ? exit.code === 0 : meaning === "done");
  // Some programs print what their model said and end as if all were well.
  if (refusal !== undefined && !view.ended) return outcomeOfRefusal({ ...refusal, text: words || modelSaid(refusal) });
  if (view.ended) return { is: "done" };
  const why = exitWords(exit);
  const isCut = exit.is === "died" || (meaning === undefined || meaning === "done" ? needsEnd(entry) : false);
  if (isCut) return { is: "cut", reason: brief(`the agent ended without a result (${why})${words && `: ${words}`}`) };
  if (isDone) return { is: "done" };
  const text = words || why;
  switch (meaning) {
    case "max-turns":
      return { is: "failed", kind: "max-turns", message: brief(text) };
    case "cut":
      return { is: "cut", reason: brief(text) };
    case "agent":
    case "done":
    case undefined:
      return { is: "failed", kind: "agent", message: brief(text) };
    default:
      return outcomeOfRefusal({ kind: meaning, status: null, text });
  }
}

/** It says itself what went wrong; when that ends, and what kind it is, the model's own answer may know better. */
function printed(
  error: NonNullable<View["error"]>,
  { refusal, words }: { refusal: Said | undefined; words: string },
): TurnOutcome {
  const text = error.text || words || "the agent failed";
  const kind = error.kind ?? refusal?.kind;
  const status = error.status ?? refusal?.status;
  if (kind === undefined && status === undefined) return { is: "failed", kind: "agent", message: brief(text) };
  return outcomeOfRefusal({ kind, status: status ?? null, text, resetAt: error.resetAt ?? refusal?.resetAt });
}

/** Shells and fences tell a signal as an exit code above this. */
const SIGNAL_CODES = 128;

const plainExit = (exit: Exit): Exit =>
  exit.is === "code" && exit.code > SIGNAL_CODES ? { is: "died", why: exitWords(exit) } : exit;

const needsEnd = ({ output }: Pick<CommandEntry, "output">): boolean =>
  output.format === "jsonl" && output.rules.some(({ ends }) => ends === true);

export const modelSaid = ({ status }: Said): string =>
  status === null ? "the connection to the model failed" : `the model answered with status ${status}`;
