/** How a Claude Code turn ended, from the structured parts of its stream. Pure; the table of cases is its test. */
import type { SDKAssistantMessageError } from "@anthropic-ai/claude-agent-sdk";
import type { TurnOutcome } from "../../events.ts";
import { brief, outcomeOfRefusal } from "../outcome.ts";
import type { RefusalKind } from "../outcome.ts";
import { lookUp } from "../../platform/look-up.ts";

/** What is read of a result message, whatever its subtype. */
export interface ResultSignal {
  subtype: string;
  is_error: boolean;
  api_error_status?: number | null | undefined;
  terminal_reason?: string | undefined;
  startup_failure_reason?: string | undefined;
  stop_reason?: string | null | undefined;
  /** With `is_error` the client's words about an API error, else the agent's. */
  result?: string | undefined;
  errors?: readonly string[] | undefined;
}

export interface Signals {
  result: ResultSignal | undefined;
  /** Kind of the API error that the last message stands for. */
  error: SDKAssistantMessageError | undefined;
  /** The subscription said no; `resetAt` in ms since 1970. */
  rejected: { resetAt: number | undefined } | undefined;
  /** Why the stream ended, when it did so without an end of the turn. */
  died: string | undefined;
}

/** How Claude Code's own words for a used-up plan begin; the Agent SDK exports the same list, and a test compares them. */
export const USAGE_LIMITS: readonly string[] = [
  "You've hit your",
  "You've reached your",
  "You're out of usage credits",
  "Your org is out of usage · add funds to continue",
  "Your org is out of usage · contact your admin",
  "Your seat type doesn't include usage credits",
  "Your seat type doesn't include usage",
  "Your usage allocation has been disabled by your admin",
  "Your group's usage limit is set to $0",
  "Fable 5 requires usage credits",
  "You're out of extra usage",
  "Your seat type doesn't include extra usage",
];

/** `unknown` says nothing beyond the status; a truncated answer is the agent's failure. */
const KINDS: Readonly<Record<SDKAssistantMessageError, RefusalKind | undefined>> = {
  authentication_failed: "authentication",
  oauth_org_not_allowed: "authentication",
  account_on_hold: "authentication",
  verification_required: "authentication",
  cloud_credential_error: "authentication",
  billing_error: "billing",
  rate_limit: "rate",
  overloaded: "overloaded",
  invalid_request: undefined,
  model_not_found: "model",
  server_error: "server",
  unknown: undefined,
  max_output_tokens: "invalid",
};

/** Reasons that name the cause themselves. */
const TERMINAL: Readonly<Record<string, RefusalKind>> = {
  prompt_too_long: "context",
  blocking_limit: "context",
  rapid_refill_breaker: "context",
};
/** It stopped half-way: what was done stands and can be gone on with. */
const CUT_REASONS = new Set(["aborted_streaming", "aborted_tools", "tool_deferred", "background_requested"]);
/** Start-up failures that a later try may cure. */
const RETRYABLE_STARTUP = new Set([
  "org_verify_failed",
  "worktree_unverified",
  "remote_settings_required_unavailable",
  "org_config_required_unavailable",
]);
const LOGIN_STARTUP = new Set([
  "gateway_signin_required",
  "gateway_access_denied",
  "org_pin_mismatch",
  "org_pin_api_key_conflict",
  "org_config_refused",
]);

export function outcomeOf(signals: Signals): TurnOutcome {
  const { result } = signals;
  if (result === undefined) return { is: "cut", reason: brief(signals.died ?? "the agent stopped without an answer") };
  const reason = result.terminal_reason;
  const text = wordsOf(result);
  if (result.startup_failure_reason !== undefined) return startupOutcome(result.startup_failure_reason, text);
  if (result.subtype === "error_max_turns" || reason === "max_turns") {
    return { is: "failed", kind: "max-turns", message: brief(text || "the agent reached its limit of model calls") };
  }
  const terminal = reason === undefined ? undefined : lookUp(TERMINAL, reason);
  if (terminal !== undefined) return outcomeOfRefusal({ kind: terminal, status: null, text: text || String(reason) });
  if (result.is_error || signals.error !== undefined) return refusal(signals, result, text);
  if (result.stop_reason === "refusal") return { is: "failed", kind: "refused", message: brief(text) };
  if (result.subtype === "success") return { is: "done" };
  if (reason !== undefined && CUT_REASONS.has(reason)) return { is: "cut", reason };
  return { is: "failed", kind: "agent", message: brief(text || result.subtype) };
}

function wordsOf(result: ResultSignal): string {
  return result.result ?? (result.errors ?? []).join("; ");
}

function startupOutcome(why: string, text: string): TurnOutcome {
  const message = brief(text || why);
  if (RETRYABLE_STARTUP.has(why)) return { is: "cut", reason: message };
  return { is: "failed", kind: LOGIN_STARTUP.has(why) ? "login" : "agent", message };
}

function refusal(signals: Signals, result: ResultSignal, text: string): TurnOutcome {
  if (result.terminal_reason !== undefined && CUT_REASONS.has(result.terminal_reason)) {
    return { is: "cut", reason: brief(text || result.terminal_reason) };
  }
  const words = text || signals.error || result.subtype;
  const status = result.api_error_status ?? null;
  const resetAt = signals.rejected?.resetAt;
  if (signals.rejected !== undefined || USAGE_LIMITS.some((prefix) => text.startsWith(prefix))) {
    return outcomeOfRefusal({ kind: "usage", status, text: words, resetAt });
  }
  const isApiError = signals.error !== undefined || typeof result.api_error_status === "number";
  if (!isApiError && result.terminal_reason !== "api_error") {
    return { is: "failed", kind: "agent", message: brief(words) };
  }
  const kind = signals.error === undefined ? undefined : KINDS[signals.error];
  return outcomeOfRefusal({ kind, status, text: words, resetAt });
}
