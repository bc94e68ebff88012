/**
 * A running ACP agent and the conversation of messages with it. Requests and answers go through the protocol's library;
 * updates are read here, in order, are held when their reader is slow, and are dropped between turns.
 */
import type { Stream } from "@agentclientprotocol/sdk";
import { afterReading } from "../../platform/clock.ts";
import { lines } from "../lines.ts";
import type { Piped } from "../piped.ts";
import { wakes, type Wake } from "../wakes.ts";
import { isObject, objectAt, parsed, textAt, type Json } from "./json.ts";
import type { Answered } from "./outcome.ts";
import type { ModelNews } from "./request-watch.ts";
import type { Sdk } from "./sdk.ts";
import { counted } from "../../plural.ts";

/** How long the stream may still deliver after the process has exited: a child may hold the output open. */
const EXIT_DRAIN_MS = 300;
/** Updates that may wait for the reader before the stream is held, and how few let it go on. */
const QUEUE_HIGH = 512;
const QUEUE_LOW = 64;
const INTERNAL_ERROR = -32_603;
const UPDATE = "session/update";

export type AcpWake = { is: "update"; update: Json } | { is: "answered"; result: Json } | ErrorAnswer | ModelNews;
type ErrorAnswer = Extract<Answered, { is: "error" }>;

/** What the agent asks of its client. Never rejects. */
export interface ClientSide {
  permission(request: Json): Promise<Json>;
  form(request: Json): Promise<Json>;
}

export interface Connection {
  isDead(): boolean;
  /** Rejects with an AgentError, or with words when the program ends first. */
  request(method: string, params: Json): Promise<Json>;
  notify(method: string, params: Json): void;
  /** From here on what is told of this session is kept for `next`. */
  listen(session: string): void;
  /** The reader is gone. */
  unlisten(): void;
  put(news: ModelNews): void;
  /** Like `request`, but the answer comes through `next`. */
  ask(method: string, params: Json): void;
  /** The next thing that happens, at the latest at `deadline` (monotonic ms). */
  next(options: { deadline: number; signal: AbortSignal | undefined }): Promise<Wake<AcpWake>>;
  /** Ends a `next` that waits, as a timer would. */
  nudge(): void;
  /** What met a limit since the last look, in words. */
  limits(): string[];
  /** Ends process and children. Repeatable. */
  end(): Promise<void>;
}

/** An agent's own answer that it will not. */
export class AgentError extends Error {
  readonly answer: ErrorAnswer;
  constructor(answer: ErrorAnswer) {
    super(answer.message);
    this.name = "AgentError";
    this.answer = answer;
  }
}

export function connection(process: Piped, { sdk, side }: { sdk: Sdk; side: ClientSide }): Connection {
  let session: string | undefined;
  let exited = false;
  let tooLong = 0;
  const inbox = wakes<AcpWake>((length) => {
    if (length > QUEUE_HIGH) process.stdout.pause();
    else if (length < QUEUE_LOW && process.stdout.isPaused()) process.stdout.resume();
  });
  const put = (item: AcpWake): void => {
    if (session !== undefined) inbox.put(item);
  };
  const stream = messages(process, (params) => {
    if (textAt(params, "sessionId") === session) put({ is: "update", update: objectAt(params, "update") });
  });
  const { agent, close } = connect(sdk, { stream: stream.pair, side });

  const over = (why: string): void => {
    const words = process.lastWords();
    inbox.over(words === "" ? why : `${why}: ${words}`);
    close();
  };
  process.stdout.on("close", () => over("the agent ended"));
  void process.exited.then((how) => {
    exited = true;
    afterReading(EXIT_DRAIN_MS, () => over(`the agent ended (${how})`));
  });

  async function request(method: string, params: Json): Promise<Json> {
    try {
      const result: unknown = await agent.request(method, params);
      return isObject(result) ? result : {};
    } catch (error) {
      const ended = inbox.ended();
      if (ended !== undefined || exited) throw new Error(ended ?? "the agent ended", { cause: error });
      throw new AgentError(answerOf(error));
    }
  }

  return {
    isDead: () => exited || inbox.ended() !== undefined,
    request,
    notify: (method, params) => void agent.notify(method, params).catch(() => undefined),
    listen(id) {
      inbox.clear();
      session = id;
    },
    unlisten() {
      session = undefined;
      inbox.clear();
    },
    put,
    ask(method, params) {
      request(method, params).then(
        (result) => put({ is: "answered", result }),
        (error: unknown) => error instanceof AgentError && put(error.answer),
      );
    },
    next: (options) => inbox.next(options),
    nudge: () => inbox.nudge(),
    limits() {
      const more = stream.dropped() - tooLong;
      tooLong += more;
      return [
        ...process.limits(),
        ...(more === 0 ? [] : [`${counted(more, "message")} of the agent too long to be read`]),
      ];
    },
    async end() {
      await process.end();
      over("the agent was ended");
    },
  };
}

function answerOf(error: unknown): ErrorAnswer {
  const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
  return { is: "error", code: typeof code === "number" ? code : INTERNAL_ERROR, message: String(message), data };
}

interface Peer {
  agent: {
    request(method: string, params: Json): Promise<unknown>;
    notify(method: string, params: Json): Promise<void>;
  };
  close: () => void;
}

function connect(sdk: Sdk, { stream, side }: { stream: Stream; side: ClientSide }): Peer {
  const params = (given: unknown): Json => (isObject(given) ? given : {});
  const { client } = sdk.methods;
  const connected = sdk
    .client({ name: "pawl" })
    .onRequest(client.session.requestPermission as string, params, ({ params: asked }) => side.permission(asked))
    .onRequest(client.elicitation.create as string, params, ({ params: asked }) => side.form(asked))
    .connect(stream);
  return {
    agent: {
      request: (method, given) => connected.agent.request<unknown, Json>(method, given),
      notify: (method, given) => connected.agent.notify<Json>(method, given),
    },
    close: () => connected.close(),
  };
}

/** The library's messages over the program's streams, without updates and without what it would only complain about. */
function messages(process: Piped, onUpdate: (params: Json) => void): { pair: Stream; dropped(): number } {
  const unanswered = new Set<unknown>();
  let controller: ReadableStreamDefaultController | undefined;
  let isOpen = true;
  const readable = new ReadableStream({
    start: (given) => void (controller = given),
    cancel: () => void (isOpen = false),
  });
  const close = (): void => {
    if (isOpen) controller?.close();
    isOpen = false;
  };
  function take(line: string): void {
    const message = parsed(line);
    if (message === undefined || !isOpen) return;
    const { method, id } = message;
    if (method === UPDATE) return onUpdate(objectAt(message, "params"));
    // Other news is for clients that know its words; an answer that nobody waits for is none.
    const isWanted = typeof method === "string" ? id !== undefined : unanswered.delete(id);
    if (isWanted) controller?.enqueue(message);
  }
  const reader = lines(take);
  process.stdout.on("data", (chunk: Buffer) => reader.take(chunk));
  process.stdout.on("close", close);
  const writable = new WritableStream<object>({
    write(message) {
      if ("method" in message && "id" in message) unanswered.add(message.id);
      if (process.stdin.writable) process.stdin.write(`${JSON.stringify(message)}\n`);
    },
  });
  return { pair: { readable, writable }, dropped: () => reader.dropped() };
}
