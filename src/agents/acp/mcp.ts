/** MCP servers as the usual JSON files name them, in the protocol's words. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../../errors.ts";
import { isObject, objectAt, textAt, type Json } from "./json.ts";

const REMOTE = ["http", "sse"];

/** The servers of all files, later ones win. Throws UsageError. */
export function readMcpServers(files: readonly string[], workspace: string): Json[] {
  const servers = new Map<string, Json>();
  for (const file of files) {
    let content: unknown;
    try {
      content = JSON.parse(readFileSync(resolve(workspace, file), "utf8"));
    } catch (cause) {
      throw new UsageError(`MCP configuration ${file} cannot be read`, { hint: "a JSON file with mcpServers", cause });
    }
    const found = isObject(content) ? content["mcpServers"] : undefined;
    if (!isObject(found)) {
      throw new UsageError(`MCP configuration ${file} has no mcpServers`, { hint: '{"mcpServers": {…}}' });
    }
    for (const [name, server] of Object.entries(found)) servers.set(name, serverOf(name, server, file));
  }
  return [...servers.values()];
}

/** UsageError when the agent does not take servers of a kind. */
export function refuseUnknownKinds(servers: readonly Json[], capabilities: Json): void {
  for (const server of servers) {
    const type = textAt(server, "type");
    if (type === "" || capabilities[type] === true) continue;
    throw new UsageError(`--mcp: this agent takes no MCP servers over ${type}, as ${textAt(server, "name")} is`);
  }
}

function serverOf(name: string, server: unknown, file: string): Json {
  const known = isObject(server) ? server : {};
  const command = textAt(known, "command");
  const url = textAt(known, "url");
  if (command === "" && url === "") {
    throw new UsageError(`MCP configuration ${file}: server ${name} has neither a command nor a url`);
  }
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
