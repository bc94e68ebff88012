/**
 * opencode's own record of a conversation: a SQLite database in its data folder, written before a request (the prompt,
 * the message that is to be filled) and before the next one (the answer). Only read, and never through a link.
 */
import { plainFileIn } from "../../platform/plain-file.ts";
import { databaseFile } from "./home.ts";
import { isObject, numberAt, objectAt, parsed, textAt, type Json } from "./json.ts";
import { MARK } from "./reader.ts";
import type { Client } from "./sdk.ts";

export interface Recorded {
  id: string;
  session: string;
  info: Json;
  parts: Json[];
  /** When the next message of its session was made, wall clock ms. */
  until: number;
}

/** What belongs to a turn, oldest first, with what its subagents did meanwhile. */
export interface TurnRecord {
  messages: Recorded[];
  subagents: Recorded[];
}

/** Messages since the one with that mark; undefined: there is none. Throws when the database cannot be read. */
export async function readRecord(
  home: string,
  { session, mark }: { session: string; mark: string },
): Promise<TurnRecord | undefined> {
  // Tools write here too.
  const file = plainFileIn(home, databaseFile(home));
  if (file === undefined) return undefined;
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const all = (sql: string, ...values: string[]): Json[] => database.prepare(sql).all(...values);
    const [prompt] = all(
      `SELECT message_id AS id FROM part WHERE session_id = ? AND json_extract(data, '$.metadata.${MARK}') = ? LIMIT 1`,
      session,
      mark,
    );
    if (prompt === undefined) return undefined;
    const partsOf = (id: string): Json[] =>
      all("SELECT id, data FROM part WHERE message_id = ? ORDER BY id", id).map((row) => ({
        ...dataOf(row),
        id: row["id"],
      }));
    // Ids grow with time, across sessions too.
    const since = (of: string): Recorded[] => {
      const rows = all(
        "SELECT id, time_created AS at, data FROM message WHERE session_id = ? AND id >= ? ORDER BY id",
        of,
        textAt(prompt, "id"),
      );
      return rows.map((row, at) => ({
        id: textAt(row, "id"),
        session: of,
        info: dataOf(row),
        parts: partsOf(textAt(row, "id")),
        until: numberAt(rows[at + 1], "at") || Infinity,
      }));
    };
    const below = all(
      `WITH RECURSIVE below(id) AS (SELECT id FROM session WHERE parent_id = ?
       UNION SELECT session.id FROM session JOIN below ON session.parent_id = below.id) SELECT id FROM below`,
      session,
    );
    return { messages: since(session), subagents: below.flatMap((row) => since(textAt(row, "id"))) };
  } finally {
    database.close();
  }
}

/** The same, asked of a server that runs elsewhere. */
export async function askRecord(
  client: Client,
  { session, mark }: { session: string; mark: string },
): Promise<TurnRecord | undefined> {
  const all = await messagesOf(client, session);
  const first = all.find(({ parts }) => parts.some((part) => textAt(objectAt(part, "metadata"), MARK) === mark));
  if (first === undefined) return undefined;
  const since = (messages: readonly Recorded[]): Recorded[] => messages.filter(({ id }) => id >= first.id);
  const below: Recorded[] = [];
  const parents = [session];
  for (const parent of parents) {
    const { data = [] } = await client.session.children({ sessionID: parent });
    for (const { id } of data) {
      parents.push(id);
      below.push(...since(await messagesOf(client, id)));
    }
  }
  return { messages: since(all), subagents: below };
}

async function messagesOf(client: Client, session: string): Promise<Recorded[]> {
  const { data = [] } = await client.session.messages({ sessionID: session });
  return data.map(({ info, parts }, at) => ({
    id: info.id,
    session,
    info: { ...info },
    parts: parts.map((part) => ({ ...part })),
    until: data[at + 1]?.info.time.created ?? Infinity,
  }));
}

function dataOf(row: Json): Json {
  const data = parsed(textAt(row, "data"));
  return isObject(data) ? data : {};
}
