/** What a model said no with to an ACP agent, in an answer that passes pawl. */
import type { IncomingHttpHeaders } from "node:http";
import { kindOf, resetOf, type Said } from "../refusal.ts";
import { isObject, objectAt, parsed, type Json } from "./json.ts";

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
