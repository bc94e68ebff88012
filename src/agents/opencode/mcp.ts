/** MCP servers as the usual JSON files name them, in the words of opencode's configuration. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../../errors.ts";
import { PAWL_SERVER } from "./done.ts";
import { isObject, parsed, type Json } from "./json.ts";

/** The servers of all files, later ones win. Throws UsageError. */
export function readMcpServers(files: readonly string[], workspace: string): Record<string, Json> {
  const servers: Record<string, Json> = {};
  for (const file of files) {
    const content = parsed(read(file, workspace));
    const found = isObject(content) ? content["mcpServers"] : undefined;
    if (!isObject(found)) {
      throw new UsageError(`MCP configuration ${file} has no mcpServers`, { hint: 'JSON: {"mcpServers": {…}}' });
    }
    for (const [name, server] of Object.entries(found)) servers[name] = serverOf(name, server, file);
  }
  return servers;
}

function read(file: string, workspace: string): string {
  try {
    return readFileSync(resolve(workspace, file), "utf8");
  } catch (cause) {
    throw new UsageError(`MCP configuration ${file} cannot be read`, { hint: "a JSON file with mcpServers", cause });
  }
}

function serverOf(name: string, server: unknown, file: string): Json {
  if (name === PAWL_SERVER) {
    throw new UsageError(`MCP configuration ${file} has a server named ${PAWL_SERVER}, which is pawl's own`, {
      hint: "give it another name",
    });
  }
  const { command, args = [], env = {}, cwd, url, headers = {} } = isObject(server) ? server : {};
  if (typeof url === "string") return { type: "remote", url, headers, oauth: false };
  if (typeof command !== "string") {
    throw new UsageError(`MCP configuration ${file}: server ${name} has neither a command nor a url`);
  }
  const rest = Array.isArray(args) ? args.map(String) : [];
  const folder = typeof cwd === "string" ? { cwd } : {};
  return { type: "local", command: [command, ...rest], environment: env, ...folder };
}
