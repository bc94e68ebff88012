/**
 * What an execution's failure means: its kind, the exception with the frames of the generated code, a fingerprint that
 * stays while the failure does, and the words the model gets. Pure, total, and bounded whatever a program prints.
 */
import type { Code, Execution, Language } from "../ports/executor.ts";
import { hintFor } from "./explain-hints.ts";
import { parseNode } from "./explain-node.ts";
import { parsePython } from "./explain-python.ts";
import { fingerprintOf, shortener, type Shorten } from "./explain-words.ts";

export type FailureKind =
  | "ok"
  | "exception"
  | "syntax"
  | "assertion"
  | "exit"
  | "timeout"
  | "killed"
  | "memory"
  | "limit"
  | "unavailable";

export interface Frame {
  file: string;
  line: number | null;
  /** null: where the file itself is read, not run. */
  function: string | null;
  /** The line itself. */
  text: string | null;
}

export interface Exception {
  type: string;
  message: string;
  /** Of the generated code, the most recent call last; one of a library only where there is none. */
  frames: Frame[];
  /** What it came from, in one line each, the nearest first. */
  causes: string[];
}

export interface Explained {
  kind: FailureKind;
  /** Also where a thread had one and the program ended well. */
  exception: Exception | null;
  /** The same for the same failure; empty for `ok`. */
  fingerprint: string;
  /** In one line. */
  message: string;
}

/** As a parser finds it: paths as printed, every frame, the most recent call last. */
export interface Found {
  type: string;
  message: string;
  frames: Frame[];
  causes: string[];
  isSyntax: boolean;
}

const MAX_PARSED_CHARS = 64 * 1024;
const MAX_LINE_CHARS = 500;
const MAX_FRAMES = 6;
/** Of those, from the beginning. */
const FIRST_FRAMES = 2;
const MAX_CAUSES = 3;
const MAX_TYPE_CHARS = 120;
const MAX_EXCEPTION_CHARS = 800;
const MAX_FRAME_CHARS = 200;
const MAX_HEADLINE_CHARS = 300;
const MAX_SHOWN_LINES = 8;
const MAX_SHOWN_CHARS = 800;
const MAX_NOTES = 3;
/** Of the words for the model, all in all. */
export const MAX_FAILURE_CHARS = 4_000;

const MS_PER_S = 1_000;
const SHELL_SYNTAX = /: (?:-c: )?(?:line \d+: )?(?:syntax error|unexpected EOF|Syntax error)/;
const ENDINGS: Readonly<Record<Language, string>> = { python: "py", javascript: "js", typescript: "ts", shell: "sh" };

export function explainExecution(execution: Execution, code: Code): Explained {
  const { end, stderr, stdout } = execution;
  if (end.is === "unavailable") {
    const message = cut(end.reason, MAX_HEADLINE_CHARS);
    return { kind: "unavailable", exception: null, fingerprint: fingerprintOf(["unavailable", message]), message };
  }
  const errors = linesOf(stderr.text);
  const isWell = end.is === "exit" && end.code === 0;
  // Some programs print what they caught as if it were a result, and then end badly.
  const found = exceptionIn(errors, code) ?? (isWell ? undefined : exceptionIn(linesOf(stdout.text), code));
  const shorten = shortenFor(execution, code);
  const exception = found === undefined ? null : presented(found, { code, shorten });
  if (isWell) {
    const message =
      exception === null ? "it ended well" : `it ended well, but a part of it failed: ${titleOf(exception)}`;
    return { kind: "ok", exception, fingerprint: "", message };
  }
  const kind = kindOf(execution, found, errors);
  const last = lastLines(errors, shorten);
  const message = headline(end, { exception: kind === "timeout" ? null : exception, last });
  return { kind, exception, fingerprint: fingerprintOf([kind, ...identity(end, { exception, last })]), message };
}

/** For the model: what happened, where in its own code, what it may not know about the place, and nothing else. */
export function failureMessage(execution: Execution, code: Code): string {
  const explained = explainExecution(execution, code);
  const { kind, exception, message } = explained;
  const shorten = shortenFor(execution, code);
  const isSilent = exception === null && kind !== "ok" && kind !== "unavailable";
  const errors = isSilent ? lastLines(linesOf(execution.stderr.text), shorten) : [];
  const printed = showsOutput(kind) ? lastLines(linesOf(execution.stdout.text), shorten) : [];
  const hint = kind === "ok" ? undefined : hintFor(kind, [message, exception?.message, ...errors].join("\n"));
  const parts = [
    kind === "ok" ? `Ended well: ${message}.` : `Failed (${kind}): ${message}`,
    ...(exception === null ? [] : exceptionLines(exception, message)),
    ...shown("The end of its standard error:", errors),
    ...shown("The last it printed:", printed),
    ...(execution.notes ?? []).slice(0, MAX_NOTES).map((note) => `Note: ${cut(note, MAX_FRAME_CHARS)}`),
    ...(hint === undefined ? [] : [hint]),
  ];
  return cut(parts.join("\n"), MAX_FAILURE_CHARS);
}

function kindOf({ end }: Execution, found: Found | undefined, errors: readonly string[]): FailureKind {
  switch (end.is) {
    case "timeout":
    case "unavailable":
      return end.is;
    case "limit":
      return end.which === "memory" ? "memory" : "limit";
    case "signal":
      return found?.type === "OutOfMemory" ? "memory" : "killed";
    case "exit":
      if (found === undefined) return errors.some((line) => SHELL_SYNTAX.test(line)) ? "syntax" : "exit";
      if (found.isSyntax) return "syntax";
      if (/(^|\.)Assertion(Error|Failed)?$/.test(found.type)) return "assertion";
      return found.type === "MemoryError" || found.type === "OutOfMemory" ? "memory" : "exception";
  }
}

