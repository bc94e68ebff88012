/** What a problem of the set is: a question with files, code that errs first, code that is right, the right answer. */
import { join } from "node:path";
import type { Code, ExecutionLimits } from "../../../src/ports/executor.ts";

export const TOPICS = ["csv", "parsing", "optimisation", "plot", "dates", "graph", "simulation", "text"] as const;
type Topic = (typeof TOPICS)[number];

/** How code errs. `wrong-answer` ends well; `missing-file` is an exception or exit that names a file. */
export const ERROR_CLASSES = [
  "exception",
  "syntax",
  "assertion",
  "exit",
  "timeout",
  "killed",
  "memory",
  "disk",
  "output",
  "wrong-answer",
  "missing-file",
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

export interface Attempt extends Code {
  errs: ErrorClass;
  /** In what the model is told, or for a wrong answer in what it prints. */
  tells: string;
}

export interface Problem {
  /** Unique. */
  name: string;
  topic: Topic;
  question: string;
  /** In `data/`; each appears beside the code under its own name. */
  files: readonly string[];
  /** In the order they are tried. */
  attempts: readonly [Attempt, ...Attempt[]];
  right: Code;
  /** All that the right code prints, without the last line's end. Found by another way than that code's. */
  answer: string;
  /** A picture that the right code makes. */
  picture?: { path: string; width: number; height: number };
}

/** Small enough that code which meets one does so at once, large enough for code that is right. */
export const PROBLEM_LIMITS: ExecutionLimits = {
  timeoutMs: 10_000,
  memoryBytes: 96 * 1024 ** 2,
  processes: 32,
  diskBytes: 4 * 1024 ** 2,
  outputBytes: 256 * 1024,
};

const DATA = join(import.meta.dirname, "data");
export const problemFile = (name: string): string => join(DATA, name);

const dedented = (text: string): string => `${text.trim()}\n`;

export const python = (text: string): Code => ({ language: "python", text: dedented(text) });
export const javascript = (text: string): Code => ({ language: "javascript", text: dedented(text) });
export const typescript = (text: string): Code => ({ language: "typescript", text: dedented(text) });
export const shell = (text: string): Code => ({ language: "shell", text: dedented(text) });

export const errs = (how: ErrorClass, tells: string, code: Code): Attempt => ({ ...code, errs: how, tells });
