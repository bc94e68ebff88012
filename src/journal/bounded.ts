/** JSON of any value with a limit: long texts are cut, and what is still too long is told by its beginning. */
import type { Redact } from "../ports.ts";

const MAX_TEXT_CHARS = 16_384;
const MAX_LINE_CHARS = 65_536;
const HEAD_CHARS = 4_096;
/** Masked beyond the cut too, so that a secret lying across it does not show its first half. */
const MARGIN_CHARS = 4_096;

export function bounded(data: unknown, redact: Redact): string {
  const text = JSON.stringify(data, (_key, value: unknown) => {
    if (typeof value === "bigint") return String(value);
    return typeof value === "string" ? cut(value, redact) : value;
  });
  if (text === undefined) return "null";
  if (text.length <= MAX_LINE_CHARS) return text;
  return JSON.stringify({ cut: text.length, head: text.slice(0, HEAD_CHARS) });
}

function cut(value: string, redact: Redact): string {
  if (value.length <= MAX_TEXT_CHARS) return redact(value);
  const masked = redact(value.slice(0, MAX_TEXT_CHARS + MARGIN_CHARS)).slice(0, MAX_TEXT_CHARS);
  return `${masked}… (${value.length - MAX_TEXT_CHARS} more)`;
}
