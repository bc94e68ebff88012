/** One Claude Code process: started by pawl in its own group, and ended with everything it started. */
import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { SpawnedProcess, SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { PROCESS_TAG } from "../../platform/environment.ts";
import { endTree } from "../../platform/process-tree.ts";
import type { Held } from "../../platform/fence/held.ts";
import { start, type Confine } from "../../platform/process.ts";

/** It needs about 150 ms to end its own children; they live in sessions of their own. */
const TERM_GRACE_MS = 700;
const MAX_STDERR_CHARS = 4_096;

export interface ClaudeProcess {
  /** For the SDK. */
  spawn(options: SpawnOptions): SpawnedProcess;
  /** Resolves when the process has exited or could not be started; pending before it is started. */
  readonly exited: Promise<string>;
  /** Why it had to be ended, and the last it said on its error output. */
  lastWords(): string;
  /** Limits that it or what it started met since the last look. */
  limits(): string[];
  /** SIGTERM, then SIGKILL, to the whole tree. Repeatable, never rejects. */
  end(): Promise<void>;
}

export function claudeProcess({ confine }: { confine?: Confine | undefined } = {}): ClaudeProcess {
  const tag = randomUUID();
  const exited = Promise.withResolvers<string>();
  let child: ChildProcess | undefined;
  let ending: Promise<void> | undefined;
  let words = "";
  let tooMuch = "";
  let held: Held | undefined;
  const met: string[] = [];

  function end(): Promise<void> {
    const root = child?.pid;
    if (root === undefined) return Promise.resolve();
    ending ??= endTree({ root, tag }, { graceMs: TERM_GRACE_MS, wrapped: confine !== undefined }).then(
      () => released(),
      () => released(),
    );
    return ending;
  }

  const released = (): void => {
    met.push(...(held?.breaches() ?? []));
    held?.release();
  };

  return {
    spawn({ command, args, cwd, env }) {
      const passed = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
      const { child: spawned, held: holding } = start(command, args, {
        cwd,
        env: { ...Object.fromEntries(passed), [PROCESS_TAG]: tag },
        stdio: ["pipe", "pipe", "pipe"],
        confine,
      });
      child = spawned;
      held = holding;
      void held?.tooMuch.then((why) => {
        tooMuch = why;
        met.push(why);
        exited.resolve(why);
        void end();
      });
      spawned.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
        words = (words + chunk).slice(-MAX_STDERR_CHARS);
      });
      spawned.on("exit", (code, signal) => {
        const how = signal === null ? `exit code ${code}` : signal;
        met.push(...(held?.breaches() ?? []));
        tooMuch ||= met.join(", ");
        exited.resolve(how);
      });
      spawned.on("error", (error) => exited.resolve(error.message));
      if (spawned.stdin === null || spawned.stdout === null) throw new Error("started without pipes");
      return spawned as SpawnedProcess;
    },
    exited: exited.promise,
    lastWords: () => [tooMuch, words.trim()].filter((text) => text !== "").join("; "),
    limits: () => [...met.splice(0), ...(held?.breaches() ?? [])],
    end,
  };
}
