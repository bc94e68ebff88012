/**
 * The sessions of the agent: one file of JSON lines each, every entry on disk before what it tells of has an effect. What
 * became of a turn is read from here, and a conversation is gone on with from here.
 */
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { makePrivateDir, syncDir } from "../../platform/files.ts";
import type { TurnEnd } from "../../ports.ts";
import type { OwnExecution } from "../../ports/executor.ts";
import type { ApiUsage } from "../api-meter.ts";
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
  /** Code that the model ran, with what of it is in the workspace. */
  | { is: "ran"; turn: string; execution: OwnExecution }
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
  /** On disk when it returns. Throws when it cannot be written. */
  write(entry: Entry): void;
}

const MODE = 0o600;
/** A longer one is nothing that a conversation makes. */
const MAX_BYTES = 256 * 1024 * 1024;

const messagesFolder = (home: string): string => join(home, "messages");

/** For what is to be written. Throws where a tool has put a link in its place: that leads to somebody else's folder. */
export function ownFolder(home: string): string {
  const folder = messagesFolder(home);
  makePrivateDir(folder);
  if (lstatSync(folder).isDirectory()) return folder;
  throw new Error(`${folder} is no folder any more`);
}
export const sandboxFile = (home: string): string => join(messagesFolder(home), "sandbox.json");
export const transcriptFile = (home: string, ref: string): string =>
  join(messagesFolder(home), `${encodeURIComponent(ref)}.jsonl`);

/** Tools can write there: a link leads to somebody else's file. */
export function openTranscript(home: string, ref: string): Transcript {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  // After a torn line of a process that was killed.
  let before = "\n";
  return {
    write(entry) {
      const folder = ownFolder(home);
      const file = openSync(transcriptFile(home, ref), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, MODE);
      try {
        writeFileSync(file, `${before}${JSON.stringify(entry)}\n`);
        fdatasyncSync(file);
        if (before !== "") syncDir(folder);
        before = "";
      } finally {
        closeSync(file);
      }
    },
  };
}

export function readTranscript(home: string, ref: string): Entry[] {
  const file = openPlain(transcriptFile(home, ref));
  if (file === undefined) return [];
  try {
    if (fstatSync(file).size > MAX_BYTES) return [];
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
    const entry: unknown = JSON.parse(line);
    return isEntry(entry) ? [entry] : [];
  } catch {
    return [];
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
const areBlocks = (value: unknown): boolean => Array.isArray(value) && value.every(isObject);
const areSaid = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => isObject(one) && areBlocks(one["content"]));

/** As far as it is relied on: tools can write there. */
function isEntry(entry: unknown): entry is Entry {
  if (!isObject(entry)) return false;
  switch (entry["is"]) {
    case "history":
      return areSaid(entry["messages"]);
    case "prompt":
    case "user":
      return areBlocks(entry["content"]);
    case "answer":
      return areBlocks(entry["content"]) && isObject(entry["usage"]);
    case "broken":
      return isObject(entry["usage"]);
    case "ran":
      return isObject(entry["execution"]);
    case "end":
      return isObject(entry["end"]) && isObject(entry["end"]["outcome"]);
    case "request":
      return true;
    default:
      return false;
  }
}
