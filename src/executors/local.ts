/**
 * Runs generated code on this machine: Python, JavaScript, TypeScript, shell, in the run's fence with limits of its own
 * for every execution. Whatever the program does, what comes back is an end with a name, and nothing of it still runs.
 */
import { isAbsolute } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { runProcess, type Confine, type ProcessRecord, type ProcessRequest } from "../platform/process.ts";
import type { FenceLimits } from "../platform/fence/limits.ts";
import type { Code, Execution, ExecutionEnd, ExecutionLimits, Executor } from "../ports/executor.ts";
import { endOf } from "./local/end.ts";
import { interpreterOf, QUIET_ENVIRONMENT, UNWANTED_NAMES } from "./local/interpreters.ts";
import { makePrinted } from "./local/printed.ts";
import { filesIn, producedFiles, type Produced } from "./local/produced.ts";
import { programFileName, removePrograms, writeProgram } from "./local/program-file.ts";
import { confineBare } from "./local/bare.ts";

/** Between asking it to end and ending it: it has nothing to save. */
const GRACE_MS = 200;
/** The fence's own processes, and the threads that an interpreter has from its beginning, which count like processes. */
const OWN_TASKS = 24;
/** A full disk or no free process may pass; generated code is not to blame for it. */
const START_TRIES = 3;
const START_PAUSE_MS = 200;

/** A version manager may be slow on a busy machine. */
const ASK_LIMIT_MS = 30_000;
/** Node tells its memory's end before some pages of its own stack. */
const MAX_LAST_WORDS_CHARS = 16 * 1024;

interface Options {
  /** The whole environment the program gets, before what the executor adds to it. */
  environment: Readonly<Record<string, string>>;
  /** What holds it, within these limits; undefined where the run's fence is `none`. */
  confine: ((limits: FenceLimits) => Confine) | undefined;
}

interface About {
  folder: string;
  limits: ExecutionLimits;
}

export function localExecutor({ environment, confine }: Options): Executor {
  const env = {
    ...Object.fromEntries(Object.entries(environment).filter(([name]) => !UNWANTED_NAMES.includes(name))),
    ...QUIET_ENVIRONMENT,
  };
  /** Files are told apart by before and after, so a folder is for one program at a time. */
  const busy = new Map<string, Promise<unknown>>();

  /** What scripts in place of programs stand for. */
  const asked = new Map<string, string>();

  async function attempt(code: Code, { folder, limits }: About, signal: AbortSignal): Promise<Execution> {
    const found = interpreterOf(code.language, { path: env["PATH"] ?? "", memoryBytes: limits.memoryBytes });
    if ("missing" in found) return nothing({ is: "unavailable", reason: found.missing });
    const within: FenceLimits = {
      memoryBytes: limits.memoryBytes,
      ...(found.mappedBytes === undefined ? {} : { mappedBytes: found.mappedBytes }),
      processes: limits.processes + OWN_TASKS,
      fileBytes: limits.diskBytes,
      diskBytes: limits.diskBytes,
    };
    const request = {
      cwd: folder,
      env,
      graceMs: GRACE_MS,
      signal,
      confine: confine === undefined ? confineBare(within) : confine(within),
    };
    if (found.ask !== undefined && !asked.has(found.command)) {
      const real = await tell({ ...request, command: found.command, args: found.ask, timeoutMs: ASK_LIMIT_MS });
      if ("reason" in real) return nothing({ is: "unavailable", reason: real.reason });
      asked.set(found.command, real.command);
    }
    removePrograms(folder);
    const before = await filesIn(folder);
    const [stdout, stderr] = [makePrinted(), makePrinted()];
    writeProgram(folder, code);
    let record: ProcessRecord;
    try {
      record = await started(() =>
        runProcess({
          ...request,
          command: asked.get(found.command) ?? found.command,
          args: [...found.args, programFileName(code.language)],
          timeoutMs: limits.timeoutMs,
          maxOutputBytes: limits.outputBytes,
          apart: true,
          onOutput: (chunk, from) => (from === 0 ? stdout : stderr).write(chunk),
        }),
      );
    } finally {
      removePrograms(folder);
    }
    const produced = producedFiles(before, await filesIn(folder));
    const errors = stderr.printed();
    const lastWords = errors.text.slice(-MAX_LAST_WORDS_CHARS);
    return {
      end: endOf(record, { limits, producedBytes: produced.bytes, fenced: confine !== undefined, lastWords }),
      stdout: stdout.printed(),
      stderr: errors,
      ...told(produced),
      durationMs: record.durationMs,
    };
  }

  async function run(code: Code, about: About, signal: AbortSignal): Promise<Execution> {
    try {
      return await attempt(code, about, signal);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return nothing({ is: "unavailable", reason: `it could not be run: ${reason}` });
    }
  }

  return {
    name: "local",
    run(code, about, signal) {
      const mine = (busy.get(about.folder) ?? Promise.resolve()).then(() => run(code, about, signal));
      busy.set(about.folder, mine);
      return mine.finally(() => {
        if (busy.get(about.folder) === mine) busy.delete(about.folder);
      });
    },
  };
}

/** Where the program is that a script leads to. */
async function tell(request: ProcessRequest): Promise<{ command: string } | { reason: string }> {
  const [stdout, stderr] = [makePrinted(), makePrinted()];
  const onOutput = (chunk: Uint8Array, from: number): void => (from === 0 ? stdout : stderr).write(chunk);
  const { exitCode, startError } = await runProcess({ ...request, apart: true, onOutput });
  const command = stdout.printed().text.trim();
  if (exitCode === 0 && isAbsolute(command)) return { command };
  const why = startError?.message ?? (stderr.printed().text.trim().split("\n").at(-1) || "it says nothing");
  return { reason: `${request.command} does not start: ${why}` };
}

/** Again where the machine could not start a process just now. */
async function started(start: () => Promise<ProcessRecord>): Promise<ProcessRecord> {
  for (let tries = 1; ; tries += 1) {
    const record = await start();
    if (record.startError?.code !== "EAGAIN" || tries >= START_TRIES) return record;
    await pause(START_PAUSE_MS);
  }
}

const told = ({ files, notes }: Produced): Pick<Execution, "files" | "notes"> =>
  notes.length === 0 ? { files } : { files, notes };

const nothing = (end: ExecutionEnd): Execution => ({
  end,
  stdout: { text: "", bytes: 0 },
  stderr: { text: "", bytes: 0 },
  files: [],
  durationMs: 0,
});
