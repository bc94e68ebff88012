/**
 * The sessions of the agent: one file of JSON lines each, every entry on disk before what it tells of has an effect. What
 * became of a turn is read from here, and a conversation is gone on with from here.
 */
import { closeSync, constants, fdatasyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDir } from "../../platform/files.ts";
import type { TurnEnd } from "../../ports.ts";
import type { ApiUsage } from "../claude/meter.ts";
import { openPlain } from "../plain-file.ts";
import type { Block, Said } from "./blocks.ts";

export type Entry =
  /** What an earlier session had said up to where this one begins. */
  | { is: "history"; from: string; messages: Said[] }
  | { is: "prompt"; turn: string; content: Block[] }
  /** It leaves now. */
  | { is: "request"; turn: string; model: string }
  | Answered
  /** What is known of the cost of an answer that did not come to its end. */
  | { is: "broken"; turn: string; id: string; model: string; usage: ApiUsage }
  /** Results of tools, and what people said meanwhile. */
  | { is: "user"; turn: string; content: Block[] }
  | { is: "end"; turn: string; end: TurnEnd };

export interface Answered {
  is: "answer";
  turn: string;
  id: string;
  model: string;
  content: Block[];
  stop: string;
  usage: ApiUsage;
  /** Its words are no part of the conversation: a refusal. */
  dropped?: true;
}

export interface Transcript {
  write(entry: Entry): void;
  close(): void;
}

const MODE = 0o600;
const KINDS: readonly string[] = ["history", "prompt", "request", "answer", "broken", "user", "end"];

export const messagesFolder = (home: string): string => join(home, "messages");
export const transcriptFile = (home: string, ref: string): string =>
  join(messagesFolder(home), `${encodeURIComponent(ref)}.jsonl`);

/** Tools can write there: a link leads to somebody else's file. Throws when it cannot be written. */
export function openTranscript(home: string, ref: string): Transcript {
  makePrivateDir(messagesFolder(home));
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  const file = openSync(transcriptFile(home, ref), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, MODE);
  // After a torn line of a process that was killed.
  let begun = false;
  return {
    write(entry) {
      writeSync(file, `${begun ? "" : "\n"}${JSON.stringify(entry)}\n`);
      begun = true;
      fdatasyncSync(file);
    },
    close: () => closeSync(file),
  };
}

export function readTranscript(home: string, ref: string): Entry[] {
  const file = openPlain(transcriptFile(home, ref));
  if (file === undefined) return [];
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => entryOf(line));
  } finally {
    closeSync(file);
  }
}

function entryOf(line: string): Entry[] {
  if (line === "") return [];
  try {
    const entry = JSON.parse(line) as Entry | null;
    return entry !== null && KINDS.includes(entry.is) ? [entry] : [];
  } catch {
    return [];
  }
}
