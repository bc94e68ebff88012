/**
 * What compilers and linters say, one entry for each thing that is wrong: tsc, eslint, oxlint, and everything that
 * writes as GCC does. Named by file, rule and message; the line is told, but it is no part of the name.
 */
import type { Failure } from "../../events.ts";
import { withoutPositions } from "../normalise.ts";
import { linesOf } from "./lines.ts";
import { isOwn, relativeTo, type Places } from "./places.ts";

const MAX_DIAGNOSTICS = 200;
const MAX_MESSAGE_CHARS = 400;
const MAX_FINGERPRINT_CHARS = 200;

interface Diagnostic {
  file: string;
  line: number;
  rule: string;
  message: string;
  severity: "error" | "warning";
}

/** Errors; where there are none, warnings: somebody does not want those either, unless only errors are asked for. */
export function diagnosticsIn(
  output: string,
  places: Places,
  { warnings = true }: { warnings?: boolean } = {},
): Failure[] {
  const lines = linesOf(output);
  const found = [...ofLines(lines), ...ofEslint(lines), ...ofOxlint(lines), ...ofRustc(lines), ...ofJson(output)].map(
    (one) => ({
      ...one,
      file: relativeTo(one.file, places),
    }),
  );
  const own = found.filter(({ file }) => isOwn(file) || file.startsWith("../"));
  const errors = own.filter(({ severity }) => severity === "error");
  const shown = errors.length > 0 || !warnings ? errors : own;
  return [...new Map(shown.map((one) => [nameOf(one), failureOf(one)])).values()].slice(0, MAX_DIAGNOSTICS);
}

function nameOf({ file, rule, message }: Diagnostic): string {
  return [file, rule, withoutPositions(message)]
    .filter((part) => part !== "")
    .join(" ")
    .slice(0, MAX_FINGERPRINT_CHARS);
}

function failureOf(one: Diagnostic): Failure {
  const { file, line, rule, message } = one;
  return {
    fingerprint: `error:${nameOf(one)}`.slice(0, MAX_FINGERPRINT_CHARS),
    message: `${rule === "" ? "" : `${rule}: `}${message}`.slice(0, MAX_MESSAGE_CHARS),
    file,
    line,
  };
}

/** tsc plain, tsc pretty, GCC and all that write like it (clang, rustc --error-format short, mypy, ruff, go vet). */
const LINES: readonly RegExp[] = [
  /^(?<file>[^\s()][^()]*)\((?<line>\d+),\d+\): (?<severity>error|warning) (?<rule>TS\d+): (?<message>.+)$/,
  /^(?<file>\S.*?):(?<line>\d+):\d+ - (?<severity>error|warning) (?<rule>TS\d+): (?<message>.+)$/,
  /^(?<file>[^\s:][^:]*):(?<line>\d+):(?:\d+:)? (?:fatal )?(?<severity>error|warning): (?<message>.+?)(?: +\[(?<rule>[\w=+./-]+)\])?$/,
  /^(?<file>[^\s:][^:]*\.py):(?<line>\d+):\d+: (?<rule>[A-Z]{1,4}\d{2,4}) (?:\[\*\] )?(?<message>.+)$/,
  /^\[ERROR\] (?<file>\/[^:]+\.(?:java|kt)):\[(?<line>\d+),\d+\] (?<message>.+)$/,
  /^(?:vet: )?(?<file>[^\s:][^:]*\.go):(?<line>\d+):\d+: (?<message>.+)$/,
];

function ofLines(lines: readonly string[]): Diagnostic[] {
  return lines.flatMap((line) => {
    const groups = LINES.map((pattern) => pattern.exec(line)?.groups).find((found) => found !== undefined);
    return groups === undefined ? [] : [diagnostic(groups)];
  });
}

function diagnostic(groups: Record<string, string | undefined>): Diagnostic {
  const { file = "", line = "0", rule = "", message = "", severity = "error" } = groups;
  return { file, line: Number(line), rule, message, severity: severity === "warning" ? "warning" : "error" };
}

