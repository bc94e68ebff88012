/** Whether the programs a check command names exist: asked before a run starts, and after a shell did not find one. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";
import { folderOf } from "../platform/command-folder.ts";

/** What a POSIX shell answers itself. */
const SHELL_WORDS = new Set(
  (
    "! . : [ alias bg break case cd command continue do done echo elif else esac eval exec exit export false fc fg fi " +
    "for getopts hash if in jobs kill local printf pwd read readonly return set shift source test then times trap true " +
    "type ulimit umask unalias unset until wait while { }"
  ).split(" "),
);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;
const MAX_COMPLAINT_CHARS = 500;
const PLAIN_WORD = /^[A-Za-z0-9_./+:@%,~-]+$/;

interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** A program of the tree, such as `.venv/bin/python`, may be made before the command is run. */
  hasSetup?: boolean;
}

/**
 * False only when the command's first word is a plain program name that is nowhere to be found. What only a shell can
 * tell (quotes, substitutions, compound commands) counts as existing.
 */
export function commandExists(commandLine: string, { env, cwd, hasSetup = false }: Surroundings): boolean {
  const { folder, command } = folderOf(commandLine);
  if (folder !== "") return commandExists(command, { env, cwd: resolve(cwd, folder), hasSetup });
  const words = commandLine.trim().split(/[\s;&|<>()]+/);
  const word = words.find((each) => !ASSIGNMENT.test(each));
  if (word === undefined || !PLAIN_WORD.test(word) || word.startsWith("~") || SHELL_WORDS.has(word)) return true;
  // An assignment with quotes or a substitution may hold the blanks this was split at.
  if (words.slice(0, words.indexOf(word)).some((each) => /['"`$\\]/.test(each))) return true;
  if (word.includes("/")) return isProgram(resolve(cwd, word)) || (hasSetup && !isAbsolute(word));
  return (env["PATH"] ?? "").split(delimiter).some((folder) => isProgram(resolve(cwd, folder, word)));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * The program that the shell called `shellName` says it could not find or run, if its name is looked up in PATH: the
 * machine lacks it. A missing file of the tree (`./test.sh`) is the tree's own failure and not returned.
 */
export function missingProgram(output: string, { shellName }: { shellName: string }): string | undefined {
  const prefix = `${shellName}: `;
  const said = output.split("\n").findLast((line) => line.startsWith(prefix));
  const found = /^(?:line )?(?:\d+: )?(.+?): (?:command )?(?:not found|permission denied|cannot execute.*)$/i.exec(
    said?.slice(prefix.length, MAX_COMPLAINT_CHARS).trim() ?? "",
  )?.[1];
  return found === undefined || found.includes("/") ? undefined : found;
}
