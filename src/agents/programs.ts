/** Where an agent's program is: named by the user, installed beside pawl, or found in the PATH. Starts nothing. */
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { UsageError } from "../errors.ts";
import { installCommand } from "../platform/install-command.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Program {
  /** For people. */
  agent: string;
  name: string;
  /** What is installed to have it. */
  packaged: string;
  /** Of that package; undefined: any. */
  version?: string;
  /** Its packages for this platform, best first, and where the native program lies in each. */
  places: readonly { packaged: string; path: string }[];
}

/** `bin`: as the user named one. undefined: there is none. */
export function programOf(program: Program, bin: unknown, env: Environment): string | undefined {
  return typeof bin === "string" ? programPath(bin, env) : (ownProgram(program) ?? programPath(program.name, env));
}

/** Throws UsageError when there is none. */
export function availableProgram(program: Program, bin: unknown, env: Environment): string {
  const { agent, name, packaged, version } = program;
  const found = programOf(program, bin, env);
  if (found !== undefined) return found;
  if (typeof bin === "string") {
    throw new UsageError(`--agent-bin ${bin} is not a program`, { hint: `the path of the ${agent} executable` });
  }
  throw new UsageError(
    `the ${agent} agent needs the program ${name}: there is none beside pawl or in the PATH, and --agent-bin names none`,
    { hint: installCommand(version === undefined ? packaged : `${packaged}@${version}`) },
  );
}

/**
 * The native one of the package beside pawl: its own start script costs time and a second process. What a package depends
 * on lies in its own folder or around it, wherever it was found.
 */
export function ownProgram({ packaged, places }: Program): string | undefined {
  const from = createRequire(packageFile(packaged) ?? import.meta.url);
  for (const place of places) {
    try {
      const program = join(dirname(from.resolve(`${place.packaged}/package.json`)), place.path);
      if (existsSync(program)) return program;
    } catch {
      // Not installed there.
    }
  }
  return undefined;
}

/** A file at the top of the package as pawl would load it; not every package shows its description. */
function packageFile(name: string): string | undefined {
  const require = createRequire(import.meta.url);
  for (const wanted of [`${name}/package.json`, name]) {
    try {
      return require.resolve(wanted);
    } catch {
      // Not installed, or not shown.
    }
  }
  return undefined;
}

/** What must be readable for it to run: its folder, and itself where that is not for showing, as a home is. */
const readableFor = (program: string): string[] => [dirname(program), program];

/** Of the program that a run would start; [] where there is none. */
export function foldersOf(program: Program, bin: unknown, env: Environment): string[] {
  const own = typeof bin === "string" ? undefined : ownProgram(program);
  if (own !== undefined) return [...new Set([own, realOf(own)].flatMap(readableFor))];
  const found = programOf(program, bin, env);
  return found === undefined ? [] : readableForFound(found);
}

const PACKAGES = `${sep}node_modules${sep}`;

/** The same for a program that somebody else installed: it may be a link, and a script that needs the packages around it. */
export function readableForFound(program: string): string[] {
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
