/** Where a command's program is, and what has to be readable for it to run inside a fence. */
import { realpathSync } from "node:fs";
import { dirname, sep } from "node:path";
import type { AgentSpec } from "../../spec.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { programPath, readableFor } from "../programs.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the program of a run needs to read. */
export function commandFolders(
  { command }: CommandEntry,
  { options: { bin }, env }: { options: AgentSpec["options"]; env: Environment },
): string[] {
  const program = programPath(typeof bin === "string" ? bin : String(command[0]), env);
  return program === undefined ? [] : programFolders(program);
}

const PACKAGES = `${sep}node_modules${sep}`;

/** Its folder, and that of what it is a link to: with all packages around it where it is one of npm's. */
function programFolders(program: string): string[] {
  const real = realOf(program);
  const within = real.indexOf(PACKAGES);
  const root = within < 0 ? dirname(real) : real.slice(0, within + PACKAGES.length - 1);
  return [...new Set([...readableFor(program), root, real])];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
