/**
 * What pawl itself keeps of a command's conversations and turns, beside the program's own files: the program's name for
 * a conversation, its first prompt, and enough of every turn to tell what became of it when nobody saw its end.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Usage } from "../../events.ts";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";
import type { Found, TurnEnd } from "../../ports.ts";
import type { Before } from "./meter.ts";

/** Where all of it lies, for each agent by its name: a run may have several commands. */
export const folderOf = (home: string, name: string): string => join(home, "command", name);
/** {home}: what the program may fill as it likes. */
export const programHome = (folder: string): string => join(folder, "home");
export const promptFile = (folder: string): string => join(folder, "prompt.md");
export const instructionsFile = (folder: string): string => join(folder, "instructions.md");

export interface Conversation extends Before {
  /** The program's name for it, once it is known that it exists. */
  session?: string;
  /** The first prompt, for a program that remembers nothing. */
  opening?: string;
  /** Turns in a row that went on with it and never reached the model. */
  misses?: number;
}

const conversationFile = (folder: string, ref: string): string => join(folder, "conversations", `${ref}.json`);

export function readConversation(folder: string, ref: string): Conversation {
  const found = readJson(conversationFile(folder, ref));
  return typeof found === "object" && found !== null ? found : {};
}

export function keepConversation(folder: string, ref: string, conversation: Conversation): void {
  makePrivateDir(join(folder, "conversations"));
  writeDurably(conversationFile(folder, ref), JSON.stringify(conversation));
}

/** One line of a turn's record; the last of each kind counts. */
type Noted =
  | { is: "begun" }
  | { is: "request" }
  /** One of them never left whole. */
  | { is: "unsent" }
  | { is: "usage"; usage: Usage; tools: [string, number][]; messageId: string | null }
  | { is: "end"; end: TurnEnd; tools: [string, number][] };

const turnFile = (folder: string, uuid: string): string => join(folder, "turns", `${uuid}.jsonl`);

export interface TurnRecord {
  note(noted: Noted): void;
}

export function turnRecord(folder: string, uuid: string): TurnRecord {
  makePrivateDir(join(folder, "turns"));
  const file = turnFile(folder, uuid);
  return { note: (noted) => appendFileSync(file, `${JSON.stringify(noted)}\n`, { mode: 0o600 }) };
}

/** Read-only. A turn of which only the beginning is known may have reached the model, unless requests are counted. */
export function inspectRecord(folder: string, uuid: string, { counts }: { counts: boolean }): Found {
  const noted = readNotes(turnFile(folder, uuid));
  if (noted.length === 0) return { is: "unknown" };
  const ended = noted.findLast((one) => one.is === "end");
  const last = noted.findLast((one) => one.is === "usage");
  const count = (is: Noted["is"]): number => noted.filter((one) => one.is === is).length;
  const begun = count("request") - count("unsent");
  if (ended !== undefined) {
    const { end, tools } = ended;
    const isCut = ["cut", "interrupted", "timeout"].includes(end.outcome.is);
    return isCut ? { is: "cut", usage: end.usage, tools, messageId: end.messageId } : { is: "ended", end, tools };
  }
  const requests = Math.max(last?.usage.requests ?? 0, counts ? begun : 1);
  if (requests === 0) return { is: "unknown" };
  const usage = { ...(last?.usage ?? UNKNOWN_USAGE), requests, estimated: true };
  return { is: "cut", usage, tools: last?.tools ?? [], messageId: last?.messageId ?? null };
}

const UNKNOWN_USAGE: Usage = {
  requests: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  usd: null,
  estimated: true,
};

function readNotes(file: string): Noted[] {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      return [JSON.parse(line) as Noted];
    } catch {
      // Torn by a crash, or the end of the file.
      return [];
    }
  });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
