/** One process of an agent, spoken to over its standard streams: in its own group, ended with everything it started. */
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { PROCESS_TAG } from "../platform/environment.ts";
import { start, type Confine } from "../platform/process.ts";
import { endTree, membersOf } from "../platform/process-tree.ts";

/** It ends its tools by itself when it is asked to. */
const TERM_GRACE_MS = 700;
const MAX_STDERR_CHARS = 4_096;

export interface Wanted {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  confine: Confine | undefined;
}

export type Exit =
  | { is: "code"; code: number }
  /** Killed, ended for its limits, or never started. */
  | { is: "died"; why: string };

export interface Piped {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exit: Promise<Exit>;
  /** The same in words. */
  readonly exited: Promise<string>;
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
export function startPiped({ command, args, cwd, env, confine }: Wanted): Piped {
  const tag = randomUUID();
  const { child, held } = start(command, args, {
    cwd,
    env: { ...env, [PROCESS_TAG]: tag },
    stdio: ["pipe", "pipe", "pipe"],
    confine,
  });
  const { stdin, stdout, stderr, pid: root } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error("started without pipes");
  const exit = Promise.withResolvers<Exit>();
  const met: string[] = [];
  let words = "";
  let tooMuch = "";
  let ending: Promise<void> | undefined;

  const released = (): void => {
    met.push(...(held?.breaches() ?? []));
    held?.release();
  };
  const end = (): Promise<void> => {
    if (root === undefined) return Promise.resolve();
    ending ??= endTree({ root, tag }, { graceMs: TERM_GRACE_MS, wrapped: confine !== undefined }).then(
      released,
      released,
    );
    return ending;
  };

  void held?.tooMuch.then((why) => {
    tooMuch = why;
    met.push(why);
    exit.resolve({ is: "died", why });
    void end();
  });
  stderr.setEncoding("utf8").on("data", (chunk: string) => {
    words = (words + chunk).slice(-MAX_STDERR_CHARS);
  });
  // It may be gone before it has read everything.
  stdin.on("error", () => undefined);
  child.on("exit", (code, signal) => {
    met.push(...(held?.breaches() ?? []));
    tooMuch ||= met.join(", ");
    exit.resolve(code === null ? { is: "died", why: signal ?? "unknown" } : { is: "code", code });
  });
  child.on("error", (error) => exit.resolve({ is: "died", why: error.message }));

  return {
    stdin,
    stdout,
    stderr,
    exit: exit.promise,
    exited: exit.promise.then(exitWords),
    lastWords: () => [tooMuch, words.trim()].filter((text) => text !== "").join("; "),
    limits: () => [...met.splice(0), ...(held?.breaches() ?? [])],
    signal(name) {
      for (const { pid } of root === undefined ? [] : membersOf({ root, tag })) send(pid, name);
    },
    end,
  };
}

export const exitWords = (exit: Exit): string => (exit.is === "code" ? `exit code ${exit.code}` : exit.why);

function send(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone.
  }
}
