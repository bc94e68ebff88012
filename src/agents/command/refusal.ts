/** What a model said no with, whoever's model it is. */
import type { GatewayAnswer } from "../../platform/gateway.ts";
import { kindOf, resetOf, type Said } from "../refusal.ts";
import { at } from "./paths.ts";

const FIRST_REFUSAL = 400;

/** undefined: it answered. */
export function refusalOf(
  { status, headers, body }: Pick<GatewayAnswer, "status" | "headers" | "body">,
  now: number = Date.now(),
): Said | undefined {
  if (status < FIRST_REFUSAL) return undefined;
  const error = errorIn(body);
  return { kind: kindOf(error), status, resetAt: resetOf({ error, headers, now }) };
}

function errorIn(body: string): Readonly<Record<string, unknown>> {
  try {
    return { ...(at(JSON.parse(body), "error") as object | undefined) };
  } catch {
    // A proxy's page, or cut.
    return {};
  }
}
