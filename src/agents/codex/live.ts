/**
 * A running app-server and the conversation of messages with it. What it says is queued for one reader and the stream
 * is held when the reader is slow; between turns nobody reads, and what is said then is dropped.
 */
import { afterReading } from "../../platform/clock.ts";
import { lines } from "../lines.ts";
import type { Piped } from "../piped.ts";
import { isObject, textAt, type CodexWake, type Json, type RequestId } from "./protocol.ts";
import { wakes, type Wake } from "../wakes.ts";

/** How long the stream may still deliver after the process has exited: a child may hold the output open. */
const EXIT_DRAIN_MS = 300;
/** Messages that may wait for the reader before the stream is held, and how few let it go on. */
const QUEUE_HIGH = 512;
const QUEUE_LOW = 64;
const METHOD_NOT_FOUND = -32_601;

export interface Live {
  isDead(): boolean;
  /** Rejects with the program's words, or when it ends first. */
  request(method: string, params: Json): Promise<Json>;
  notify(method: string): void;
  respond(id: RequestId, result: Json): void;
  refuse(id: RequestId): void;
  /** From here on what it says is kept for `next`. */
  listen(): void;
  /** The reader is gone. */
  unlisten(): void;
  /** Like `request`, but the answer comes through `next`. */
  ask(method: string, params: Json): void;
  /** The next thing that happens, at the latest at `deadline` (monotonic ms). */
  next(options: { deadline: number; signal: AbortSignal | undefined }): Promise<Wake<CodexWake>>;
  /** Ends a `next` that waits, as a timer would. */
  nudge(): void;
  limits(): string[];
  /** Ends process and children. Repeatable. */
  end(): Promise<void>;
}

/** `onUnheard`: what it says while nobody listens. */
export function live(process: Piped, onUnheard: (method: string, params: Json) => void = () => undefined): Live {
  const waiting = new Map<RequestId, { resolve: (result: Json) => void; reject: (error: Error) => void }>();
  let sent = 0;
  let listening = false;
  let exited = false;
  const inbox = wakes<CodexWake>((length) => {
    if (length > QUEUE_HIGH) process.stdout.pause();
    else if (length < QUEUE_LOW && process.stdout.isPaused()) process.stdout.resume();
  });

  const put = (item: CodexWake): void => {
    if (listening) inbox.put(item);
  };
  const over = (why: string): void => {
    const words = process.lastWords();
    inbox.over(words === "" ? why : `${why}: ${words}`);
    for (const { reject } of waiting.values()) reject(new Error(inbox.ended()));
    waiting.clear();
  };
  const write = (message: Json): void => {
    if (inbox.ended() === undefined && process.stdin.writable) process.stdin.write(`${JSON.stringify(message)}\n`);
  };
  const refuse = (id: RequestId): void =>
    write({ id, error: { code: METHOD_NOT_FOUND, message: "nobody answers this" } });

  function take(line: string): void {
    const message = parsed(line);
    if (message === undefined) return;
    const { method, id } = message;
    const params = isObject(message["params"]) ? message["params"] : {};
    if (typeof method === "string") {
      if (id === undefined) return listening ? inbox.put({ is: "note", method, params }) : onUnheard(method, params);
      if (!listening) return refuse(id as RequestId);
      return put({ is: "asked", id: id as RequestId, method, params });
    }
    const entry = waiting.get(id as RequestId);
    waiting.delete(id as RequestId);
    const { error, result } = message;
    if (isObject(error)) entry?.reject(new Error(textAt(error, "message") || JSON.stringify(error)));
    else entry?.resolve(isObject(result) ? result : {});
  }

  const reader = lines(take);
  process.stdout.on("data", (chunk: Buffer) => reader.take(chunk));
  const drained = Promise.withResolvers<void>();
  const soon = (act: () => void): void => afterReading(EXIT_DRAIN_MS, act);
  process.stdout.on("close", () => {
    drained.resolve();
    soon(() => over("Codex closed its output"));
  });
  void process.exited.then(async (how) => {
    exited = true;
    soon(drained.resolve);
    await drained.promise;
    over(`Codex ended (${how})`);
  });

  const request = (method: string, params: Json): Promise<Json> =>
    new Promise((resolve, reject) => {
      if (inbox.ended() !== undefined) return reject(new Error(inbox.ended()));
      sent += 1;
      waiting.set(sent, { resolve, reject });
      write({ id: sent, method, params });
    });

  return {
    isDead: () => exited || inbox.ended() !== undefined,
    request,
    notify: (method) => write({ method }),
    respond: (id, result) => write({ id, result }),
    refuse,
    listen() {
      inbox.clear();
      listening = true;
    },
    unlisten() {
      listening = false;
      inbox.clear();
    },
    ask(method, params) {
      request(method, params).then(
        (result) => put({ is: "answered", result }),
        (error: Error) => inbox.ended() === undefined && put({ is: "refused", message: error.message }),
      );
    },
    next: (options) => inbox.next(options),
    nudge: () => inbox.nudge(),
    limits: () => process.limits(),
    async end() {
      await process.end();
      over("Codex was ended");
    },
  };
}

function parsed(line: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
