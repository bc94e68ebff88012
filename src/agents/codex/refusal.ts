/** What a model said no with to Codex. */
import type { GatewayAnswer } from "../../platform/gateway.ts";
import { kindOf, resetOf, type Said } from "../refusal.ts";
import { isObject, type Json } from "./protocol.ts";

const FIRST_REFUSAL = 400;

/** undefined: it answered. */
export function refusalOf(
  { status, headers, body }: Omit<GatewayAnswer, "path" | "sent">,
  now: number = Date.now(),
): Said | undefined {
  if (status < FIRST_REFUSAL) return undefined;
  const error = errorOf(body);
  return { kind: kindOf(error), status, resetAt: resetOf({ error, headers, now }) };
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
