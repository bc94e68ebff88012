/** What an escape is: a script for the inside, and how the outside tells whether it got anywhere. */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Folders and processes of one red-team session; everything in it is a canary. */
export interface Scene {
  /** Writable inside. */
  work: string;
  /** Not visible inside: `canary`, `secret`, `other.sock`, and more of the kind. */
  out: string;
}

export interface Escape {
  name: string;
  /**
   * For a shell inside. It has WORK, OUT, STATE, USER_HOME (folders), LOOT (a file for everything it could read), PORT,
   * UDP_PORT, SOCK, ABSTRACT (listeners outside), CANARY_PID, DRIVER_PID. What it believes to have achieved it appends
   * to $WORK/claims; that it says nothing there is never taken for proof where the outside can look itself.
   */
  script: string;
  /** It harms only canaries outside as well: tried there too, where at least so many things have to be seen of it. */
  works?: number;
  /** Beyond what is looked at after every escape: undefined when it is contained, else what went wrong. */
  wrong?: (scene: Scene) => string | undefined;
}

/** What a script says that did not do what it was written for: then that it got nowhere means nothing. */
export const MISTAKE =
  /^.*(?:: not found|command not found|unrecognized option|invalid option|Illegal number|not a valid|SyntaxError|NameError|No user exists|ENEEDAUTH).*$/m;

/** Every file below, as a path; links are not followed. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
}

export const isEmpty = (path: string): boolean => (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;

export const textOf = (path: string): string =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, "latin1") : "";
