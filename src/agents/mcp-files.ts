/** MCP servers as the usual JSON files name them. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { UsageError } from "../errors.ts";

export type NamedServer = Readonly<Record<string, unknown>>;

/** The servers of all files by name, later ones win, in an agent's words. Throws UsageError. */
export function readMcpFiles<T>(
  files: readonly string[],
  { workspace, serverOf }: { workspace: string; serverOf: (name: string, server: NamedServer, file: string) => T },
): Record<string, T> {
  const servers = new Map<string, T>();
  for (const file of files) {
    const found = objectOf(objectOf(read(file, workspace))?.["mcpServers"]);
    if (found === undefined) {
      throw new UsageError(`MCP configuration ${file} has no mcpServers`, { hint: '{"mcpServers": {…}}' });
    }
    for (const [name, server] of Object.entries(found)) servers.set(name, serverOf(name, objectOf(server) ?? {}, file));
  }
  return Object.fromEntries(servers);
}

export const unreachable = (name: string, file: string): UsageError =>
  new UsageError(`MCP configuration ${file}: server ${name} has neither a command nor a url`);

/** Throws UsageError for a server that is called like pawl's own. */
export function refuseOwnName(name: string, { own, file }: { own: string; file: string }): void {
  if (name !== own) return;
  throw new UsageError(`MCP configuration ${file} has a server named ${own}, which is pawl's own`, {
    hint: "give it another name",
  });
}

function read(file: string, workspace: string): unknown {
  try {
    return JSON.parse(readFileSync(resolve(workspace, file), "utf8")) as unknown;
  } catch (cause) {
    throw new UsageError(`MCP configuration ${file} cannot be read`, { hint: "a JSON file with mcpServers", cause });
  }
}

function objectOf(value: unknown): NamedServer | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as NamedServer) : undefined;
}
