/** Where an agent's program is: named by the user, installed beside pawl, or found in the PATH. Starts nothing. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { UsageError } from "../errors.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Program {
  /** For people. */
  agent: string;
  name: string;
  /** What is installed to have it. */
  packaged: string;
  /** Its packages for this platform, best first, and where the native program lies in each. */
  places: readonly { packaged: string; path: string }[];
}

/** `bin`: as the user named one. undefined: there is none. */
export function programOf(program: Program, bin: unknown, env: Environment): string | undefined {
  return typeof bin === "string" ? programPath(bin, env) : (ownProgram(program) ?? programPath(program.name, env));
}

/** Throws UsageError when there is none. */
export function availableProgram(program: Program, bin: unknown, env: Environment): string {
  const { agent, packaged } = program;
  const found = programOf(program, bin, env);
  if (found !== undefined) return found;
  if (typeof bin === "string") {
    throw new UsageError(`--agent-bin ${bin} is not a program`, { hint: `the path of the ${agent} executable` });
  }
  throw new UsageError(`the ${agent} agent needs the ${agent} program, which is not installed`, {
    hint: `npm install -g ${packaged}, or name one with --agent-bin`,
  });
}

/** The native one beside pawl: a package's own start script costs time and a second process. */
export function ownProgram({ packaged, places }: Program): string | undefined {
  const require = createRequire(import.meta.url);
  for (const place of places) {
    try {
      const from = createRequire(require.resolve(`${packaged}/package.json`));
      const program = join(dirname(from.resolve(`${place.packaged}/package.json`)), place.path);
      if (existsSync(program)) return program;
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}

/** What must be readable for it to run: its folder, and itself where that is not for showing, as a home is. */
export const readableFor = (program: string): string[] => [dirname(program), program];

/** Absolute; undefined: there is none. With a slash it is a path, else it is looked for in the PATH. */
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
