/** One Claude Code process: started by pawl in its own group, and ended with everything it started. */
import { randomUUID } from "node:crypto";
import type { Transform } from "node:stream";
import type { SDKUserMessage, SpawnedProcess, SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { PROCESS_TAG } from "../../platform/environment.ts";
import { endTree } from "../../platform/process-tree.ts";
import { start, type Confine } from "../../platform/process.ts";
import { isSame, type Asked, type Foretold } from "./foretold.ts";
import { heardInput } from "./heard-input.ts";
import { heldOutput, type HeldOutput } from "./held-output.ts";
import { helloLine, messageLine, openingOf, type Said } from "./opening.ts";
import { shortResults } from "./short-results.ts";

/** It needs about 150 ms to end its own children; they live in sessions of their own. */
const TERM_GRACE_MS = 700;
const MAX_STDERR_CHARS = 4_096;
/** How long the SDK may be waited with after the first message, whatever the program says: several times its own start. */
const MAX_ALONE_MS = 3_000;
/**
 * What a request to the model may take to leave, through this process, which loads nothing meanwhile: on a machine with far
 * too much to do it was half of this. An answer that comes sooner brings the SDK at once.
 */
const REQUEST_MS = 1_000;

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
  /** Starts what was foretold, and says to it what the SDK will say first, as far as that is known. */
  ahead(): "nothing" | "started" | "spoken-to";
  /** Resolves when the SDK has to be there. */
  readonly needsSdk: Promise<void>;
  /** The first message, which the SDK is going to say: said at once where that is possible. */
  say(message: SDKUserMessage): void;
  /** For the SDK: what was started ahead, if that is what it asks for. Throws when it is too late for another. */
  spawn(options: SpawnOptions): SpawnedProcess;
}

interface Setup {
  confine?: Confine | undefined;
  foretold: Foretold;
}

/** Started, and what was said to it, before the SDK could ask for it. */
interface Guessed extends Started {
  said: { id: string; hello: string; message: string | undefined } | undefined;
  held: HeldOutput | undefined;
}

/** `exited` is pending before it is started. */
export function claudeProcess({ confine, foretold }: Setup): ClaudeProcess {
  const { asked: expected, opening, append } = foretold;
  const exited = Promise.withResolvers<string>();
  const needsSdk = Promise.withResolvers<void>();
  let guessed: Guessed | undefined;
  let current: Started | undefined;
  let first: SDKUserMessage | undefined;
  /** Of one that was started in vain. */
  let ending: Promise<void> | undefined;

  const needSdkIn = (ms: number): void => void setTimeout(() => needsSdk.resolve(), ms).unref();

  function begin(asked: Asked): Guessed {
    const onRequest = (): void => needSdkIn(REQUEST_MS);
    const held = opening === undefined ? undefined : heldOutput({ onRequest, onMore: () => needsSdk.resolve() });
    const one = started(asked, { confine, output: held?.stream });
    void one.exited.then(() => needsSdk.resolve());
    if (opening === undefined) return { ...one, held, said: undefined };
    // That it has ended is told by its exit.
    one.child.stdin.on("error", () => undefined);
    const id = randomUUID();
    const hello = helloLine(opening, { id, append });
    one.child.stdin.write(hello);
    return { ...one, held, said: { id, hello, message: undefined } };
  }

  function learn(asked: Asked, said: Said): void {
    const learned = first === undefined ? undefined : openingOf(said, { append, message: first });
    if (learned !== undefined) foretold.learn(asked, learned);
  }

  /** What the SDK gets of it. */
  function heard(one: Started, asked: Asked, ahead?: Guessed): SpawnedProcess {
    const other = (): void => {
      foretold.learn(asked);
      ending = one.end();
    };
    const stdin = heardInput(one.child.stdin, {
      ahead: ahead?.said,
      onHello: (id) => ahead?.held?.release({ from: ahead.said?.id ?? "", to: id }),
      onOther: other,
      onFirst: (said) => learn(asked, said),
    });
    return withStream(one.child, "stdin", stdin);
  }

  return {
    ahead() {
      if (expected !== undefined) guessed = begin(expected);
      if (guessed?.said !== undefined) return "spoken-to";
      needsSdk.resolve();
      return guessed === undefined ? "nothing" : "started";
    },
    needsSdk: needsSdk.promise,
    say(message) {
      if (first !== undefined) return;
      first = message;
      needSdkIn(MAX_ALONE_MS);
      if (opening === undefined || guessed?.said === undefined || current !== undefined) return;
      guessed.said.message = messageLine(opening, message);
      guessed.child.stdin.write(guessed.said.message);
    },
    spawn({ command, args, cwd, env }) {
      const asked = { command, args, cwd, env };
      const fits = expected !== undefined && isSame(expected, asked);
      if (!fits) foretold.learn(asked);
      if (!fits) ending = guessed?.end();
      // A request may have been made, and what was said is in the conversation.
      if (!fits && guessed?.said?.message !== undefined)
        throw new Error("the SDK asks for another start than last time");
      const ahead = fits ? guessed : undefined;
      current = ahead ?? started(asked, { confine });
      void current.exited.then(exited.resolve);
      return heard(current, asked, ahead);
    },
    exited: exited.promise,
    lastWords: () => (current ?? guessed)?.lastWords() ?? "",
    limits: () => (current ?? guessed)?.limits() ?? [],
    async end() {
      await Promise.all([ending, guessed?.end(), current?.end()]);
    },
  };
}

/** `output`: what its output passes first. */
function started(
  { command, args, cwd, env }: Asked,
  { confine, output }: { confine: Confine | undefined; output?: Transform | undefined },
): Started {
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
  const stdout = output === undefined ? child.stdout : child.stdout.pipe(output);
  return {
    child: withStream(child as SpawnedProcess, "stdout", stdout.pipe(shortResults())),
    exited: exited.promise,
    lastWords: () => [tooMuch, words.trim()].filter((text) => text !== "").join("; "),
    limits: () => [...met.splice(0), ...(held?.breaches() ?? [])],
    end,
  };
}

/** The same process, with another stream in the place of its own. */
function withStream(child: SpawnedProcess, which: "stdin" | "stdout", stream: unknown): SpawnedProcess {
  return new Proxy(child, {
    get(target, name) {
      if (name === which) return stream;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
