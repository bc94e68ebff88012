/** MCP servers as the usual JSON files name them, in the words of Codex's configuration. */
import { UsageError } from "../../errors.ts";
import { readMcpFiles, unreachable, type NamedServer } from "../mcp-files.ts";
import { isObject, type Json } from "./protocol.ts";

/** Names that the usual files and Codex have in common. */
const SAME = ["command", "args", "env", "cwd", "url"];

/** The servers of all files, later ones win. Throws UsageError. */
export const readMcpServers = (files: readonly string[], workspace: string): Record<string, Json> =>
  readMcpFiles(files, { workspace, serverOf });

function serverOf(name: string, known: NamedServer, file: string): Json {
  if (typeof known["command"] !== "string" && typeof known["url"] !== "string") throw unreachable(name, file);
  if (known["type"] === "sse") {
    throw new UsageError(`MCP configuration ${file}: server ${name} speaks SSE, which codex does not`, {
      hint: 'its "http" address, if it has one',
    });
  }
  const same = Object.entries(known).filter(([key]) => SAME.includes(key));
  const headers = isObject(known["headers"]) ? { http_headers: known["headers"] } : {};
  return { ...Object.fromEntries(same), ...headers };
}
