/** What a model said no with, from the status, the headers and the named fields of its answer; never from its words. */
import type { RefusalKind } from "./outcome.ts";

export interface Said {
  kind: RefusalKind | undefined;
  /** null: the connection broke. */
  status: number | null;
  /** Wall clock, ms since 1970. */
  resetAt: number | undefined;
}

type ErrorFields = Readonly<Record<string, unknown>>;
type Headers = Readonly<Record<string, unknown>>;

/** In the words of Anthropic, OpenAI, Google and opencode's own gateway. */
const KINDS: Readonly<Record<string, RefusalKind>> = {
  authentication_error: "authentication",
  permission_error: "authentication",
  invalid_api_key: "authentication",
  account_deactivated: "authentication",
  UNAUTHENTICATED: "authentication",
  PERMISSION_DENIED: "authentication",
  billing_error: "billing",
  insufficient_quota: "billing",
  billing_hard_limit_reached: "billing",
  usage_not_included: "billing",
  CreditsError: "billing",
  rate_limit_error: "rate",
  rate_limit_exceeded: "rate",
  RESOURCE_EXHAUSTED: "rate",
  usage_limit_reached: "usage",
  FreeUsageLimitError: "usage",
  overloaded_error: "overloaded",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",
  UNAVAILABLE: "overloaded",
  not_found_error: "model",
  model_not_found: "model",
  NOT_FOUND: "model",
  ModelError: "model",
  request_too_large: "context",
  context_length_exceeded: "context",
  invalid_prompt: "refused",
  cyber_policy_violation: "refused",
  api_error: "server",
  timeout_error: "server",
  INTERNAL: "server",
};
const RESET_HEADERS = ["anthropic-ratelimit-unified-reset", "x-ratelimit-reset"];

/** By the `code`, else the `type` or the `status` of the error. */
export const kindOf = (error: ErrorFields): RefusalKind | undefined =>
  ["code", "type", "status"]
    .map((field) => error[field])
    .map((word) => (typeof word === "string" && Object.hasOwn(KINDS, word) ? KINDS[word] : undefined))
    .find((kind) => kind !== undefined);

/** When it may be asked again. `now`: wall clock ms. */
export function resetOf({
  error,
  headers,
  now,
}: {
  error: ErrorFields;
  headers: Headers;
  now: number;
}): number | undefined {
  const at = error["resets_at"];
  if (typeof at === "number") return at * 1000;
  const inSeconds = error["resets_in_seconds"];
  if (typeof inSeconds === "number") return now + inSeconds * 1000;
  const named = RESET_HEADERS.map((name) => Number(headers[name])).find((seconds) => seconds > now / 1000);
  if (named !== undefined) return named * 1000;
  const waitMs = Number(headers["retry-after-ms"]);
  if (waitMs > 0) return now + waitMs;
  const after = headers["retry-after"];
  if (typeof after !== "string") return undefined;
  const seconds = Number(after);
  const date = Number.isFinite(seconds) ? now + seconds * 1000 : Date.parse(after);
  return Number.isFinite(date) ? date : undefined;
}
