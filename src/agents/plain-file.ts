/** Files in a folder that agents and their tools can write: a link leads to somebody else's, a pipe would never end. */
import { closeSync, constants, fstatSync, openSync } from "node:fs";

/** A descriptor to read from; undefined for what is no plain file. */
export function openPlain(path: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    if (fstatSync(fd).isFile()) return fd;
  } catch {
    // There is none, or it is a link.
  }
  if (fd !== undefined) closeSync(fd);
  return undefined;
}
