/** Where a command's program is, and what has to be readable for it to run inside a fence. */
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import type { AgentSpec } from "../../spec.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the program of a run needs to read. */
export function commandFolders(
  { command }: CommandEntry,
  { options: { bin }, env }: { options: AgentSpec["options"]; env: Environment },
): string[] {
  const program = programPath(typeof bin === "string" ? bin : String(command[0]), env);
  return program === undefined ? [] : programFolders(program);
}

/** undefined: there is none. With a slash it is a path, else it is looked for in the PATH. */
export function programPath(name: string, env: Environment): string | undefined {
  const places = name.includes(sep)
    ? [resolve(name)]
    : (env["PATH"] ?? "")
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, name));
  return places.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const PACKAGES = `${sep}node_modules${sep}`;

/** Its folder, and that of what it is a link to: with all packages around it where it is one of npm's. */
function programFolders(program: string): string[] {
  const real = realOf(program);
  const within = real.indexOf(PACKAGES);
  const root = within < 0 ? dirname(real) : real.slice(0, within + PACKAGES.length - 1);
  return [...new Set([dirname(program), root])];
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