const shortenFor = ({ stderr, stdout }: Execution, code: Code): Shorten =>
  shortener([stderr, stdout].map(({ text }) => text.slice(-MAX_PARSED_CHARS)).join("\n"), code);

/** Shells run other languages too: each is looked for, the code's own first. */
function exceptionIn(lines: readonly string[], { language }: Code): Found | undefined {
  const isNode = language === "javascript" || language === "typescript";
  return isNode ? (parseNode(lines) ?? parsePython(lines)) : (parsePython(lines) ?? parseNode(lines));
}

function presented(found: Found, { code, shorten }: { code: Code; shorten: Shorten }): Exception {
  const own = found.frames.filter(({ file }) => !isLibrary(file));
  const frames = bounded(own.length > 0 ? own : found.frames.slice(-1));
  const source = code.text.split("\n");
  return {
    type: cut(found.type, MAX_TYPE_CHARS),
    message: cut(shorten(found.message), MAX_EXCEPTION_CHARS),
    frames: frames.map((frame) => {
      const file = shorten.file(frame.file);
      const isProgram = file === `solution.${ENDINGS[code.language]}`;
      const text = (isProgram && frame.line !== null ? source[frame.line - 1] : undefined) ?? frame.text;
      const named = frame.function === null ? null : cut(frame.function, MAX_TYPE_CHARS);
      return {
        ...frame,
        file: cut(file, MAX_FRAME_CHARS),
        function: named,
        text: text && cut(text.trim(), MAX_FRAME_CHARS),
      };
    }),
    causes: found.causes.slice(0, MAX_CAUSES).map((cause) => cut(shorten(cause), MAX_HEADLINE_CHARS)),
  };
}

const LIBRARY =
  /^node:|^<(?!stdin>|string>|module>|ipython)|[\\/](?:site|dist)-packages[\\/]|[\\/]lib(?:64)?[\\/]python\d|[\\/]node_modules[\\/]|^internal[\\/]/;
const isLibrary = (file: string): boolean => LIBRARY.test(file);

/** Without calls of itself over and over; then its first and its last. */
function bounded(frames: readonly Frame[]): Frame[] {
  const once = frames.filter(({ file, line }, at) => {
    const before = frames[at - 1];
    return before === undefined || before.file !== file || before.line !== line;
  });
  if (once.length <= MAX_FRAMES) return once;
  return [...once.slice(0, FIRST_FRAMES), ...once.slice(FIRST_FRAMES - MAX_FRAMES)];
}

interface Told {
  exception: Exception | null;
  last: readonly string[];
}

function headline(end: Execution["end"], { exception, last }: Told): string {
  const words = endWords(end);
  if (exception === null)
    return cut(`${words}${end.is === "exit" && last.length > 0 ? `: ${last.at(-1)}` : ""}`, MAX_HEADLINE_CHARS);
  const title = titleOf(exception);
  return cut(end.is === "exit" ? title : `${words}: ${title}`, MAX_HEADLINE_CHARS);
}

function endWords(end: Execution["end"]): string {
  switch (end.is) {
    case "exit":
      return `exit code ${end.code}`;
    case "signal":
      return `ended by ${end.signal}`;
    case "timeout":
      return `it did not end within ${end.afterMs / MS_PER_S} s`;
    case "limit":
      return end.message;
    case "unavailable":
      return end.reason;
  }
}

const titleOf = ({ type, message }: Exception): string => {
  const [first = ""] = message.split("\n");
  return first === "" ? type : `${type}: ${first}`;
};

/** What makes it this failure and no other. */
function identity(end: Execution["end"], { exception, last }: Told): string[] {
  const innermost = exception?.frames.at(-1);
  if (exception !== null && end.is !== "timeout")
    return [exception.type, titleOf(exception), innermost?.function ?? ""];
  switch (end.is) {
    case "exit":
      return [String(end.code), ...last.slice(-1)];
    case "signal":
      return [end.signal];
    case "limit":
      return [end.which];
    case "timeout":
    case "unavailable":
      return [];
  }
}

function exceptionLines({ message, frames, causes }: Exception, told: string): string[] {
  const rest = message.split("\n").slice(1).slice(0, MAX_SHOWN_LINES);
  return [
    ...(told.includes(message.split("\n")[0] ?? "") ? rest : [message]),
    ...causes.map((cause) => `caused by ${cause}`),
    ...frames.map(({ file, line, function: name, text }) => {
      const place = `${file}${line === null ? "" : `:${line}`}${name === null ? "" : ` in ${name}`}`;
      return `  at ${place}${text === null || text === "" ? "" : `: ${text}`}`;
    }),
  ];
}

/** What was printed tells how far it came, where nothing says so better. */
function showsOutput(kind: FailureKind): boolean {
  return ["exit", "timeout", "killed", "memory", "limit"].includes(kind);
}

const shown = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];

function linesOf(text: string): string[] {
  const end = text.slice(-MAX_PARSED_CHARS);
  return end.split(/\r?\n/).map((line) => line.slice(0, MAX_LINE_CHARS).trimEnd());
}

function lastLines(lines: readonly string[], shorten: Shorten): string[] {
  const kept: string[] = [];
  let room = MAX_SHOWN_CHARS;
  for (const line of lines
    .filter((one) => one.trim() !== "")
    .slice(-MAX_SHOWN_LINES)
    .toReversed()) {
    const short = cut(shorten(line), MAX_FRAME_CHARS);
    room -= short.length;
    if (room < 0) break;
    kept.unshift(short);
  }
  return kept;
}

const cut = (text: string, max: number): string => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);
