/**
 * Which commands judge the work in a repository, from the files at its top. Pure: what is there comes as names and
 * texts, so that every kind of project can be tested without making one.
 */
import { fromGo, fromJava, fromMake, fromRust } from "./detect-build-tools.ts";
import { fromNode } from "./detect-node.ts";
import { fromPython } from "./detect-python.ts";

export type Purpose = "tests" | "lint" | "types" | "build";

export interface Found {
  purpose: Purpose;
  command: string;
  /** The file that told. */
  from: string;
}

export interface Files {
  /** Names of files and folders at the top of the repository. */
  names: ReadonlySet<string>;
  /** The text of one of them; undefined when it is not there or too large. */
  readonly read: (name: string) => string | undefined;
}

const ORDER: readonly Purpose[] = ["tests", "types", "lint", "build"];

/** One command for each purpose, tests first; with several kinds of project the first kind that has one. */
export function detect(files: Files): Found[] {
  const all = [fromNode, fromPython, fromGo, fromRust, fromJava, fromMake].flatMap((look) => look(files));
  return ORDER.flatMap((purpose) => all.find((found) => found.purpose === purpose) ?? []);
}
