/** What a model said no with, from the status, the headers and the named fields of its answer; never from its words. */
import type { IncomingHttpHeaders } from "node:http";
import type { RefusalKind } from "../outcome.ts";
import { isObject, objectAt, parsed, textAt, type Json } from "./json.ts";

export interface Said {
  kind: RefusalKind | undefined;
  /** null: the connection broke. */
  status: number | null;
  /** Wall clock, ms since 1970. */
  resetAt: number | undefined;
}

/** By the `code`, `type` or `status` of the error, whichever provider it is. */
const KINDS: Readonly<Record<string, RefusalKind>> = {
  authentication_error: "authentication",
  permission_error: "authentication",
  billing_error: "billing",
  not_found_error: "model",
  request_too_large: "context",
  rate_limit_error: "rate",
  overloaded_error: "overloaded",
  api_error: "server",
  timeout_error: "server",
  context_length_exceeded: "context",
  insufficient_quota: "billing",
  billing_hard_limit_reached: "billing",
  account_deactivated: "authentication",
  invalid_api_key: "authentication",
  model_not_found: "model",
  usage_limit_reached: "usage",
  usage_not_included: "billing",
  rate_limit_exceeded: "rate",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",
  invalid_prompt: "refused",
  cyber_policy_violation: "refused",
  UNAUTHENTICATED: "authentication",
  PERMISSION_DENIED: "authentication",
  RESOURCE_EXHAUSTED: "rate",
  NOT_FOUND: "model",
  UNAVAILABLE: "overloaded",
  INTERNAL: "server",
};
const RESET_HEADERS = ["anthropic-ratelimit-unified-reset", "x-ratelimit-reset"];

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Its beginning. */
  body: string;
}

export function refusalOf({ status, headers, body }: Answer, now: number = Date.now()): Said {
  const error = errorIn(parsed(body) ?? {});
  return { kind: kindOf(error), status, resetAt: resetOf({ error, headers, now }) };
}

/** In an answer that had begun well. */
export function laterRefusal(event: Json): Said | undefined {
  const error = errorIn(event);
  const kind = kindOf(error);
  return kind === undefined ? undefined : { kind, status: 200, resetAt: undefined };
}

function errorIn(body: Json): Json {
  const response = objectAt(body, "response");
  return isObject(body["error"]) ? body["error"] : objectAt(response, "error");
}

function kindOf(error: Json): RefusalKind | undefined {
  return ["code", "type", "status"].map((name) => KINDS[textAt(error, name)]).find((kind) => kind !== undefined);
}

function resetOf({
  error,
  headers,
  now,
}: {
  error: Json;
  headers: IncomingHttpHeaders;
  now: number;
}): number | undefined {
  const at = error["resets_at"];
  if (typeof at === "number") return at * 1000;
  const inSeconds = error["resets_in_seconds"];
  if (typeof inSeconds === "number") return now + inSeconds * 1000;
  const named = RESET_HEADERS.map((name) => Number(headers[name])).find((seconds) => seconds > now / 1000);
  if (named !== undefined) return named * 1000;
  const after = headers["retry-after"];
  if (after === undefined) return undefined;
  const seconds = Number(after);
  const wall = Number.isFinite(seconds) ? now + seconds * 1000 : Date.parse(after);
  return Number.isFinite(wall) ? wall : undefined;
}
