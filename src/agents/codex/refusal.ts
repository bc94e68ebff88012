/** What a model said no with, from the status, the headers and the named fields of its answer; never from its words. */
import type { GatewayAnswer } from "../../platform/gateway.ts";
import type { RefusalKind } from "../outcome.ts";
import { isObject, textAt, type Json } from "./protocol.ts";

export interface Said {
  kind: RefusalKind | undefined;
  /** null: the connection broke. */
  status: number | null;
  /** Wall clock, ms since 1970. */
  resetAt: number | undefined;
}

const FIRST_REFUSAL = 400;
/** By `code`, else by `type` of the error. */
const KINDS: Readonly<Record<string, RefusalKind>> = {
  context_length_exceeded: "context",
  request_too_large: "context",
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
};

/** undefined: it answered. */
export function refusalOf(
  { status, headers, body }: Omit<GatewayAnswer, "path" | "sent">,
  now: number = Date.now(),
): Said | undefined {
  if (status < FIRST_REFUSAL) return undefined;
  const error = errorOf(body);
  const kind = KINDS[textAt(error, "code")] ?? KINDS[textAt(error, "type")];
  return { kind, status, resetAt: resetOf({ error, headers, now }) };
}

function errorOf(body: string): Json {
  try {
    const value: unknown = JSON.parse(body);
    if (isObject(value) && isObject(value["error"])) return value["error"];
  } catch {
    // A proxy's page, or cut.
  }
  return {};
}

interface Sources {
  error: Json;
  headers: GatewayAnswer["headers"];
  now: number;
}

function resetOf({ error, headers, now }: Sources): number | undefined {
  const at = error["resets_at"];
  if (typeof at === "number") return at * 1000;
  const inSeconds = error["resets_in_seconds"];
  if (typeof inSeconds === "number") return now + inSeconds * 1000;
  const waitMs = Number(headers["retry-after-ms"]);
  if (waitMs > 0) return now + waitMs;
  const after = headers["retry-after"];
  if (after === undefined) return undefined;
  const seconds = Number(after);
  const date = Number.isFinite(seconds) ? now + seconds * 1000 : Date.parse(after);
  return Number.isNaN(date) ? undefined : date;
}
