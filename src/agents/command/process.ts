/** One process for one turn: started in its own group, its prompt on standard input, ended with everything it started. */
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { PROCESS_TAG } from "../../platform/environment.ts";
import { start, type Confine } from "../../platform/process.ts";
import { endTree, membersOf } from "../../platform/process-tree.ts";

/** Between SIGTERM and SIGKILL. */
const TERM_GRACE_MS = 700;
const MAX_STDERR_CHARS = 4_096;
/** Shells and fences tell a signal as an exit code above this. */
const SIGNAL_CODES = 128;

interface Wanted {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  confine: Confine | undefined;
  input: string | undefined;
}

export type Exit =
  | { is: "code"; code: number }
  /** Killed, or never started. */
  | { is: "died"; why: string };

export interface TurnProcess {
  readonly stdout: Readable;
  readonly exited: Promise<Exit>;
  /** When it last said something on its error output, monotonic ms. */
  heardAt(): number;
  /** Why it had to be ended, and the last it said on its error output. */
  lastWords(): string;
  /** Limits that it or what it started met since the last look. */
  limits(): string[];
  /** As Ctrl-C in a terminal reaches everything there. */
  signal(name: NodeJS.Signals): void;
  /** SIGTERM, then SIGKILL, to the whole tree. Repeatable, never rejects. */
  end(): Promise<void>;
}

/** Throws when it cannot be started at all. */
export function startTurnProcess({ command, args, cwd, env, confine, input }: Wanted): TurnProcess {
  const tag = randomUUID();
  const { child, held } = start(command, args, {
    cwd,
    env: { ...env, [PROCESS_TAG]: tag },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    confine,
  });
  const { stdout, stderr, pid: root } = child;
  if (stdout === null || stderr === null) throw new Error("started without pipes");
  const exited = Promise.withResolvers<Exit>();
  const met: string[] = [];
  let [words, tooMuch] = ["", ""];
  let heardAt = 0;
  let ending: Promise<void> | undefined;

  const released = (): void => {
    met.push(...(held?.breaches() ?? []));
    held?.release();
  };
  const end = (): Promise<void> => {
    if (root === undefined) return Promise.resolve();
    const wrapped = confine !== undefined;
    ending ??= endTree({ root, tag }, { graceMs: TERM_GRACE_MS, wrapped }).then(released, released);
    return ending;
  };

  void held?.tooMuch.then((why) => {
    tooMuch = why;
    met.push(why);
    exited.resolve({ is: "died", why });
    void end();
  });
  stderr.setEncoding("utf8").on("data", (chunk: string) => {
    heardAt = performance.now();
    words = (words + chunk).slice(-MAX_STDERR_CHARS);
  });
  // A program that does not read its input breaks the pipe; that is its right.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input);
  child.on("exit", (code, signal) => {
    met.push(...(held?.breaches() ?? []));
    tooMuch ||= met.join(", ");
    exited.resolve(exitOf(code, signal));
  });
  child.on("error", (error) => exited.resolve({ is: "died", why: error.message }));

  return {
    stdout,
    exited: exited.promise,
    heardAt: () => heardAt,
    lastWords: () => [tooMuch, words.trim()].filter((text) => text !== "").join("; "),
    limits: () => [...met.splice(0), ...(held?.breaches() ?? [])],
    signal(name) {
      for (const { pid } of root === undefined ? [] : membersOf({ root, tag })) send(pid, name);
    },
    end,
  };
}

function exitOf(code: number | null, signal: NodeJS.Signals | null): Exit {
  if (code === null) return { is: "died", why: signal ?? "unknown" };
  return code > SIGNAL_CODES ? { is: "died", why: `exit code ${code}` } : { is: "code", code };
}

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}
