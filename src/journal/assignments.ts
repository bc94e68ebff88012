/**
 * Secrets by the name beside them: `NAME=value`, `"name": "value"`, `name: value`, `--name value`. Ordinary programs
 * are full of keys and tokens, so outside the form `NAME=value` the value must look like a secret as well.
 */
import { findLiterals, type Finder } from "../platform/literals.ts";
import { secrecyOf } from "./secret-names.ts";
import { isPath, MIN_SECRET_CHARS } from "./secrets.ts";

/** Some of these is in every secretive name. */
const STEMS = "secret token key passw passphrase credential auth private pwd".split(" ");
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
const findStems = findLiterals(STEMS.flatMap((stem) => [stem, capital(stem), stem.toUpperCase()]));

/** From a stem to where the value starts. Every repetition is bounded, so the search is linear. */
const LEAD = /([\w.-]{0,40})(\\{0,3}["'`]?(?:\s{0,3}(?:=>|[=:])\s{0,3}|\s(?=[^\s-]))\\{0,3})(["'`]?)/y;
const MAX_NAME_CHARS = 80;
/** As much of a value is judged; a secret is then masked whole. */
const JUDGED_CHARS = 64;
const MIN_ASSIGNED_CHARS = 6;
const MIN_WEAK_CHARS = 16;
/** By character code: this is asked more often than anything else here. */
const NAME_CHARS = tableOf(/[\w.-]/);
const BARE_ENDS = tableOf(/[\s"'`,;&<>(){}[\]|\\]/);
const QUOTED_ENDS: Readonly<Record<string, Uint8Array>> = {
  '"': tableOf(/["\n\\]/),
  "'": tableOf(/['\n\\]/),
  "`": tableOf(/[`\n\\]/),
};
const WORDS = /^(?:true|false|null|none|undefined|string|number|boolean|unknown|redacted|changeme|[*x.]+|\d{1,9})$/i;
const IDENTIFIED = /^(?:[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;
/** Starts of references to a value elsewhere. */
const REFERENCE = /^[$%<{[(@#!^*]|^[A-Za-z][\w+.-]*:\/\//;
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;
const MEMBER = /^[\w$]+(?:\??\.[\w$]+)+$/;

export const findAssignments: Finder = (text, found) => {
  let done = 0;
  findStems(text, (start, end) => {
    if (start < done) return;
    LEAD.lastIndex = end;
    const lead = LEAD.exec(text);
    if (lead === null) return;
    const [, rest = "", glue = "", quote = ""] = lead;
    const valueStart = LEAD.lastIndex;
    const name = nameEndingAt(text, { end: end + rest.length, from: start });
    const valueEnd = endOfValue(text, { start: valueStart, quote, limit: valueStart + JUDGED_CHARS });
    const follows = quote === "" ? text.charAt(valueEnd) : "";
    if (!isSecret({ name, value: text.slice(valueStart, valueEnd), glue, quote, follows })) return;
    done = endOfValue(text, { start: valueStart, quote, limit: text.length });
    found(valueStart, done);
  });
};

function nameEndingAt(text: string, { end, from }: { end: number; from: number }): string {
  let start = from;
  while (start > 0 && end - start < MAX_NAME_CHARS && isIn(NAME_CHARS, text.charCodeAt(start - 1))) start -= 1;
  return text.slice(start, end);
}

function endOfValue(text: string, { start, quote, limit }: { start: number; quote: string; limit: number }): number {
  const stop = Math.min(limit, text.length);
  const ends = QUOTED_ENDS[quote] ?? BARE_ENDS;
  let end = start;
  while (end < stop && !isIn(ends, text.charCodeAt(end))) end += 1;
  return end;
}

function tableOf(chars: RegExp): Uint8Array {
  return Uint8Array.from({ length: 128 }, (_, code) => (chars.test(String.fromCharCode(code)) ? 1 : 0));
}

function isIn(table: Uint8Array, code: number): boolean {
  return table[code] === 1;
}

interface Assignment {
  name: string;
  value: string;
  /** What stands between name and value, quotes of the value left out. */
  glue: string;
  quote: string;
  /** The character after a bare value: a call is code, not a value. */
  follows: string;
}

function isSecret({ name, value, glue, quote, follows }: Assignment): boolean {
  const secrecy = secrecyOf(name);
  if (secrecy === "none" || !mayBeValue(value)) return false;
  // A word after a blank is a value only behind an option: `--token abc`.
  if (/^\s$/.test(glue) && !name.startsWith("--")) return false;
  if (quote === "" && /[([{<]/.test(follows)) return false;
  const isVariable = CONSTANT.test(name) && glue.startsWith("=");
  const isMixed = value.length >= MIN_SECRET_CHARS && /\d/.test(value) && /[A-Za-z]/.test(value);
  if (secrecy === "strong" && isVariable) return true;
  if (quote === "" && MEMBER.test(value)) return false;
  if (secrecy === "strong")
    return isMixed || (quote !== "" && /passw|passphrase/i.test(name) && /[^A-Za-z]/.test(value));
  if (!isMixed || IDENTIFIED.test(value)) return false;
  return isVariable || (value.length >= MIN_WEAK_CHARS && /[a-z]/.test(value) && /[A-Z]/.test(value));
}

function mayBeValue(value: string): boolean {
  return (
    value.length >= MIN_ASSIGNED_CHARS &&
    !/\s/.test(value) &&
    !value.includes("***") &&
    !WORDS.test(value) &&
    !REFERENCE.test(value) &&
    !isPath(value)
  );
}
