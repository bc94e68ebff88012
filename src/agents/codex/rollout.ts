/**
 * Codex's own record of a conversation (a "rollout"): JSON lines under its home, the prompt written before the request,
 * the cost with every response. Read line by line; a torn or strange line is skipped.
 */
import { createReadStream, lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { codexHome } from "./home.ts";
import { lines } from "../lines.ts";
import { openPlain } from "../plain-file.ts";
import { isObject, type Json } from "./protocol.ts";

/** Read of one: a tool can make it as long as it likes. */
const MAX_BYTES = 2 * 1024 ** 3;
/** Folders by year, month and day. */
const DEPTH = 3;

/** One line, as far as it is read here. */
export interface Entry {
  type: string;
  payload: Json;
}

/** The file of a thread; undefined when Codex never wrote one. */
export function rolloutOf(home: string, thread: string): string | undefined {
  let folders = [join(codexHome(home), "sessions")];
  for (let depth = 0; depth < DEPTH; depth += 1) {
    folders = folders.flatMap((folder) => list(folder).map((name) => join(folder, name)));
  }
  for (const folder of folders.toSorted().toReversed()) {
    const name = list(folder).find((one) => one.endsWith(`-${thread}.jsonl`));
    if (name !== undefined) return join(folder, name);
  }
  return undefined;
}

/** Tools write here too: a link is nothing of the program's. */
function list(folder: string): string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder) : [];
  } catch {
    return [];
  }
}

export async function* entriesOf(path: string): AsyncGenerator<Entry> {
  const fd = openPlain(path);
  if (fd === undefined) return;
  const found: Entry[] = [];
  const reader = lines((line) => {
    const entry = parsed(line);
    if (entry !== undefined) found.push(entry);
  });
  for await (const chunk of createReadStream("", { fd, end: MAX_BYTES }) as AsyncIterable<Buffer>) {
    reader.take(chunk);
    yield* found.splice(0);
  }
}

function parsed(line: string): Entry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (!isObject(value) || typeof value["type"] !== "string" || !isObject(value["payload"])) return undefined;
    return { type: value["type"], payload: value["payload"] };
  } catch {
    return undefined;
  }
}
