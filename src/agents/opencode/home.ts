/** The folders of one session's server, all below the run's own home, and which of its sessions each of pawl's is. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";

const SAFE_NAME = /^[\w-]+$/;

/** For the four XDG variables. */
export const xdgFolder = (home: string, name: "config" | "data" | "state" | "cache"): string =>
  join(home, "opencode", name);
export const databaseFile = (home: string): string => join(xdgFolder(home, "data"), "opencode", "opencode.db");
/** Directly in the home, whose parent the agent cannot write: nothing above the socket can be made a link. */
export const SOCKET = "opencode.sock";

const sessionFile = (home: string, ref: string): string => join(home, "opencode-sessions", ref);

/** opencode's own name of a session; undefined when there never was one. */
export function sessionOf(home: string, ref: string): string | undefined {
  try {
    return SAFE_NAME.test(ref) ? readFileSync(sessionFile(home, ref), "utf8") : undefined;
  } catch {
    return undefined;
  }
}

export function keepSession(home: string, ref: string, session: string): void {
  makePrivateDir(join(home, "opencode-sessions"));
  writeDurably(sessionFile(home, ref), session);
}
