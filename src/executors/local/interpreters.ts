/** Which program runs a language here, and what a person installs where there is none. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Language } from "../../ports/executor.ts";

export type Interpreter = Program | { /** In words: what is missing and how to get it. */ missing: string };

export interface Program {
  /** Absolute. */
  command: string;
  /** Before the program's file. */
  args: readonly string[];
  /** Beside its memory. */
  mappedBytes?: number;
  /** The command is a script that looks for the program; with these words the program tells where it is. */
  ask?: readonly string[];
}

/**
 * The same program prints the same each time, plainly and at once; and leaves nothing but what it means to make. Of what
 * it prints last, none is lost when it is ended.
 */
export const QUIET_ENVIRONMENT: Readonly<Record<string, string>> = {
  PYTHONDONTWRITEBYTECODE: "1",
  PYTHONHASHSEED: "0",
  PYTHONUTF8: "1",
  PYTHON_COLORS: "0",
  MPLBACKEND: "Agg",
  NO_COLOR: "1",
  TERM: "dumb",
};
export const UNWANTED_NAMES: readonly string[] = ["FORCE_COLOR", "COLORTERM"];

const PYTHON_FLAGS = ["-u", "-X", "faulthandler"];
const NODE_FLAGS = ["--disable-warning=ExperimentalWarning", "--disable-warning=MODULE_TYPELESS_PACKAGE_JSON"];
const PYTHON_ASKED = ["-I", "-c", "import sys; print(sys.executable)"];
const MIB = 1024 ** 2;
/** What Node sets aside for compiled code, whether it needs it or not. */
const NODE_MAPPED_BYTES = 640 * MIB;
/** Of the memory that is allowed, so that Node says itself that it has none left; the rest is its own. */
const HEAP_SHARE = 0.75;
const MIN_HEAP_MIB = 32;

interface Where {
  /** The PATH that programs are looked for in. */
  path: string;
  memoryBytes: number;
}

export function interpreterOf(language: Language, { path, memoryBytes }: Where): Interpreter {
  switch (language) {
    case "python": {
      const command = programIn(path, "python3");
      if (command !== undefined)
        return { command, args: PYTHON_FLAGS, ...(isScript(command) ? { ask: PYTHON_ASKED } : {}) };
      return { missing: "Python 3 is not installed: apt install python3, brew install python, or from python.org" };
    }
    case "javascript":
    case "typescript": {
      // The one that runs pawl: new enough to take types away by itself.
      const heapMib = Math.max(MIN_HEAP_MIB, Math.floor((memoryBytes * HEAP_SHARE) / MIB));
      const args = [...NODE_FLAGS, `--max-old-space-size=${heapMib}`];
      return { command: process.execPath, args, mappedBytes: NODE_MAPPED_BYTES };
    }
    case "shell": {
      const command = programIn(path, "bash") ?? programIn("/bin:/usr/bin", "sh");
      return command === undefined ? { missing: "there is no shell: apt install bash" } : { command, args: [] };
    }
  }
}

/** Folders that are not absolute are passed over: they would mean the program's own. */
function programIn(path: string, name: string): string | undefined {
  return path
    .split(":")
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** As version managers put in place of a program; asking it once spares a shell each time. */
function isScript(path: string): boolean {
  const bytes = Buffer.alloc(2);
  const fd = openSync(path, "r");
  try {
    return readSync(fd, bytes, 0, bytes.length, 0) === bytes.length && bytes.toString() === "#!";
  } finally {
    closeSync(fd);
  }
}
