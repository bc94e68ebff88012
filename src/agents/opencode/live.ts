/** One session's ear to a server: its stream of events, the answers to its prompts, and the end of its process. */
import { afterReading } from "../../platform/clock.ts";
import { isObject, type Json } from "./json.ts";
import type { ServerProcess } from "./process.ts";
import type { Client } from "./sdk.ts";
import { inboxOf, type Inbox } from "./wakes.ts";

/** How long the stream may still deliver after the process has exited. */
const EXIT_DRAIN_MS = 500;
/** A connection that breaks has a reason, which is told first. */
const BROKEN_GRACE_MS = 1_000;
/** Events that were missed while it was broken would be missing for good. */
const STREAM_TRIES = 1;

export interface Live extends Pick<Inbox, "next" | "nudge"> {
  readonly client: Client;
  /** Resolves once no event can be missed any more; rejects when there will be none. */
  readonly connected: Promise<void>;
  /** Its process has exited or its stream is over. */
  isDead(): boolean;
  /** Events from now on are kept for the reader. */
  listen(): void;
  unlisten(): void;
  /** A prompt, whose answer is one of the things that happen. */
  prompt(body: Parameters<Client["session"]["prompt"]>[0], of: "prompt" | "say"): void;
  /** Limits of the fence that were met since the last look. */
  limits(): string[];
  /** Nothing comes any more; the server goes on. Repeatable. */
  end(): void;
}

interface Parts {
  client: Client;
  /** undefined: a server of somebody else's. */
  process: ServerProcess | undefined;
}

export function live({ client, process }: Parts): Live {
  const inbox = inboxOf();
  const stopped = new AbortController();
  const connected = Promise.withResolvers<void>();
  connected.promise.catch(() => undefined);
  let listening = false;
  let exited = false;

  const over = (why: string): void => {
    const words = process?.lastWords() ?? "";
    const whole = words === "" ? why : `${why}: ${words}`;
    inbox.over(whole);
    connected.reject(new Error(whole));
    stopped.abort();
  };
  const late = (why: string): void => void setTimeout(() => over(why), BROKEN_GRACE_MS).unref();
  void process?.exited.then((how) => {
    exited = true;
    afterReading(EXIT_DRAIN_MS, () => over(`opencode ended (${how})`));
  });

  async function read(): Promise<void> {
    let failure = "";
    const { stream } = await client.event.subscribe(undefined, {
      signal: stopped.signal,
      sseMaxRetryAttempts: STREAM_TRIES,
      onSseError: (error) => (failure = `: ${String(error)}`),
    });
    for await (const event of stream as AsyncIterable<unknown>) {
      // The first is the server's word that it listens.
      connected.resolve();
      if (!listening || !isObject(event)) continue;
      const { type, properties } = event;
      if (typeof type === "string" && isObject(properties)) inbox.put({ is: "event", type, properties });
      await inbox.room();
    }
    late(`the stream of opencode's events ended${failure}`);
  }
  read().catch((error: unknown) => late(String(error)));

  const broken = (error: unknown): void => late(`the connection to opencode broke: ${String(error)}`);

  return {
    client,
    connected: connected.promise,
    isDead: () => exited || inbox.ended() !== undefined,
    listen() {
      inbox.clear();
      listening = true;
    },
    unlisten() {
      listening = false;
      inbox.clear();
    },
    prompt(body, of) {
      client.session
        .prompt(body, { signal: stopped.signal })
        .then(({ data, error }: { data?: unknown; error?: unknown }) => {
          if (error === undefined) inbox.put({ is: "answered", data });
          else if (error instanceof Error) broken(error);
          else inbox.put({ is: "refused", of, error: isObject(error) ? error : nameless(error) });
        }, broken);
    },
    next: (options) => inbox.next(options),
    nudge: () => inbox.nudge(),
    limits: () => process?.limits() ?? [],
    end: () => over("the session was closed"),
  };
}

/** Without words of the server's own. */
const nameless = (error: unknown): Json => ({ name: "UnknownError", data: { message: String(error) } });