const ESLINT = /^\s+(?<line>\d+):\d+\s+(?<severity>error|warning)\s+(?<message>\S.*?)(?:\s{2,}(?<rule>\S+))?$/;

/** Stylish: a file, then its problems indented below it. */
function ofEslint(lines: readonly string[]): Diagnostic[] {
  let file = "";
  return lines.flatMap((line) => {
    if (/^\S*[./\\]\S*$/.test(line)) file = line;
    const groups = ESLINT.exec(line)?.groups;
    return groups === undefined || file === "" ? [] : [diagnostic({ ...groups, file })];
  });
}

const OXLINT = /^\s+(?<mark>[x×✖!⚠])\s+(?<rule>[\w@/-]+\([\w@/-]+\)): (?<message>\S.*)$/;
const OXLINT_PLACE = /^\s+[,╭][-─]\[(?<file>[^\]]+?):(?<line>\d+):\d+\]/;
/** Its message may take some lines before the place comes. */
const MAX_LINES_TO_PLACE = 6;

function ofOxlint(lines: readonly string[]): Diagnostic[] {
  return lines.flatMap((line, at) => {
    const groups = OXLINT.exec(line)?.groups;
    if (groups === undefined) return [];
    const below = lines.slice(at + 1, at + 1 + MAX_LINES_TO_PLACE);
    const place = below.map((one) => OXLINT_PLACE.exec(one)?.groups).find((found) => found !== undefined);
    const severity = "!⚠".includes(groups["mark"] ?? "") ? "warning" : "error";
    return place === undefined ? [] : [diagnostic({ ...groups, ...place, severity })];
  });
}

const RUSTC = /^(?<severity>error|warning)(?:\[(?<rule>\w+)\])?: (?<message>.+)$/;
const RUSTC_PLACE = /^\s+--> (?<file>[^:]+):(?<line>\d+):\d+$/;

function ofRustc(lines: readonly string[]): Diagnostic[] {
  return lines.flatMap((line, at) => {
    const groups = RUSTC.exec(line)?.groups;
    const place = RUSTC_PLACE.exec(lines[at + 1] ?? "")?.groups;
    return groups === undefined || place === undefined ? [] : [diagnostic({ ...groups, ...place })];
  });
}

const SEVERE = 2;
const MAX_JSON_CHARS = 4 * 1024 * 1024;

/** eslint's JSON is one line with a list of files, oxlint's one line for each problem. */
function ofJson(output: string): Diagnostic[] {
  return output.split("\n").flatMap((line) => {
    if (line.length > MAX_JSON_CHARS) return [];
    if (line.startsWith('[{"filePath":')) return listOf(parsed(line)).flatMap(ofEslintFile);
    const at = line.indexOf('{"message":');
    return at === -1 || !line.includes('"filename":')
      ? []
      : listOf([parsed(line.slice(at).replace(/[,\]]+$/, ""))]).map(ofOxlintJson);
  });
}

const ofEslintFile = (file: Json): Diagnostic[] =>
  listOf(file["messages"]).map((one) => ({
    file: textOf(file["filePath"]),
    line: lineOf(one["line"]),
    rule: textOf(one["ruleId"]),
    message: textOf(one["message"]),
    severity: one["severity"] === SEVERE ? "error" : "warning",
  }));

function ofOxlintJson(one: Json): Diagnostic {
  const [label] = listOf(one["labels"]);
  const [span] = listOf([label?.["span"]]);
  return {
    file: textOf(one["filename"]),
    line: lineOf(span?.["line"]),
    rule: textOf(one["code"]),
    message: textOf(one["message"]),
    severity: one["severity"] === "error" ? "error" : "warning",
  };
}

type Json = Readonly<Record<string, unknown>>;
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const lineOf = (value: unknown): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0;

const listOf = (value: unknown): Json[] =>
  Array.isArray(value) ? value.filter((one): one is Json => typeof one === "object" && one !== null) : [];

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
