/** One process of an agent, spoken to over its standard streams: in its own group, ended with everything it started. */
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { PROCESS_TAG } from "../platform/environment.ts";
import { start, type Confine } from "../platform/process.ts";
import { endTree } from "../platform/process-tree.ts";

/** It ends its tools by itself when it is asked to. */
const TERM_GRACE_MS = 700;
const MAX_STDERR_CHARS = 4_096;

interface Wanted {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  confine: Confine | undefined;
}

export interface Piped {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves with words when it has exited or could not be started. */
  readonly exited: Promise<string>;
  /** Why it had to be ended, and the last it said on its error output. */
  lastWords(): string;
  /** Limits that it or what it started met since the last look. */
  limits(): string[];
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
  const exited = Promise.withResolvers<string>();
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
    exited.resolve(why);
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
    exited.resolve(signal === null ? `exit code ${code}` : signal);
  });
  child.on("error", (error) => exited.resolve(error.message));

  return {
    stdin,
    stdout,
    exited: exited.promise,
    lastWords: () => [tooMuch, words.trim()].filter((text) => text !== "").join("; "),
    limits: () => [...met.splice(0), ...(held?.breaches() ?? [])],
    end,
  };
}
