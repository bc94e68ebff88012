/** What of one requirement a text does not satisfy. Runs in a worker where a pattern is tried: one can take for ever. */
import type { Failure } from "../../events.ts";
import { misfits } from "../../platform/json-schema.ts";
import type { Requirement } from "../../spec.ts";
import { counted } from "../../plural.ts";

const MAX_SHOWN_CHARS = 200;

export function unmet(requirement: Requirement, text: string): Failure[] {
  const { file } = requirement;
  const found = [
    ...patterns(requirement, text),
    ...phrases(requirement, text),
    ...wordCount(requirement, text),
    ...numberIn(requirement, text),
    ...bySchema(requirement, text),
  ];
  return found.map(({ what, says, ...more }) => ({
    fingerprint: `requires:${file}:${what}`,
    message: `${file} ${says}`,
    file,
    ...more,
  }));
}

interface Unmet extends Pick<Failure, "line" | "expected" | "actual"> {
  /** Of the fingerprint: the same while the same condition is not met. */
  what: string;
  says: string;
}

/** As the settings promise: multi-line; `(?i:…)` for any case. */
const patternOf = (source: string): RegExp => new RegExp(source, "m");

function patterns({ matches = [], lacks = [] }: Requirement, text: string): Unmet[] {
  const missing = matches
    .filter((source) => !patternOf(source).test(text))
    .map((source) => ({ what: `matches:${source}`, says: `does not match /${source}/` }));
  const present = lacks.flatMap((source) => {
    const at = patternOf(source).exec(text);
    if (at === null) return [];
    const says = `must not match /${source}/, and has ${shown(at[0])}`;
    return [{ what: `lacks:${source}`, says, line: lineAt(text, at.index) }];
  });
  return [...missing, ...present];
}

/** A phrase that must be there is there as it is written; one that must not is found in any case and look-alike form too. */
function phrases({ contains = [], without = [] }: Requirement, text: string): Unmet[] {
  const plain = oneSpaced(text);
  const missing = contains
    .filter((phrase) => !plain.includes(oneSpaced(phrase)))
    .map((phrase) => ({ what: `contains:${phrase}`, says: `does not contain ${shown(phrase)}` }));
  const folded = without.length === 0 ? "" : foldedText(text);
  const present = without
    .filter((phrase) => hasPhrase(folded, foldedText(phrase)))
    .map((phrase) => ({ what: `without:${phrase}`, says: `must not contain ${shown(phrase)}` }));
  return [...missing, ...present];
}

/** Lines are wrapped anywhere. */
const oneSpaced = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

function foldedText(text: string): string {
  const letters = text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/[‘’‛ʼ]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .replaceAll(/[‐‑–—]/g, "-");
  return oneSpaced(letters).toLowerCase();
}

/** As words: no part of another one. */
function hasPhrase(text: string, phrase: string): boolean {
  const isInWord = (at: number): boolean => /[\p{L}\p{N}]{2}/u.test(text.slice(at - 1, at + 1));
  for (let at = text.indexOf(phrase); at !== -1; at = text.indexOf(phrase, at + 1))
    if (phrase !== "" && !isInWord(at) && !isInWord(at + phrase.length)) return true;
  return false;
}

/** What stands between blanks and has a letter or a digit. */
const countWords = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

function wordCount({ words }: Requirement, text: string): Unmet[] {
  if (words === undefined) return [];
  const has = countWords(text);
  return outside(has, words, { what: "words", says: (range) => `has ${counted(has, "word")}, and needs ${range}` });
}

const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i;

function numberIn({ number }: Requirement, text: string): Unmet[] {
  if (number === undefined) return [];
  const { pattern } = number;
  const what = `number:${pattern}`;
  const found = patternOf(pattern).exec(text);
  const group = (found?.[1] ?? found?.[0])?.trim();
  if (group === undefined) return [{ what, says: `has no number where /${pattern}/ looks for one` }];
  if (!NUMBER.test(group)) return [{ what, says: `has ${shown(group)} where /${pattern}/ looks for a number` }];
  const value = Number(group);
  return outside(value, number, { what, says: (range) => `has ${value} at /${pattern}/, and needs ${range}` });
}

interface Range {
  min?: number | undefined;
  max?: number | undefined;
}

function outside(
  value: number,
  range: Range,
  { what, says }: { what: string; says: (range: string) => string },
): Unmet[] {
  const { min = -Infinity, max = Infinity } = range;
  if (value >= min && value <= max) return [];
  return [{ what, says: says(rangeWords(range)), expected: rangeWords(range), actual: String(value) }];
}

export function rangeWords({ min, max }: Range): string {
  if (min !== undefined && max !== undefined) return min === max ? String(min) : `${min} to ${max}`;
  if (min !== undefined) return `at least ${min}`;
  return max === undefined ? "any number" : `at most ${max}`;
}

function bySchema({ schema }: Requirement, text: string): Unmet[] {
  if (schema === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return [
      { what: "json", says: `is not JSON: ${error instanceof Error ? error.message : "?"}`.slice(0, MAX_SHOWN_CHARS) },
    ];
  }
  return misfits(schema, value).map(({ path, message }) => {
    const where = path.join(".");
    return {
      what: `schema:${where}`,
      says: `does not fit the schema${where === "" ? "" : ` at ${where}`}: ${message}`,
    };
  });
}

const lineAt = (text: string, at: number): number => text.slice(0, at).split("\n").length;

const shown = (text: string): string =>
  JSON.stringify(text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`);
