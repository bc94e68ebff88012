/** The newest part of a transcript, read as it grows: each byte once, complete lines only. */
import { hash } from "node:crypto";
import { closeSync, fdatasync, fstatSync, readSync } from "node:fs";
import type { Entry } from "./transcript.ts";
import { openPlain } from "../plain-file.ts";
import { blocksOf, parseEntry } from "./transcript.ts";

/** How far back the first look goes: what a resumed conversation goes on from stands at its end. */
const FIRST_LOOK_BYTES = 4 * 1024 * 1024;
/** Results, calls and texts that are remembered; a request names only the last few. */
const MAX_KEPT = 500;
const MAX_STEP_BYTES = 64 * 1024 * 1024;
const NEWLINE = 10;
const MARKS = ['"tool_result"', '"assistant"'].map((mark) => Buffer.from(mark));

export interface Tail {
  /** Takes in what was written since. */
  read(): void;
  /** The result of this tool call stands in it. */
  hasResult(id: string): boolean;
  hasCall(id: string): boolean;
  /** The model wrote this block of text. */
  hasText(text: string): boolean;
  /** Resolves when what was read would survive a loss of power. */
  sync(): Promise<void>;
  close(): void;
}

/** Throws when there is no such file. */
export function openTail(path: string): Tail {
  const fd = openPlain(path);
  if (fd === undefined) throw new Error("no such file");
  let offset = Math.max(0, fstatSync(fd).size - FIRST_LOOK_BYTES);
  const results = new Set<string>();
  const calls = new Set<string>();
  const texts = new Set<string>();

  function take(entry: Entry): void {
    for (const block of blocksOf(entry.message?.content)) {
      if (entry.type === "user" && block.type === "tool_result") keep(results, block.tool_use_id);
      if (entry.type !== "assistant") continue;
      if (block.type === "tool_use") keep(calls, block.id);
      if (block.type === "text" && block.text !== undefined) keep(texts, digestOf(block.text));
    }
  }

  return {
    read() {
      const { size } = fstatSync(fd);
      if (size <= offset) return;
      // Whoever adds so much at once is no writer of conversations.
      if (size - offset > MAX_STEP_BYTES) offset = size - FIRST_LOOK_BYTES;
      const bytes = Buffer.allocUnsafe(size - offset);
      const got = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, offset));
      let from = 0;
      for (let at = got.indexOf(NEWLINE); at >= 0; at = got.indexOf(NEWLINE, from)) {
        const line = got.subarray(from, at);
        const entry = MARKS.some((mark) => line.includes(mark)) ? parseEntry(line) : undefined;
        if (entry !== undefined) take(entry);
        from = at + 1;
      }
      offset += from;
    },
    hasResult: (id) => results.has(id),
    hasCall: (id) => calls.has(id),
    hasText: (text) => texts.has(digestOf(text)),
    sync: () => new Promise((resolve, reject) => fdatasync(fd, (error) => (error ? reject(error) : resolve()))),
    close: () => closeSync(fd),
  };
}

const digestOf = (text: string): string => hash("sha256", text, "base64");

function keep(ids: Set<string>, id: string | undefined): void {
  if (id === undefined) return;
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > MAX_KEPT && oldest !== undefined) ids.delete(oldest);
}
