/** Counts what must not get worse: tests, assertions, skipped tests, and findings that are silenced. Pure. */
import { languageOf, type Language } from "./languages.ts";

export interface Counts {
  /** With a name, or "" where there is none to be read; the same name twice is two. */
  tests: string[];
  /** Without those that always hold. */
  assertions: number;
  skips: number;
}

const NOTHING: Counts = { tests: [], assertions: 0, skips: 0 };

/** Of a file that is not there, or in a language that is not known: nothing. */
export function countsOf(path: string, text: string | undefined): Counts {
  const language = languageOf(path);
  if (language === undefined || text === undefined) return NOTHING;
  const code = text.replaceAll(language.comments, "");
  return {
    tests: testNames(language, code),
    assertions: Math.max(0, times(language.assertions, code) - times(language.idle, code)),
    skips: times(language.skips, code),
  };
}

function testNames({ tests }: Language, code: string): string[] {
  return [...code.matchAll(tests)].map((match) => match.slice(1).find((name) => name !== undefined) ?? "");
}

const times = (pattern: RegExp, text: string): number => [...text.matchAll(pattern)].length;

/** Comments and attributes by which a tool is told not to look; one match for each. */
const SUPPRESSIONS =
  /\b(?:es|ts|ox|style)lint-disable|\btslint:disable|\bbiome-ignore\b|@ts-(?:ignore|expect-error|nocheck)\b|\b(?:istanbul|c8|v8)\s+ignore\b|#\s*(?:noqa\b|type:\s*ignore|pyright:\s*ignore|mypy:\s*(?:ignore|disable)|pylint:\s*disable|ruff:\s*noqa|flake8:\s*noqa|nosec\b|pragma:\s*no\s*cover|shellcheck\s+disable|rubocop:disable)|\/\/\s*nolint\b|\bNOLINT|\bnosemgrep\b|#!?\[(?:cfg_attr\([^\]]*)?allow\s*\(|@Suppress(?:Warnings)?\b|\/\/\s*(?:nosec|noinspection)\b/g;

export const suppressionsIn = (text: string | undefined): number =>
  text === undefined ? 0 : times(SUPPRESSIONS, text);
