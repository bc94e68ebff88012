/**
 * Which commands judge the work in a repository, and what makes its dependencies, from the files that are there. Pure:
 * they come as names and texts, so that every kind of project can be tested without making one.
 */
import { commandIn } from "../../../platform/command-folder.ts";
import { fromGo, fromJava, fromMake, fromRust } from "./detect-build-tools.ts";
import { fromNode, nodeSetup } from "./detect-node.ts";
import { fromPython, pythonSetup } from "./detect-python.ts";

export type Purpose = "tests" | "lint" | "types" | "build";

export interface Found {
  purpose: Purpose;
  command: string;
  /** The file that told. */
  from: string;
  /** What must be there beside the command's own program: a program, or `python3:module`. */
  needs?: readonly string[];
  /** The folder below the top where it is run; undefined: the top. */
  folder?: string;
}

/** Makes the dependencies anew from a lockfile. */
export interface Setup {
  command: string;
  from: string;
  /** Where they are; when it is there already, checks get a copy of it. */
  makes: string;
  folder?: string;
}

export interface Files {
  /** Names of files and folders in it. */
  names: ReadonlySet<string>;
  /** The text of a file, by its path; undefined when it is not there or too large. */
  readonly read: (path: string) => string | undefined;
  /** A folder in it, by its path; undefined when there is none. */
  readonly within: (folder: string) => Files | undefined;
}

export interface Detected {
  found: Found[];
  setups: Setup[];
}

const ORDER: readonly Purpose[] = ["tests", "types", "lint", "build"];
const KINDS = [fromNode, fromPython, fromGo, fromRust, fromJava, fromMake];
/** With no project at the top, so many folders in it are looked at. */
const MAX_FOLDERS = 200;
/** Of other people's code, or of none. */
const NOT_PROJECTS: ReadonlySet<string> = new Set(["node_modules", "vendor", "target", "dist", "build", "venv"]);

/**
 * One command for each purpose, tests first; with several kinds of project the first kind that has one. Where there is
 * no project at the top, the same for each folder that is one.
 */
export function detect(files: Files): Detected {
  const top = inOne(files);
  if (top.found.length > 0) return top;
  const folders = [...files.names]
    .filter((name) => !name.startsWith(".") && !NOT_PROJECTS.has(name))
    .toSorted()
    .slice(0, MAX_FOLDERS);
  const below = folders.flatMap((folder) => {
    const inside = files.within(folder);
    return inside === undefined ? [] : [inFolder(folder, inOne(inside))];
  });
  return {
    found: ORDER.flatMap((purpose) => below.flatMap(({ found }) => found.filter((one) => one.purpose === purpose))),
    setups: [...top.setups, ...below.flatMap(({ setups }) => setups)],
  };
}

function inOne(files: Files): Detected {
  const all = KINDS.flatMap((look) => look(files));
  return {
    found: ORDER.flatMap((purpose) => all.find((found) => found.purpose === purpose) ?? []),
    setups: [nodeSetup(files), pythonSetup(files)].filter((setup) => setup !== undefined),
  };
}

function inFolder(folder: string, { found, setups }: Detected): Detected {
  const placed = <T extends { from: string }>(one: T): T & { folder: string } => ({
    ...one,
    from: `${folder}/${one.from}`,
    folder,
  });
  return { found: found.map(placed), setups: setups.map(placed) };
}

/** As it is run at the top of the repository. */
export function commandLine({ command, folder }: Pick<Found, "command" | "folder">): string {
  return commandIn(folder ?? "", command);
}

/** What a check of it is called. */
export const checkName = ({ purpose, folder }: Pick<Found, "purpose" | "folder">): string =>
  folder === undefined ? purpose : `${purpose}-${folder.replaceAll(/[^\w.-]+/g, "-")}`;
