/**
 * What a provider's refusal means for a turn. Only structured facts count (HTTP status, error kind, reset time);
 * the words of an agent or a tool are never read, so output that talks about limits cannot look like one.
 */
import type { TurnOutcome } from "../events.ts";

/** The provider's own name for what went wrong, as far as it gave one. */
export type RefusalKind =
  | "authentication"
  | "billing"
  | "rate"
  | "usage"
  | "overloaded"
  | "model"
  | "context"
  | "invalid"
  | "refused"
  | "server"
  | "connection";

export interface Refusal {
  kind: RefusalKind | undefined;
  /** null: the connection failed before there was one. */
  status: number | null;
  /** What the provider or its client said, for people. */
  text: string;
  /** Wall clock, ms since 1970. */
  resetAt?: number | undefined;
}

const MAX_MESSAGE_CHARS = 500;

export function brief(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length <= MAX_MESSAGE_CHARS ? line : `${line.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}

function kindOfStatus(status: number | null): RefusalKind | undefined {
  if (status === null) return "connection";
  if (status === 401 || status === 403) return "authentication";
  if (status === 402) return "billing";
  if (status === 404) return "model";
  if (status === 413) return "context";
  if (status === 429) return "rate";
  if (status === 529 || status === 503) return "overloaded";
  if (status >= 500) return "server";
  if (status >= 400) return "invalid";
  return undefined;
}

/** Limits are waits, broken connections can be gone on with, the rest needs a person or another prompt. */
export function outcomeOfRefusal(refusal: Refusal): TurnOutcome {
  const message = brief(refusal.text);
  const byStatus = kindOfStatus(refusal.status);
  // "Server error" is what some clients call an overload too; the status tells them apart.
  const kind = refusal.kind === undefined || byStatus === "overloaded" ? byStatus : refusal.kind;
  const resetAt = refusal.resetAt === undefined ? {} : { resetAt: refusal.resetAt };
  switch (kind) {
    case "rate":
    case "usage":
    case "overloaded":
      return { is: "limited", kind, ...resetAt, message };
    case "authentication":
      return { is: "failed", kind: "login", message };
    case "billing":
    case "model":
    case "context":
    case "refused":
      return { is: "failed", kind, message };
    case "invalid":
    case undefined:
      return { is: "failed", kind: "agent", message };
    case "server":
    case "connection":
      return { is: "cut", reason: message };
  }
}
