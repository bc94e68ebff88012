/** What a model said no with, from the status, the headers and the named fields of its answer; never from its words. */
import type { RefusalKind } from "../outcome.ts";
import { isObject, objectAt, parsed, textAt, type Json } from "./json.ts";

export interface Said {
  kind: RefusalKind | undefined;
  /** null: the connection broke. */
  status: number | null;
  /** Wall clock, ms since 1970. */
  resetAt: number | undefined;
}

interface Answer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

const FIRST_REFUSAL = 400;
const LIMIT_STATUS = 429;
/** By `code`, else by `type` or `status` of the error, in the words of Anthropic, OpenAI and Google. */
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
  ModelError: "model",
  request_too_large: "context",
  context_length_exceeded: "context",
  invalid_prompt: "refused",
};

/** undefined: it answered. */
export function refusalOf({ status, headers, body }: Answer, now: number = Date.now()): Said | undefined {
  if (status < FIRST_REFUSAL) return undefined;
  const error = errorOf(body);
  const kind = KINDS[textAt(error, "code")] ?? KINDS[textAt(error, "type")] ?? KINDS[textAt(error, "status")];
  return {
    kind,
    status,
    resetAt: status === LIMIT_STATUS || status > 500 ? resetOf({ error, headers, now }) : undefined,
  };
}

/** Google's comes in a list. */
function errorOf(body: string): Json {
  const value = parsed(body);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return isObject(first) ? objectAt(first, "error") : {};
}

function resetOf({
  error,
  headers,
  now,
}: {
  error: Json;
  headers: Answer["headers"];
  now: number;
}): number | undefined {
  const at = error["resets_at"];
  if (typeof at === "number") return at * 1000;
  const inSeconds = error["resets_in_seconds"];
  if (typeof inSeconds === "number") return now + inSeconds * 1000;
  const waitMs = Number(headers["retry-after-ms"]);
  if (waitMs > 0) return now + waitMs;
  const after = headers["retry-after"];
  if (typeof after !== "string") return undefined;
  const seconds = Number(after);
  const date = Number.isFinite(seconds) ? now + seconds * 1000 : Date.parse(after);
  return Number.isNaN(date) ? undefined : date;
}
