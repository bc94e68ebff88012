/** The error shape that both OpenAI protocols share. */
import type { Json, Protocol, Refusal } from "./protocol.ts";
import { newId } from "./protocol.ts";

const ERRORS: Readonly<Record<number, { type: string; code: string | null }>> = {
  400: { type: "invalid_request_error", code: null },
  401: { type: "invalid_request_error", code: "invalid_api_key" },
  403: { type: "invalid_request_error", code: "unsupported_country_region_territory" },
  404: { type: "invalid_request_error", code: "model_not_found" },
  413: { type: "invalid_request_error", code: "request_too_large" },
  429: { type: "requests", code: "rate_limit_exceeded" },
  503: { type: "server_error", code: "server_is_overloaded" },
  529: { type: "server_error", code: "server_is_overloaded" },
};

export function openaiRefusal({
  status,
  message,
  resetAtS,
  retryAfterS,
  usageLimit,
  code: named,
}: Refusal): ReturnType<Protocol["refusal"]> {
  const headers: Record<string, string> = { "x-request-id": newId("req_") };
  const leftS = resetAtS === undefined ? undefined : Math.max(0, resetAtS - Math.floor(Date.now() / 1000));
  if (retryAfterS !== undefined) headers["retry-after"] = String(retryAfterS);
  if (status === 429 && leftS !== undefined) {
    headers["x-ratelimit-remaining-requests"] = "0";
    headers["x-ratelimit-reset-requests"] = `${leftS}s`;
  }
  const { type, code } = ERRORS[status] ?? { type: "server_error", code: null };
  const plain: Json = { message, type, param: null, code: named ?? code };
  // The subscription's limit, as the Codex program reads it.
  const limit: Json = {
    message,
    type: "usage_limit_reached",
    plan_type: "plus",
    resets_at: resetAtS,
    resets_in_seconds: leftS,
  };
  return { headers, body: { error: usageLimit === true ? limit : plain } };
}
