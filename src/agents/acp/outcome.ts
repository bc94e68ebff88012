/** How a turn of an ACP agent ended, from the structured parts of what it and its model said. Pure. */
import type { TurnOutcome } from "../../events.ts";
import { brief, outcomeOfRefusal, type RefusalKind } from "../outcome.ts";
import { isObject, objectAt, textAt, type Json } from "./json.ts";
import type { Said } from "../refusal.ts";
import { lookUp } from "../../platform/look-up.ts";

/** How the request that started the turn was answered. */
export type Answered =
  | { is: "stopped"; reason: string }
  | { is: "error"; code: number; message: string; data: unknown }
  /** The program ended before it was. */
  | { is: "died"; why: string };

export interface Signals {
  answered: Answered;
  /** What the model said no with last, where pawl saw it and no answer came after it. */
  refusal: Said | undefined;
  /** It met the end of the context in this turn, as its own compaction shows. */
  overflowed?: boolean;
}

const AUTH_REQUIRED = -32_000;
const CANCELLED = -32_800;
/** The protocol's own words for a request that was wrong; a later try is wrong as well. */
const WRONG_REQUESTS = new Set([-32_700, -32_600, -32_601, -32_602]);
/** What Claude Code calls it, as a tool of its own. */
const COMPACTION = "compact";
const HTTP_STATUS = { first: 400, last: 599 };

/** `data.errorKind`, by which agents tell clients what went wrong. */
const KINDS: Readonly<Record<string, RefusalKind>> = {
  authentication_failed: "authentication",
  oauth_org_not_allowed: "authentication",
  billing_error: "billing",
  rate_limit: "rate",
  overloaded: "overloaded",
  model_not_found: "model",
  server_error: "server",
};

export function outcomeOf({ answered, refusal: said, overflowed = false }: Signals): TurnOutcome {
  const refusal = overflowed && said !== undefined && isUnnamed(said) ? { ...said, kind: "context" as const } : said;
  switch (answered.is) {
    case "stopped":
      // Some agents tell of a refusal in words of their own and call it the end of the turn.
      if (refusal !== undefined) return refused(refusal, wordsFor(refusal));
      return stopped(answered.reason);
    case "error":
      return failure(answered, refusal);
    case "died":
      return { is: "cut", reason: brief(answered.why) };
  }
}

function stopped(reason: string): TurnOutcome {
  switch (reason) {
    case "end_turn":
      return { is: "done" };
    case "cancelled":
      return { is: "cut", reason: "the agent cancelled the turn" };
    case "max_turn_requests":
      return { is: "failed", kind: "max-turns", message: "the agent reached its own limit of model requests" };
    case "max_tokens":
      return { is: "failed", kind: "agent", message: "the answer reached the model's limit of tokens" };
    case "refusal":
      return { is: "failed", kind: "refused", message: "the model refuses to go on" };
    default:
      return { is: "failed", kind: "agent", message: brief(`the turn ended with ${reason || "no reason"}`) };
  }
}

/** Anthropic's word for a context that is full is its word for every wrong request. */
const WRONG_STATUS = 400;
const isUnnamed = ({ kind, status }: Said): boolean => kind === undefined && status === WRONG_STATUS;

/** Whether an update of the agent's, after what the model said no with, shows that the context was full: it is compacted. */
export function showsOverflow(update: Json, said: Said | undefined): boolean {
  if (said === undefined || !(said.kind === "context" || isUnnamed(said))) return false;
  return textAt(objectAt(objectAt(update, "_meta"), "claudeCode"), "toolName") === COMPACTION;
}

export const wordsFor = ({ status }: Said): string =>
  status === null ? "the connection to the model broke" : `the model says no (${status})`;

const refused = ({ kind, status, resetAt }: Said, text: string): TurnOutcome =>
  outcomeOfRefusal({ kind, status, text, resetAt });

function failure({ code, message, data }: Extract<Answered, { is: "error" }>, refusal: Said | undefined): TurnOutcome {
  const about: Json = isObject(data) ? data : {};
  const text = brief(textAt(about, "message") || textAt(about, "details") || message);
  if (refusal !== undefined) return refused(refusal, text);
  if (code === AUTH_REQUIRED) return { is: "failed", kind: "login", message: text };
  if (code === CANCELLED) return { is: "cut", reason: text };
  const kind = lookUp(KINDS, textAt(about, "errorKind"));
  if (kind !== undefined) return outcomeOfRefusal({ kind, status: null, text });
  if (code >= HTTP_STATUS.first && code <= HTTP_STATUS.last)
    return outcomeOfRefusal({ kind: undefined, status: code, text });
  if (WRONG_REQUESTS.has(code)) return { is: "failed", kind: "agent", message: text };
  // Something broke inside the agent: what was done stands and can be gone on with.
  return { is: "cut", reason: text };
}
