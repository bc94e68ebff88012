/** How a Codex turn ended, from the structured parts of what it and the model said. Pure; its test is the table of cases. */
import type { TurnOutcome } from "../../events.ts";
import { brief, outcomeOfRefusal, type RefusalKind } from "../outcome.ts";
import { isObject, type TurnError } from "./protocol.ts";
import type { Said } from "../refusal.ts";
import { lookUp } from "../../platform/look-up.ts";

export interface Signals {
  /** Of the turn, as its last message says; undefined: there was none. */
  status: string | undefined;
  error: TurnError | undefined;
  /** What the model said no with. */
  refusal: Said | undefined;
  /** Why the stream ended, when it did so without an end of the turn. */
  died: string | undefined;
}

const KINDS: Readonly<Record<string, RefusalKind>> = {
  contextWindowExceeded: "context",
  usageLimitExceeded: "usage",
  rateLimitExceeded: "rate",
  flexUnavailable: "overloaded",
  serverOverloaded: "overloaded",
  policyCapacityUnavailable: "overloaded",
  modelNotFound: "model",
  cyberPolicy: "refused",
  misalignmentPolicyViolation: "refused",
  unauthorized: "authentication",
  internalServerError: "server",
};

export function outcomeOf({ status, error, refusal, died }: Signals): TurnOutcome {
  switch (status) {
    case "completed":
      return { is: "done" };
    case "failed":
      return failure(error ?? { message: "the turn failed", codexErrorInfo: null }, refusal);
    case "interrupted":
      return { is: "cut", reason: "the turn was interrupted" };
    default:
      return { is: "cut", reason: brief(died ?? "the agent stopped without an answer") };
  }
}

function failure({ message, codexErrorInfo: info }: TurnError, refusal: Said | undefined): TurnOutcome {
  const word = typeof info === "string" ? lookUp(KINDS, info) : undefined;
  const { status } = refusal ?? { status: statusIn(info) };
  const { resetAt } = refusal ?? {};
  // The model's own name for it says most; Codex has one word for what it does not know.
  const kind = refusal?.kind ?? word;
  if (kind === undefined && status === undefined) return { is: "failed", kind: "agent", message: brief(message) };
  return outcomeOfRefusal({ kind, status: status ?? null, text: message, resetAt });
}

/** undefined: it says nothing of the connection; null: there was none. */
export function statusIn(info: TurnError["codexErrorInfo"]): number | null | undefined {
  if (!isObject(info)) return undefined;
  const [detail] = Object.values(info);
  if (!isObject(detail) || !("httpStatusCode" in detail)) return undefined;
  const status = detail["httpStatusCode"];
  return typeof status === "number" ? status : null;
}
