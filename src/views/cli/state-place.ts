/** Whether pawl's state can be kept where it is to be kept. Looks only. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { UsageError } from "../../errors.ts";

/** The path itself, or the folder above it in which it would be made. */
export function nearestExisting(path: string): string {
  return existsSync(path) || path === dirname(path) ? path : nearestExisting(dirname(path));
}

/** Why nothing can be written there; undefined when it can. */
export function unwritable(dir: string): string | undefined {
  const place = nearestExisting(dir);
  if (!statSync(place).isDirectory()) return `${place} is not a directory`;
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EROFS" ? `${place} is on a read-only file system` : `${place} cannot be written to`;
  }
}

/** Before anything is begun that would have to be kept there. */
export function refuseUnwritable(dir: string): void {
  const why = unwritable(dir);
  if (why === undefined) return;
  throw new UsageError(`pawl cannot keep its state in ${dir}: ${why}`, {
    hint: "set PAWL_HOME to a directory of yours",
  });
}
