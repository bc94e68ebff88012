/** Runs a program of this folder in a process of its own: as whoever runs the tests, or, for root, as an ordinary user. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { tempDir } from "./temp.ts";

/** Against a hang alone. */
const PROGRAM_LIMIT_MS = 170_000;
const ORDINARY = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--no-new-privs"];
export const isRoot = process.getuid?.() === 0;
export type Who = "self" | "user";
export const WHO: readonly Who[] = isRoot ? ["self", "user"] : ["self"];

export function programAs(who: Who, name: string, ...args: string[]) {
  const program = [process.execPath, join(import.meta.dirname, name), ...args];
  const [command = "", ...rest] = [...(who === "user" ? ORDINARY : []), ...program];
  const env = { PATH: "/usr/bin:/bin", HOME: tempDir("home") };
  return spawnSync(command, rest, { encoding: "utf8", env, timeout: PROGRAM_LIMIT_MS });
}
