/** MCP servers as the usual JSON files name them, in the words of Codex's configuration. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../../errors.ts";
import { isObject, type Json } from "./protocol.ts";

/** Names that the usual files and Codex have in common. */
const SAME = ["command", "args", "env", "cwd", "url"];

/** The servers of all files, later ones win. Throws UsageError. */
export function readMcpServers(files: readonly string[], workspace: string): Record<string, Json> {
  const servers: Record<string, Json> = {};
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
    for (const [name, server] of Object.entries(found)) servers[name] = serverOf(name, server, file);
  }
  return servers;
}

function serverOf(name: string, server: unknown, file: string): Json {
  const known = isObject(server) ? server : {};
  if (typeof known["command"] !== "string" && typeof known["url"] !== "string") {
    throw new UsageError(`MCP configuration ${file}: server ${name} has neither a command nor a url`);
  }
  if (known["type"] === "sse") {
    throw new UsageError(`MCP configuration ${file}: server ${name} speaks SSE, which codex does not`, {
      hint: 'its "http" address, if it has one',
    });
  }
  const same = Object.entries(known).filter(([key]) => SAME.includes(key));
  const headers = isObject(known["headers"]) ? { http_headers: known["headers"] } : {};
  return { ...Object.fromEntries(same), ...headers };
}
