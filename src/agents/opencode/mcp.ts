/** MCP servers as the usual JSON files name them, in the words of opencode's configuration. */
import { PAWL_SERVER } from "../done-call.ts";
import { readMcpFiles, refuseOwnName, unreachable, type NamedServer } from "../mcp-files.ts";
import type { Json } from "./json.ts";

/** The servers of all files, later ones win. Throws UsageError. */
export const readMcpServers = (files: readonly string[], workspace: string): Record<string, Json> =>
  readMcpFiles(files, { workspace, serverOf });

function serverOf(name: string, server: NamedServer, file: string): Json {
  refuseOwnName(name, { own: PAWL_SERVER, file });
  const { command, args = [], env = {}, cwd, url, headers = {} } = server;
  if (typeof url === "string") return { type: "remote", url, headers, oauth: false };
  if (typeof command !== "string") throw unreachable(name, file);
  const rest = Array.isArray(args) ? args.map(String) : [];
  const folder = typeof cwd === "string" ? { cwd } : {};
  return { type: "local", command: [command, ...rest], environment: env, ...folder };
}
