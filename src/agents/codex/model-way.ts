/**
 * One session's way to its model: always through the gateway, which signs the requests, counts them and sees what the
 * model said no with. Codex itself keeps only words of a refusal, and not when it ends.
 */
import { randomInt } from "node:crypto";
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import type { Gateway, GatewayAnswer, RequestWatcher } from "../../platform/gateway.ts";
import { programAt } from "../../platform/fence.ts";
import { relayWords } from "../../platform/fence/relay.ts";
import type { OpenRequest } from "../../ports.ts";
import { usageStream, type UsageStream } from "../acp/usage-stream.ts";
import { brief } from "../outcome.ts";
import type { CodexLogin } from "./login.ts";
import type { Said } from "../refusal.ts";
import { socketName } from "../socket-name.ts";
import { streamEnd } from "../stream-end.ts";
import { note, spentOf } from "./noted.ts";
import { refusalOf } from "./refusal.ts";

/** Inside a fence the program may have another uid; the folder's parent is the user's alone. */
const SHARED = 0o666;
/** Of the loopback inside a fence, where nobody else listens. */
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;
const PATHS = ["/responses", "/models", "/memories", "/alpha"];
const REQUESTS = "/responses";
const FIRST_REFUSAL = 400;
/** Codex names the model first; a conversation of megabytes is not read for it. */
const MODEL = /^\{"model":"([^"\\]+)"/;
const MODEL_WITHIN_BYTES = 512;

export interface Reached {
  /** For the program's configuration. */
  baseUrl: string;
  /** What stands before the program's own words to make that URL reachable; [] where it is already. */
  before: string[];
}

export interface ModelWay {
  reached(): Promise<Reached>;
  /**
   * Of the turn that begins now; `limit`: the request after so many is held until it is given up; `after`: none leaves
   * before that.
   */
  begin(about: {
    uuid: string;
    limit: number | undefined;
    onLimit: () => void;
    after: Promise<void> | undefined;
  }): void;
  /** Requests that left since then. */
  requests(): number;
  /** Which model gave the n-th answer of this turn, from 0. */
  model(n: number): string | undefined;
  /** Looks for these words in the requests of this turn; under the id it tells whether one of them had them. */
  lookFor(id: string, text: string): void;
  carried(id: string): boolean;
  /** What the model last said no with since then, if it has not answered after that. */
  refusal(): Said | undefined;
  takeNotices(): string[];
  /** Words of the program without its right to pass, which stands in the address that it reports. */
  hide(text: string): string;
  /** Cuts what is under way; nothing reaches the model through it any more. Repeatable. */
  close(): Promise<void>;
}

export function modelWay({ home, sockets }: OpenRequest, login: CodexLogin, user: NodeJS.ProcessEnv): ModelWay {
  const name = socketName("codex");
  const port = randomInt(FIRST_PORT, LAST_PORT);
  let turn: string | undefined;
  let requests = 0;
  let asked: string | undefined;
  /** One request is made at a time, so that answers come in the order of what was asked. */
  const answered: (string | undefined)[] = [];
  const wanted = new Map<string, Buffer>();
  const carried = new Set<string>();
  let limit: number | undefined;
  let onLimit: () => void = () => undefined;
  let after: Promise<void> | undefined;
  let said: Said | undefined;
  let failure: string | undefined;
  let pass: string | undefined;
  const opening = open();
  opening.catch(() => undefined);

  async function open(): Promise<Gateway> {
    const { openGateway } = await import("../../platform/gateway.ts");
    return await openGateway({
      upstream: login.upstream,
      paths: PATHS,
      listen: sockets === undefined ? { port: 0 } : { socket: join(sockets.folder, name), mode: SHARED },
      // What it answers is read on the way.
      headers: (sent) => ({ ...sent, ...login.headers(), "accept-encoding": "identity" }),
      async beforeForward({ method, path, body, signal }) {
        if (method !== "POST" || !path.startsWith(REQUESTS)) return;
        const givenUp = new Promise<void>((resolve) =>
          signal.addEventListener("abort", () => resolve(), { once: true }),
        );
        if (limit !== undefined && requests >= limit) {
          onLimit();
          return await givenUp;
        }
        if (after !== undefined) await Promise.race([after, givenUp]);
        if (signal.aborted) return;
        requests += 1;
        if (turn !== undefined) note(home, { turn, is: "left" });
        asked = MODEL.exec(body.toString("utf8", 0, MODEL_WITHIN_BYTES))?.[1];
        for (const [id, words] of wanted) if (body.includes(words) && wanted.delete(id)) carried.add(id);
      },
      onAnswer(answer: GatewayAnswer) {
        if (!answer.path.startsWith(REQUESTS)) return;
        said = refusalOf(answer);
        if (said === undefined) answered.push(asked);
      },
      watch: ({ method, path }) => (method === "POST" && path.startsWith(REQUESTS) ? watcher() : undefined),
      onFailure(error) {
        failure = brief(error.message);
        said = { kind: "connection", status: null, resetAt: undefined };
      },
      environment: user,
    });
  }

  function watcher(): RequestWatcher {
    const [of, model] = [turn, asked ?? ""];
    const end = streamEnd((broken) => (said = broken));
    let usage: UsageStream | undefined;
    return {
      answer(head) {
        end.answer(head);
        if (head.status >= FIRST_REFUSAL || of === undefined) return;
        usage = usageStream(head, {
          onUsage: (_, tokens, response) =>
            note(home, { turn: of, is: "answered", response, model, spent: spentOf(tokens) }),
          onRefusal: () => undefined,
        });
      },
      data(chunk) {
        usage?.take(chunk);
        end.data(chunk);
      },
      end(how) {
        usage?.end();
        end.end(how);
        if (how !== "unsent" || of === undefined) return;
        note(home, { turn: of, is: "unsent" });
        if (of === turn) requests -= 1;
      },
    };
  }

  return {
    async reached() {
      const { url, token } = await opening;
      pass = token;
      if (sockets === undefined) return { baseUrl: url, before: [] };
      const socat = programAt("socat");
      if (socat === undefined) throw new UsageError(NO_RELAY.message, { hint: NO_RELAY.hint });
      const relay = { socat, perl: programAt("perl"), port, socket: join(sockets.at, name), hostPorts: [] };
      return { baseUrl: `http://127.0.0.1:${port}/${token}`, before: relayWords(relay) };
    },
    begin(about) {
      requests = 0;
      asked = undefined;
      answered.length = 0;
      wanted.clear();
      carried.clear();
      said = undefined;
      ({ uuid: turn, limit, onLimit, after } = about);
    },
    requests: () => requests,
    model: (n) => answered[n],
    lookFor: (id, text) => void wanted.set(id, Buffer.from(JSON.stringify(text).slice(1, -1))),
    carried: (id) => carried.has(id),
    refusal: () => said,
    takeNotices() {
      const failed = failure;
      failure = undefined;
      return failed === undefined ? [] : [`the connection to the model failed: ${failed}`];
    },
    hide: (text) => (pass === undefined ? text : text.replaceAll(`/${pass}`, "")),
    async close() {
      const gateway = await opening.catch(() => undefined);
      await gateway?.close();
    },
  };
}

/** Codex speaks to its model over TCP only. */
export const NO_RELAY = {
  message: "codex cannot reach its model through the fence: socat is missing",
  hint: "apt install socat; or --network open, or --fence none",
};
