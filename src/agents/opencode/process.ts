/** One opencode server: started by pawl in its own group, and ended with everything it started. */
import { randomUUID } from "node:crypto";
import { PROCESS_TAG } from "../../platform/environment.ts";
import { start, type Confine } from "../../platform/process.ts";
import { endTree } from "../../platform/process-tree.ts";

/** It ends its tools by itself when it is asked to. */
const TERM_GRACE_MS = 700;
const MAX_WORDS_CHARS = 4_096;
/** What it prints once it can be asked. */
const READY = "listening on";

interface Wanted {
  command: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  confine: Confine | undefined;
}

export interface ServerProcess {
  /** Resolves when it can be asked; also when it has exited instead. */
  readonly ready: Promise<void>;
  /** Resolves with words when it has exited or could not be started. */
  readonly exited: Promise<string>;
  /** Why it had to be ended, and the last it printed. */
  lastWords(): string;
  /** Limits that it or what it started met since the last look. */
  limits(): string[];
  /** SIGTERM, then SIGKILL, to the whole tree. Repeatable, never rejects. */
  end(): Promise<void>;
}

/** Throws when it cannot be started at all. */
export function startServer({ command, args, cwd, env, confine }: Wanted): ServerProcess {
  const tag = randomUUID();
  const { child, held } = start(command, args, {
    cwd,
    env: { ...env, [PROCESS_TAG]: tag },
    stdio: ["ignore", "pipe", "pipe"],
    confine,
  });
  const { stdout, stderr, pid: root } = child;
  const exited = Promise.withResolvers<string>();
  const ready = Promise.withResolvers<void>();
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
  const gone = (how: string): void => {
    exited.resolve(how);
    ready.resolve();
  };

  void held?.tooMuch.then((why) => {
    tooMuch = why;
    met.push(why);
    gone(why);
    void end();
  });
  for (const stream of [stdout, stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      words = (words + chunk).slice(-MAX_WORDS_CHARS);
      if (words.includes(READY)) ready.resolve();
    });
  }
  child.on("exit", (code, signal) => {
    met.push(...(held?.breaches() ?? []));
    tooMuch ||= met.join(", ");
    gone(signal === null ? `exit code ${code}` : signal);
  });
  child.on("error", (error) => gone(error.message));

  return {
    ready: ready.promise,
    exited: exited.promise,
    lastWords() {
      const said = words.split("\n").filter((line) => !line.includes(READY));
      return [tooMuch, said.join("\n").trim()].filter((text) => text !== "").join("; ");
    },
    limits: () => [...met.splice(0), ...(held?.breaches() ?? [])],
    end,
  };
}
