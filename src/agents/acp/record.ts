/**
 * pawl's own record of an ACP conversation: the protocol has no way to ask an agent what became of a turn. One line per
 * thing that happened, written before it is told: a driver that is killed leaves everything it knew.
 */
import { appendFileSync, closeSync, fstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Usage } from "../../events.ts";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";
import type { Found, OpenRequest, TurnEnd } from "../../ports.ts";
import { openPlain } from "../plain-file.ts";
import { isObject, parsed, textAt, type Json } from "./json.ts";

/** The agent can write here too: a file beyond this is none of ours. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024;
const MAX_FINAL_TEXT_CHARS = 1024 * 1024;

const folderOf = (home: string): string => join(home, "acp");
const recordOf = (home: string, ref: string): string => join(folderOf(home), `${nameOf(ref)}.jsonl`);
const sessionFile = (home: string, ref: string): string => join(folderOf(home), `${nameOf(ref)}.session`);
const nameOf = (ref: string): string => ref.replaceAll(/[^\w-]/g, "_");

/** The agent's own name for a session; undefined: there never was one. */
export function sessionOf(home: string, ref: string): string | undefined {
  const id = readPlain(sessionFile(home, ref))?.trim();
  return id === undefined || id === "" ? undefined : id;
}

/** Durable before the first prompt: after a crash the session is found again. */
export function keepSession(home: string, ref: string, id: string): void {
  makePrivateDir(folderOf(home));
  writeDurably(sessionFile(home, ref), `${id}\n`);
}

type Line =
  | { at: "prompt"; uuid: string }
  /** A request has left, or a response has shown that one had. */
  | { at: "request"; usage: Usage }
  | { at: "usage"; usage: Usage }
  | { at: "tool"; name: string }
  | { at: "end"; end: TurnEnd };

export interface TurnRecord {
  write(line: Exclude<Line, { at: "prompt" }>): void;
}

export function recordTurn({ home, session }: Pick<OpenRequest, "home" | "session">, uuid: string): TurnRecord {
  makePrivateDir(folderOf(home));
  const path = recordOf(home, session.ref);
  const append = (line: Line): void => appendFileSync(path, `${JSON.stringify(line)}\n`, { mode: 0o600 });
  append({ at: "prompt", uuid });
  return { write: append };
}

export const boundedText = (text: string): string => text.slice(-MAX_FINAL_TEXT_CHARS);

export function inspectTurn(
  { home, session }: Pick<OpenRequest, "home" | "session">,
  { uuid }: { uuid: string },
): Promise<Found> {
  const text = readPlain(recordOf(home, session.ref)) ?? "";
  const all = text
    .split("\n")
    .map(parsed)
    .filter((line) => line !== undefined);
  const from = all.findLastIndex((line) => line["at"] === "prompt" && line["uuid"] === uuid);
  if (from < 0) return Promise.resolve({ is: "unknown" });
  const next = all.findIndex((line, at) => at > from && line["at"] === "prompt");
  return Promise.resolve(foundIn(all.slice(from + 1, next < 0 ? undefined : next), uuid));
}

function foundIn(lines: readonly Json[], uuid: string): Found {
  const counts = new Map<string, number>();
  for (const line of lines) {
    const name = line["at"] === "tool" ? textAt(line, "name") : "";
    if (name !== "") counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const tools = [...counts];
  const end = lines.find((line) => line["at"] === "end")?.["end"];
  // How an interrupted turn ended is known to whoever interrupted it, and to nobody after a crash.
  if (isTurnEnd(end) && end.outcome.is === "done") return { is: "ended", end, tools };
  const usage = isTurnEnd(end) ? end.usage : lines.findLast((line) => isUsage(line["usage"]))?.["usage"];
  return isUsage(usage) ? { is: "cut", usage, tools, messageId: uuid } : { is: "unknown" };
}

function isUsage(value: unknown): value is Usage {
  return isObject(value) && typeof value["requests"] === "number" && typeof value["inputTokens"] === "number";
}

function isTurnEnd(value: unknown): value is TurnEnd {
  return isObject(value) && value["type"] === "turn-end" && isObject(value["outcome"]) && isUsage(value["usage"]);
}

function readPlain(path: string): string | undefined {
  const fd = openPlain(path);
  if (fd === undefined) return undefined;
  try {
    return fstatSync(fd).size <= MAX_RECORD_BYTES ? readFileSync(fd, "utf8") : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}
