/** Python's tracebacks: chained, of threads and groups, of syntax errors, and of the interpreter's own crash. Pure. */
import type { Found, Frame } from "./explain-execution.ts";

const HEADER = /Traceback \(most recent call last\):$/;
const FRAME = /^\s+File "(.*)", line (\d+)(?:,? in (.*))?$/;
const EXCEPTION = /^([A-Za-z_][\w.]*)(?:: ?(.*))?$/;
const MARKS = /^[\s~^]+$/;
const LINKS = [
  "The above exception was the direct cause of the following exception:",
  "During handling of the above exception, another exception occurred:",
];
const CRASH = /^Fatal Python error: (.*)$/;
const GROUP = /^\s+[|+](?:-\+)?[-\s]?/;
const SYNTAX = ["SyntaxError", "IndentationError", "TabError"];
/** Of a message. */
const MAX_LINES = 12;

interface Block {
  type: string;
  message: string;
  frames: Frame[];
  /** It came from the one before. */
  isLinked: boolean;
}

export function parsePython(printed: readonly string[]): Found | undefined {
  const isGroup = printed.some((line) => line.includes("Exception Group Traceback"));
  const lines = isGroup ? printed.map(ungrouped) : printed;
  const blocks = blocksIn(lines);
  const last = blocks.at(-1);
  if (last === undefined) return crashIn(lines);
  const chain: Block[] = [];
  for (let at = blocks.length - 1; at > 0 && blocks[at]?.isLinked === true; at -= 1)
    chain.push(blocks[at - 1] as Block);
  const title = ({ type, message }: Block): string => (message === "" ? type : `${type}: ${message.split("\n")[0]}`);
  // What happened in another process comes back as its own cause; that one knows where it was.
  const remote = chain.find((block) => title(block) === title(last));
  const end = last.frames.at(-1);
  const isOfText = end === undefined || end.file === "<string>" || end.file === "<unknown>";
  return {
    type: last.type,
    message: last.message,
    frames: remote === undefined ? last.frames : [...last.frames, ...remote.frames],
    causes: chain.map(title).filter((words) => words !== title(last)),
    isSyntax: SYNTAX.includes(last.type) && end?.function === null && !isOfText,
  };
}

function blocksIn(lines: readonly string[]): Block[] {
  const blocks: Block[] = [];
  let frames: Frame[] | undefined;
  let isLinked = false;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const frame = frameAt(lines, at);
    if (HEADER.test(line)) frames = [];
    else if (frame !== undefined) (frames ??= []).push(frame);
    else if (LINKS.includes(line)) isLinked = blocks.length > 0;
    else if (frames !== undefined && /^\S/.test(line)) {
      const found = EXCEPTION.exec(line);
      if (found !== null) {
        const more = continuation(lines, at + 1);
        const type = (found[1] ?? "").replace(/^__main__\./, "");
        const message = [found[2] ?? "", ...more].join("\n").trim();
        blocks.push({ type, message, frames, isLinked });
        at += more.length;
      }
      frames = undefined;
      isLinked = false;
    }
  }
  return blocks;
}

function frameAt(lines: readonly string[], at: number): Frame | undefined {
  const found = FRAME.exec(lines[at] ?? "");
  if (found === null) return undefined;
  const next = lines[at + 1] ?? "";
  const text = /^\s{3,}\S/.test(next) && !FRAME.test(next) && !MARKS.test(next) ? next.trim() : null;
  return { file: found[1] ?? "", line: Number(found[2]), function: found[3] ?? null, text };
}

/** The rest of a message of several lines: up to whatever begins something else. */
function continuation(lines: readonly string[], from: number): string[] {
  const more: string[] = [];
  for (const line of lines.slice(from, from + MAX_LINES)) {
    if (HEADER.test(line) || LINKS.includes(line) || line === '"""' || /^Exception (in|ignored)/.test(line)) break;
    more.push(line);
  }
  while (more.at(-1)?.trim() === "") more.pop();
  return more;
}

/** The lines of a group without its frame; those that are only frame become empty. */
const ungrouped = (line: string): string => (/^\s+\+-[-+\s\d]*$/.test(line) ? "" : line.replace(GROUP, ""));

/** Printed by the interpreter as it dies, the innermost call first. */
function crashIn(lines: readonly string[]): Found | undefined {
  const at = lines.findLastIndex((line) => CRASH.test(line));
  if (at < 0) return undefined;
  const frames = lines.slice(at).flatMap((_, n) => frameAt(lines, at + n) ?? []);
  const message = CRASH.exec(lines[at] ?? "")?.[1] ?? "";
  return {
    type: "Fatal Python error",
    message,
    frames: frames.map((frame) => ({ ...frame, text: null })).toReversed(),
    causes: [],
    isSyntax: false,
  };
}
