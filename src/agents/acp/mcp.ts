/** MCP servers as the usual JSON files name them, in the protocol's words. */
import { UsageError } from "../../errors.ts";
import { readMcpFiles, unreachable, type NamedServer } from "../mcp-files.ts";
import { objectAt, textAt, type Json } from "./json.ts";

const REMOTE = ["http", "sse"];

/** The servers of all files, later ones win. Throws UsageError. */
export const readMcpServers = (files: readonly string[], workspace: string): Json[] =>
  Object.values(readMcpFiles(files, { workspace, serverOf }));

/** UsageError when the agent does not take servers of a kind. */
export function refuseUnknownKinds(servers: readonly Json[], capabilities: Json): void {
  for (const server of servers) {
    const type = textAt(server, "type");
    if (type === "" || capabilities[type] === true) continue;
    throw new UsageError(`--mcp: this agent takes no MCP servers over ${type}, as ${textAt(server, "name")} is`);
  }
}

function serverOf(name: string, known: NamedServer, file: string): Json {
  const command = textAt(known, "command");
  const url = textAt(known, "url");
  if (command === "" && url === "") throw unreachable(name, file);
  if (command !== "") return { name, command, args: wordsAt(known, "args"), env: pairsAt(known, "env") };
  const type = REMOTE.find((one) => one === known["type"]) ?? "http";
  return { type, name, url, headers: pairsAt(known, "headers") };
}

function wordsAt(server: Json, key: string): string[] {
  const found = server[key];
  return Array.isArray(found) ? found.filter((word) => typeof word === "string") : [];
}

const pairsAt = (server: Json, key: string): { name: string; value: string }[] =>
  Object.entries(objectAt(server, key)).map(([name, value]) => ({ name, value: String(value) }));
