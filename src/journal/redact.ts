/**
 * Masks secrets, whole or in a stream: what the environment holds, in the encodings it travels in; what has the shape
 * of a key; what a name says is one. Linear in the text, and masking twice is masking once.
 */
import type { Redact } from "../ports.ts";
import { findAssignments } from "./assignments.ts";
import { findLiterals, type Finder } from "../platform/literals.ts";
import { merged, settled, type Range } from "./mask.ts";
import { makeRedactStream, type RedactStream } from "./redact-stream.ts";
import { formsOf, MIN_SECRET_CHARS, secretsIn } from "./secrets.ts";
import { findShapes } from "../platform/secret-shapes.ts";

/** A regular expression can run out of stack on a longer text. */
const MAX_WHOLE_CHARS = 262_144;
const PIECE_CHARS = 65_536;

export interface Redactor extends Redact {
  /** For text that comes in pieces: a secret lying across two of them is found. */
  stream: () => RedactStream;
}

export interface RedactOptions {
  environment: Readonly<Record<string, string | undefined>>;
  /** Secrets known otherwise. */
  extra?: readonly string[];
}

export function makeRedact({ environment, extra = [] }: RedactOptions): Redactor {
  let finders: readonly Finder[] | undefined;
  let longest = 0;
  const prepared = () => {
    if (finders !== undefined) return finders;
    const secrets = new Set([...secretsIn(environment), ...extra.filter((one) => one.length >= MIN_SECRET_CHARS)]);
    const forms = [...new Set([...secrets].flatMap(formsOf))];
    longest = forms.reduce((most, form) => Math.max(most, form.length), 0);
    finders = [findLiterals(forms), findShapes, findAssignments];
    return finders;
  };
  const find = (text: string): Range[] => {
    const ranges: Range[] = [];
    for (const finder of prepared()) finder(text, (start, end) => ranges.push({ start, end }));
    return ranges.length < 2 ? ranges : merged(ranges);
  };
  const stream = (): RedactStream => {
    prepared();
    return makeRedactStream({ find, longest });
  };
  const redact = (text: string): string => {
    if (text.length < MIN_SECRET_CHARS) return text;
    return text.length > MAX_WHOLE_CHARS ? inPieces(text, stream()) : settled(text, find);
  };
  return Object.assign(redact, { stream });
}

function inPieces(text: string, { push, end }: RedactStream): string {
  let result = "";
  for (let at = 0; at < text.length; at += PIECE_CHARS) result += push(text.slice(at, at + PIECE_CHARS));
  return result + end();
}
