/** What a model said no with, whoever's model it is: from status, headers and named fields, never from its words. */
import type { GatewayAnswer } from "../../platform/gateway.ts";
import type { RefusalKind } from "../outcome.ts";
import { numberAt, textAt } from "./paths.ts";

export interface Said {
  kind: RefusalKind | undefined;
  /** null: the connection broke. */
  status: number | null;
  /** Wall clock, ms since 1970. */
  resetAt: number | undefined;
}

const FIRST_REFUSAL = 400;
const MS_PER_S = 1_000;

/** Names of errors in the APIs of Anthropic, OpenAI and Google. */
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
  rate_limit_error: "rate",
  rate_limit_exceeded: "rate",
  RESOURCE_EXHAUSTED: "rate",
  usage_limit_reached: "usage",
  overloaded_error: "overloaded",
  server_is_overloaded: "overloaded",
  slow_down: "overloaded",
  UNAVAILABLE: "overloaded",
  model_not_found: "model",
  not_found_error: "model",
  context_length_exceeded: "context",
  request_too_large: "context",
};
const PLACES = ["error.code", "error.status", "error.type"];

/** undefined: it answered. */
export function refusalOf(
  { status, headers, body }: Pick<GatewayAnswer, "status" | "headers" | "body">,
  now: number = Date.now(),
): Said | undefined {
  if (status < FIRST_REFUSAL) return undefined;
  const error = parsed(body);
  const kind = PLACES.map((path) => KINDS[textAt(error, path) ?? ""]).find((found) => found !== undefined);
  return { kind, status, resetAt: resetOf({ error, headers, now }) };
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    // A proxy's page, or cut.
    return undefined;
  }
}

interface Sources {
  error: unknown;
  headers: GatewayAnswer["headers"];
  now: number;
}

function resetOf({ error, headers, now }: Sources): number | undefined {
  const at = numberAt(error, "error.resets_at") ?? numberOf(headers["anthropic-ratelimit-unified-reset"]);
  if (at !== undefined) return at * MS_PER_S;
  const inSeconds = numberAt(error, "error.resets_in_seconds") ?? numberOf(headers["retry-after"]);
  if (inSeconds !== undefined) return now + inSeconds * MS_PER_S;
  const date = Date.parse(headers["retry-after"] ?? "");
  return Number.isNaN(date) ? undefined : date;
}

function numberOf(text: string | string[] | undefined): number | undefined {
  const found = typeof text === "string" && text.trim() !== "" ? Number(text) : Number.NaN;
  return Number.isFinite(found) && found >= 0 ? found : undefined;
}
