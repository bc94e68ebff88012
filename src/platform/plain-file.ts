/** Files in a folder that others can write to: what is a link, or behind one, is nothing of the program's that left it. */
import { lstatSync, realpathSync } from "node:fs";
import { join, relative } from "node:path";

/** Its real path; undefined when there is no such file, or a link on the way from the folder to it. */
export function plainFileIn(folder: string, file: string): string | undefined {
  try {
    const real = join(realpathSync(folder), relative(folder, file));
    return realpathSync(file) === real && lstatSync(real).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}
