/** What an error of the API means for a turn: from its status, headers and named fields. */
import { brief, type Refusal } from "../outcome.ts";
import { kindOf, resetOf } from "../refusal.ts";
import type { Sdk } from "./client.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The API's own words for a request beyond the window; it has no name for it. */
const TOO_LONG = /^prompt is too long\b/;
const FIRST_REFUSAL = 400;

export function refusalOf(error: unknown, sdk: Sdk, now = Date.now()): Refusal {
  if (!(error instanceof sdk.APIError)) return { kind: "connection", status: null, text: wordsOf(error) };
  const { status = null } = error;
  const fields = errorFields(error.error);
  const text = error.apiMessage ?? wordsOf(error);
  if (error instanceof sdk.APIConnectionError || (status !== null && status < FIRST_REFUSAL))
    return { kind: "connection", status: null, text: wordsOf(error) };
  const resetAt = resetOf({ error: fields, headers: Object.fromEntries(error.headers ?? []), now });
  const kind = TOO_LONG.test(text) ? "context" : kindOf(fields);
  return { kind, status, text, ...(resetAt === undefined ? {} : { resetAt }) };
}

/** The body is `{type: "error", error: {…}}`. */
function errorFields(body: unknown): Fields {
  const inner = typeof body === "object" && body !== null ? (body as { error?: unknown }).error : undefined;
  return typeof inner === "object" && inner !== null ? { ...inner } : {};
}

function wordsOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : new Error(String(error));
  return brief(cause instanceof Error && cause.message !== "" ? `${message} (${cause.message})` : message);
}
