/** One Claude Code process: started by pawl in its own group, and ended with everything it started. */
import { randomUUID } from "node:crypto";
import type { SpawnedProcess, SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { PROCESS_TAG } from "../../platform/environment.ts";
import { endTree } from "../../platform/process-tree.ts";
import { start, type Confine } from "../../platform/process.ts";
import { isSame, type Asked, type Foretold } from "./foretold.ts";
import { shortResults } from "./short-results.ts";

/** It needs about 150 ms to end its own children; they live in sessions of their own. */
const TERM_GRACE_MS = 700;
const MAX_STDERR_CHARS = 4_096;

interface Started {
  /** For the SDK. */
  readonly child: SpawnedProcess;
  /** Resolves when it has exited or could not be started. */
  readonly exited: Promise<string>;
  /** Why it had to be ended, and the last it said on its error output. */
  lastWords(): string;
  /** Limits that it or what it started met since the last look. */
  limits(): string[];
  /** SIGTERM, then SIGKILL, to the whole tree. Repeatable, never rejects. */
  end(): Promise<void>;
}

export interface ClaudeProcess extends Omit<Started, "child"> {
  /** Starts what was foretold; false when nothing was. */
  ahead(): boolean;
  /** For the SDK: what was started ahead, if that is what it asks for. */
  spawn(options: SpawnOptions): SpawnedProcess;
}

interface Setup {
  confine?: Confine | undefined;
  foretold: Foretold;
}

/** `exited` is pending before it is started. */
export function claudeProcess({ confine, foretold }: Setup): ClaudeProcess {
  const exited = Promise.withResolvers<string>();
  let guessed: Started | undefined;
  let current: Started | undefined;
  /** Of one that was started in vain. */
  let ending: Promise<void> | undefined;
  return {
    ahead() {
      if (foretold.asked !== undefined) guessed = started(foretold.asked, { confine });
      return guessed !== undefined;
    },
    spawn({ command, args, cwd, env }) {
      const asked = { command, args, cwd, env };
      const fits = foretold.asked !== undefined && isSame(foretold.asked, asked);
      if (!fits) foretold.learn(asked);
      if (!fits) ending = guessed?.end();
      current = (fits ? guessed : undefined) ?? started(asked, { confine });
      void current.exited.then(exited.resolve);
      return current.child;
    },
    exited: exited.promise,
    lastWords: () => current?.lastWords() ?? "",
    limits: () => current?.limits() ?? [],
    async end() {
      await Promise.all([ending, guessed?.end(), current?.end()]);
    },
  };
}

function started({ command, args, cwd, env }: Asked, { confine }: { confine: Confine | undefined }): Started {
  const tag = randomUUID();
  const exited = Promise.withResolvers<string>();
  let ending: Promise<void> | undefined;
  let words = "";
  let tooMuch = "";
  const met: string[] = [];
  const passed = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { child, held } = start(command, args, {
    cwd,
    env: { ...Object.fromEntries(passed), [PROCESS_TAG]: tag },
    stdio: ["pipe", "pipe", "pipe"],
    confine,
  });

  const released = (): void => {
    met.push(...(held?.breaches() ?? []));
    held?.release();
  };
  function end(): Promise<void> {
    const root = child.pid;
    if (root === undefined) return Promise.resolve();
    ending ??= endTree({ root, tag }, { graceMs: TERM_GRACE_MS, wrapped: confine !== undefined }).then(
      () => released(),
      () => released(),
    );
    return ending;
  }

  void held?.tooMuch.then((why) => {
    tooMuch = why;
    met.push(why);
    exited.resolve(why);
    void end();
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    words = (words + chunk).slice(-MAX_STDERR_CHARS);
  });
  child.on("exit", (code, signal) => {
    met.push(...(held?.breaches() ?? []));
    tooMuch ||= met.join(", ");
    exited.resolve(signal === null ? `exit code ${code}` : signal);
  });
  child.on("error", (error) => exited.resolve(error.message));
  if (child.stdin === null || child.stdout === null) throw new Error("started without pipes");
  return {
    child: withOutput(child as SpawnedProcess, child.stdout.pipe(shortResults())),
    exited: exited.promise,
    lastWords: () => [tooMuch, words.trim()].filter((text) => text !== "").join("; "),
    limits: () => [...met.splice(0), ...(held?.breaches() ?? [])],
    end,
  };
}

/** The same process, with another stream in the place of its output. */
function withOutput(child: SpawnedProcess, stdout: SpawnedProcess["stdout"]): SpawnedProcess {
  return new Proxy(child, {
    get(target, name) {
      if (name === "stdout") return stdout;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
