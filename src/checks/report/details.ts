/**
 * What a failing test said, taken apart for people and prompts: message, place, values, and the first frames in the
 * tree. From the text that every runner prints; what is not recognised stays in the message.
 */
import type { Failure } from "../../events.ts";
import { plain } from "../tail.ts";
import { isOwn, relativeTo, type Places } from "./places.ts";

const MAX_SAID_CHARS = 16_000;
const MAX_LINE_CHARS = 500;
const MAX_MESSAGE_CHARS = 400;
const MAX_VALUE_CHARS = 300;
const MAX_FRAMES = 4;

type Details = Omit<Failure, "fingerprint">;

export function detailsOf(said: string, { places, file }: { places: Places; file?: string | undefined }): Details {
  const lines = plain(said.slice(0, MAX_SAID_CHARS))
    .split("\n")
    .map((line) => line.slice(0, MAX_LINE_CHARS).trimEnd());
  const found = lines.map((line) => frameOf(line, places));
  const own = found.filter((frame) => frame !== undefined).filter(({ path }) => isOwn(path));
  // The test's own line says most; else where it went wrong first.
  const at = own.find(({ path }) => path === file) ?? own[0];
  const where = file ?? at?.path;
  const frames = [...new Set(own.map(({ path, line, name }) => `${path}:${line}${name === "" ? "" : ` in ${name}`}`))];
  return {
    message: messageOf(lines, found),
    ...(where === undefined ? {} : { file: where }),
    ...(at === undefined || at.path !== where ? {} : { line: at.line }),
    ...valuesOf(lines),
    ...(frames.length === 0 ? {} : { frames: frames.slice(0, MAX_FRAMES) }),
  };
}

interface Frame {
  path: string;
  line: number;
  name: string;
  /** The line says nothing else. */
  whole: boolean;
}

/** JavaScript, Java, Python, Rust; then whatever begins with a place. */
const FRAMES: readonly { pattern: RegExp; whole: boolean }[] = [
  { pattern: /^\s*at (?:async )?(?<name>[^(]*?) ?\((?<path>[^()]+?):(?<line>\d+)(?::\d+)?\)$/, whole: true },
  { pattern: /^\s*at (?:async )?(?<path>[^\s()]+?):(?<line>\d+)(?::\d+)?$/, whole: true },
  { pattern: /^\s*❯ (?:(?<name>[^\s/]+) )?(?<path>\S+?):(?<line>\d+)(?::\d+)?$/, whole: true },
  { pattern: /^\s*File "(?<path>[^"]+)", line (?<line>\d+)(?:, in (?<name>.*))?$/, whole: true },
  { pattern: /panicked at (?<path>[^\s:']+):(?<line>\d+):\d+:$/, whole: true },
  { pattern: /panicked at (?:'.*', )?(?<path>[^\s:']+):(?<line>\d+):\d+/, whole: false },
  // Rust before 1.73 has the place behind a message of several lines.
  { pattern: /', (?<path>[^\s:']+\.rs):(?<line>\d+):\d+$/, whole: false },
  { pattern: /^\s*(?<path>[\w@./+-]+\.\w{1,5}):(?<line>\d+)(?::\d+)?:?(?=\s|$)/, whole: false },
];

function frameOf(line: string, places: Places): Frame | undefined {
  for (const { pattern, whole } of FRAMES) {
    const { path, line: at, name } = pattern.exec(line)?.groups ?? {};
    if (path === undefined || at === undefined) continue;
    return { path: relativeTo(path, places), line: Number(at), name: (name ?? "").trim(), whole };
  }
  return undefined;
}

/** Stack lines without a place, source that is shown around the place, headings and underlines. */
const NOISE = /^\s*(?:at .*\)|>?\s*\d+ \|.*|\|.*|● .*|[\^~]*)\s*$/;
const MAX_MESSAGE_LINES = 4;

/** Its first paragraph, without the frames, and without the values that stand by themselves. */
function messageOf(lines: readonly string[], found: readonly (Frame | undefined)[]): string {
  const words = lines.filter((line, n) => found[n]?.whole !== true && !NOISE.test(line));
  // pytest marks what matters; before it stands the source.
  const marked = words.filter((line) => /^E\s/.test(line)).map((line) => line.slice(1));
  const shown = (marked.length > 0 ? marked : words).map((line) => line.trim());
  const end = shown.findIndex((line, n) => n > 0 && (VALUES.some((value) => value.test(line)) || line.endsWith("{")));
  const kept = shown.slice(0, end === -1 ? MAX_MESSAGE_LINES : Math.min(end, MAX_MESSAGE_LINES));
  const text = kept.join(" ").replaceAll(/\s+/g, " ").trim();
  return text.length <= MAX_MESSAGE_CHARS ? text : `${text.slice(0, MAX_MESSAGE_CHARS - 1)}…`;
}

const EXPECTED = /^\s*(?:expected|right|want(?:ed)?)\s*(?:value)?:\s*(?<value>.+?)(?:', \S+\.rs:\d+:\d+|,)?$/i;
const ACTUAL = /^\s*(?:received|actual|got|left)\s*(?:value)?:\s*(?<value>.+?),?$/i;
const VALUES = [EXPECTED, ACTUAL];
/** Sentences that have both. */
const BOTH: readonly RegExp[] = [
  /expected (?<actual>.+?) to (?:be|equal|deeply equal|strictly equal|loosely equal|strictly deep-equal|match|include|contain|have \w+)(?: of)? (?<expected>.+?)(?: \/\/.*)?$/,
  /^(?:E\s+)?(?:AssertionError: )?assert (?<actual>[^=!<>]+?) == (?<expected>[^=]+)$/,
  /^(?:AssertionError(?: \[\w+\])?: )?(?<actual>\S.*?) !==? (?<expected>\S.*)$/,
  /expected:? <(?<expected>.*?)> but was:? <(?<actual>.*?)>/,
  /\bgot:? (?<actual>.+?)[,;]? (?:want(?:ed)?|expected):? (?<expected>.+)$/i,
  /\b(?:want(?:ed)?|expected):? (?<expected>.+?)[,;]? (?:but )?got:? (?<actual>.+)$/i,
];

function valuesOf(lines: readonly string[]): Pick<Details, "expected" | "actual"> {
  const first = (pattern: RegExp) =>
    lines.map((line) => pattern.exec(line)?.groups?.["value"]).find((one) => one !== undefined);
  const [expected, actual] = [first(EXPECTED), first(ACTUAL)];
  if (expected !== undefined && actual !== undefined) return { expected: short(expected), actual: short(actual) };
  for (const line of lines) {
    const both = BOTH.map((pattern) => pattern.exec(line.trim())?.groups).find((groups) => groups !== undefined);
    if (both !== undefined) return { expected: short(both["expected"] ?? ""), actual: short(both["actual"] ?? "") };
  }
  return {};
}

function short(value: string): string {
  const text = value.trim().replace(/^`([^`]*)`$/, "$1");
  return text.length <= MAX_VALUE_CHARS ? text : `${text.slice(0, MAX_VALUE_CHARS - 1)}…`;
}
