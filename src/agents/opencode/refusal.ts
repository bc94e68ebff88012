/** What a model said no with to opencode. */
import { kindOf, resetOf, type Said } from "../refusal.ts";
import { isObject, objectAt, parsed, type Json } from "./json.ts";

interface Answer {
  status: number;
  headers: Readonly<Record<string, unknown>>;
  body: string;
}

const FIRST_REFUSAL = 400;
const LIMIT_STATUS = 429;

/** undefined: it answered. */
export function refusalOf({ status, headers, body }: Answer, now: number = Date.now()): Said | undefined {
  if (status < FIRST_REFUSAL) return undefined;
  const error = errorOf(body);
  return {
    kind: kindOf(error),
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
