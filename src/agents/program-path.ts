/** Where a program is: by its path, or by its name in the PATH. Starts nothing. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve, sep } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

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
