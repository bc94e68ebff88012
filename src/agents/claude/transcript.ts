/**
 * Claude Code's own record of a conversation: JSON lines under its config directory, written before a request (the
 * prompt) and before a result (the answer). Read line by line; a torn or strange line is skipped.
 */
import { createReadStream, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { openPlain } from "../plain-file.ts";
import type { ApiUsage } from "../api-meter.ts";

/** A longer line cannot be a message we need to understand: pictures, huge tool results. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Read of one: a tool can make it as long as it likes. */
const MAX_BYTES = 2 * 1024 ** 3;
const NEWLINE = 10;

/** One line, as far as it is read here. */
export interface Entry {
  type?: string;
  uuid?: string;
  /** ISO 8601. */
  timestamp?: string;
  isSidechain?: boolean;
  isMeta?: boolean;
  isApiErrorMessage?: boolean;
  message?: {
    id?: string;
    model?: string;
    role?: string;
    stop_reason?: string | null;
    usage?: ApiUsage;
    content?: unknown;
  };
  totalCostUSD?: number;
  modelUsage?: Record<string, Record<string, number>>;
}

/** A block of a message's content, as far as it is read here. */
export interface Block {
  type?: string;
  text?: string;
  id?: string;
  name?: string;
  input?: unknown;
  tool_use_id?: string;
  is_error?: boolean;
}

export const blocksOf = (content: unknown): Block[] => (Array.isArray(content) ? (content as Block[]) : []);

/** Subagents keep records of their own beside the session's. */
export const subagentDirectory = (path: string): string => join(path.replace(/\.jsonl$/, ""), "subagents");
export const subagentFile = (path: string, agent: string): string =>
  join(subagentDirectory(path), `agent-${agent}.jsonl`);

/** The file of a session; undefined when Claude Code never wrote one. */
export function transcriptOf(config: string, session: string): string | undefined {
  return transcripts(config).find((path) => path.endsWith(`/${session}.jsonl`));
}

/** All of them, newest first. */
export function transcripts(config: string): string[] {
  const root = join(config, "projects");
  const found: { path: string; at: number }[] = [];
  for (const project of list(root)) {
    for (const name of list(join(root, project))) {
      const path = join(root, project, name);
      const stat = name.endsWith(".jsonl") ? lstatSync(path, { throwIfNoEntry: false }) : undefined;
      if (stat?.isFile() === true) found.push({ path, at: stat.mtimeMs });
    }
  }
  return found.toSorted((a, b) => b.at - a.at).map(({ path }) => path);
}

/** Tools write here too: a link is nothing of the program's. */
function list(directory: string): string[] {
  try {
    return lstatSync(directory).isDirectory() ? readdirSync(directory) : [];
  } catch {
    return [];
  }
}

/** `mark`: only lines that hold this text are parsed. */
export async function* entriesOf(path: string, { mark }: { mark?: string } = {}): AsyncGenerator<Entry> {
  const wanted = mark === undefined ? undefined : Buffer.from(mark);
  for await (const line of linesOf(path)) {
    if (wanted !== undefined && !line.includes(wanted)) continue;
    const entry = parseEntry(line);
    if (entry !== undefined) yield entry;
  }
}

/** Complete lines only: what is after the last newline was being written when the program died. */
async function* linesOf(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let bytes = 0;
  const fd = openPlain(path);
  if (fd === undefined) return;
  for await (const chunk of createReadStream("", { fd, end: MAX_BYTES }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      bytes += at - from;
      if (bytes <= MAX_LINE_BYTES) yield Buffer.concat([...parts, chunk.subarray(from, at)]);
      parts = [];
      bytes = 0;
      from = at + 1;
    }
    bytes += chunk.length - from;
    if (bytes <= MAX_LINE_BYTES) parts.push(chunk.subarray(from));
    else parts = [];
  }
}

export function parseEntry(line: Buffer): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
