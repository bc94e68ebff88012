/**
 * Runs generated code and says what came of it. The same shape wherever it ran: in pawl's own fence, or in the sandbox of
 * the model's provider.
 */

export const LANGUAGES = ["python", "javascript", "typescript", "shell"] as const;
export type Language = (typeof LANGUAGES)[number];

/**
 * How the file is called that a program is run from, without its ending: programs say it in what they print about their
 * own errors. It is no result of the program.
 */
export const PROGRAM_NAME = ".pawl-program";

export interface Code {
  language: Language;
  text: string;
}

export interface ExecutionLimits {
  timeoutMs: number;
  memoryBytes: number;
  processes: number;
  diskBytes: number;
  /** Of stdout and of stderr each; more ends the program. */
  outputBytes: number;
}

export type ExecutionEnd =
  | { is: "exit"; code: number }
  | { is: "signal"; signal: string }
  | { is: "timeout"; afterMs: number }
  /** A limit was met: memory, processes, disk, output; in words for the model and for people. */
  | { is: "limit"; which: "memory" | "processes" | "disk" | "output"; message: string }
  /** It never ran: no interpreter, no fence, the container is gone. Not the code's fault. */
  | { is: "unavailable"; reason: string };

/** What a program printed: its first and last part, with a mark between, where it is longer. */
export interface Printed {
  text: string;
  /** Of the whole. */
  bytes: number;
  /** Between the two parts there was more, which nobody has kept. */
  isCut?: true;
}

/** A file that is new or another than before, below the folder it ran in. */
export interface ProducedFile {
  path: string;
  bytes: number;
}

export interface Execution {
  end: ExecutionEnd;
  stdout: Printed;
  stderr: Printed;
  /** In the order of their paths; at most MAX_PRODUCED_FILES. */
  files: readonly ProducedFile[];
  /** What is not among the files, in words: links, pipes, more than can be listed. Absent: nothing. */
  notes?: readonly string[];
  durationMs: number;
}

export const MAX_PRODUCED_FILES = 100;

/** Never rejects: what goes wrong is an end. Afterwards no process of it is left. */
export interface Executor {
  readonly name: string;
  /** In the folder, which is the program's working directory and all it can write to. */
  run(code: Code, about: { folder: string; limits: ExecutionLimits }, signal: AbortSignal): Promise<Execution>;
}

/** Code that a model ran by itself, in the sandbox of its provider. */
export interface OwnExecution {
  language: Language;
  code: string;
  execution: Execution;
  /** undefined: there was none. `expiresAt`: wall clock, ms since 1970. */
  container: { id: string; expiresAt: number } | undefined;
  /** What it produced, with the provider's name for each. */
  files: readonly (ProducedFile & { fileId: string })[];
}

/** Where the generated code of a run is run. */
export interface CodeRoom {
  executor: Executor;
  /**
   * The folder for the code of a step, with what was given and the files of the steps it builds on; of no step: the
   * workspace itself. Repeatable: without what a program of the same turn left that nobody saw the end of. `isFirst`: no
   * program of this step has run yet; what another step of that name left is gone.
   */
  folder(of: { step: string | undefined; needs: readonly string[]; turn: number; isFirst: boolean }): Promise<string>;
  /** Takes away what stands in the workspace under these names and is no file: a program may have put anything there. */
  makeWay(names: readonly string[]): void;
  /** Takes away what stands there under these names. */
  remove(names: readonly string[]): void;
}
