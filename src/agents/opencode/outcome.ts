/** How an opencode turn ended, from the structured parts of what it and the model said. Pure; its test is the table of cases. */
import type { TurnOutcome } from "../../events.ts";
import { brief, outcomeOfRefusal } from "../outcome.ts";
import { objectAt, textAt, type Json } from "./json.ts";
import type { Said } from "../refusal.ts";
import { refusalOf } from "./refusal.ts";

export interface Signals {
  /** The last message of the model is whole, and there is an answer. */
  finished: boolean;
  /** opencode's named error of that message, or of the turn. */
  error: Json | undefined;
  /** What the model said no with, as the gateway saw it. */
  refusal: Said | undefined;
  /** Why the stream ended, when it did so without an end of the turn. */
  died: string | undefined;
}

const ABORTED = "MessageAbortedError";

/**
 * A server that aborts what nobody asked it to abort does so with every turn that follows: seen where its first request
 * was given up while it still started.
 */
export const isAborted = (error: Json | undefined): boolean => error?.["name"] === ABORTED;

export function outcomeOf({ finished, error, refusal, died }: Signals): TurnOutcome {
  if (error !== undefined) return outcomeOfError(error, refusal);
  if (finished) return { is: "done" };
  return { is: "cut", reason: brief(died ?? "the agent stopped without an answer") };
}

function outcomeOfError(error: Json, refusal: Said | undefined): TurnOutcome {
  const data = objectAt(error, "data");
  const text = textAt(data, "message") || textAt(error, "name") || "the turn failed";
  const message = brief(text);
  switch (error["name"]) {
    case "ProviderAuthError":
      return { is: "failed", kind: "login", message };
    case "ContextOverflowError":
      return { is: "failed", kind: "context", message };
    case "ContentFilterError":
      return { is: "failed", kind: "refused", message };
    case ABORTED:
      return { is: "cut", reason: message };
    case "APIError":
      return outcomeOfRefusal({ ...refusedBy(data, refusal), text });
    default:
      // It gives no more than words; what the gateway saw tells more.
      return refusal === undefined ? { is: "failed", kind: "agent", message } : outcomeOfRefusal({ ...refusal, text });
  }
}

function refusedBy(data: Json, seen: Said | undefined): Said {
  const status = data["statusCode"];
  const headers = objectAt(data, "responseHeaders");
  const told =
    typeof status === "number" ? refusalOf({ status, headers, body: textAt(data, "responseBody") }) : undefined;
  return told ?? seen ?? { kind: "connection", status: null, resetAt: undefined };
}

/**
 * While opencode waits to ask again by itself: what it waits for. `next`: when, wall clock ms. `seen`: somebody would have
 * seen a refusal; without one the model cannot be reached from there, which another server cures.
 */
export function outcomeOfRetry(
  refusal: Said | undefined,
  { next, message, seen }: { next: number; message: string; seen: boolean },
): TurnOutcome {
  if (refusal === undefined) {
    return seen
      ? { is: "cut", reason: brief(message) }
      : { is: "limited", kind: "overloaded", resetAt: next, message: brief(message) };
  }
  const resetAt = refusal.resetAt ?? (refusal.status === null ? undefined : next);
  return outcomeOfRefusal({ ...refusal, resetAt, text: message });
}
