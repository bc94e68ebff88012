/** A streamed answer of the Responses API that ends in order before its last event, or with an error in it: Codex has no word for either. */
import type { RequestWatcher } from "../platform/gateway.ts";
import { lines } from "./lines.ts";
import { kindOf, type Said } from "./refusal.ts";

const FIRST_REFUSAL = 400;
/** What ends an answer in Codex's eyes; the ways to fail among them it names itself. */
const LAST = /^data:\s*\{"type":\s*"response\.(?:completed|failed|incomplete)"/;
const ERROR = /^data:\s*(\{"type":\s*"error".*)$/;
/** Of the last events one may hold the whole answer. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;

export function streamEnd(onBroken: (said: Said) => void): RequestWatcher {
  let isStream = false;
  let isOver = false;
  let kind: Said["kind"] = "connection";
  const reader = lines(
    (line) => {
      isOver ||= LAST.test(line);
      const error = ERROR.exec(line)?.[1];
      if (error !== undefined) kind = kindIn(error) ?? kind;
    },
    { maxBytes: MAX_EVENT_BYTES },
  );
  return {
    answer({ status, headers }) {
      isStream = status < FIRST_REFUSAL && headers["content-type"]?.includes("event-stream") === true;
    },
    data(chunk) {
      if (isStream) reader.take(chunk);
    },
    end(how) {
      // Where the connection broke, the gateway tells.
      if (how === "whole" && isStream && !isOver) onBroken({ kind, status: 200, resetAt: undefined });
    },
  };
}

function kindIn(event: string): Said["kind"] {
  try {
    const { error, ...rest } = JSON.parse(event) as { error?: unknown };
    return kindOf(typeof error === "object" && error !== null ? { ...error } : { ...rest, type: undefined });
  } catch {
    return undefined;
  }
}
