/**
 * One session's way to its models: always through gateways, one for each provider, which sign the requests, count them
 * and see what a model said no with. opencode itself tells of a refusal only once it has given up.
 */
import { randomInt, randomUUID } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import type { Gateway, GatewayAnswer, HeldRequest, RequestWatcher } from "../../platform/gateway.ts";
import { programAt } from "../../platform/fence.ts";
import { relayWords } from "../../platform/fence/relay.ts";
import type { OpenRequest } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { answerDone, DONE_PATH } from "./done.ts";
import { textAt } from "./json.ts";
import type { Environment, Login } from "./login.ts";
import { kindOf, type Said } from "../refusal.ts";
import { refusalOf } from "./refusal.ts";
import { answerReader, noteSpent, type Spent } from "./spent.ts";
import { socketName } from "../socket-name.ts";

/** Inside a fence the program may have another uid; the folder's parent is the user's alone. */
const FIRST_REFUSAL = 400;
const SHARED = 0o666;
/** Of the loopback inside a fence, where nobody else listens. */
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;
/** What is asked of a model, in the words of each protocol. */
const REQUESTS = ["/messages", "/responses", "/chat/completions", "/models/"];
const PATHS = [...REQUESTS, "/models", DONE_PATH];
/** By which opencode tells whose a request is. */
const SESSION_HEADERS = ["x-session-affinity", "x-opencode-session"];
const PARENT_HEADER = "x-parent-session-id";
const SIGNATURES = ["authorization", "x-api-key", "x-goog-api-key"];

export interface Reached {
  /** Base URLs for the program's configuration, by provider. */
  urls: ReadonlyMap<string, { url: string; token: string }>;
  /** Where the tool of pawl's own is; of whichever gateway. */
  done: string;
  /** What stands before the program's own words to make the URLs reachable; [] where they are already. */
  before: string[];
}

/** Of one turn; `limit`: the request after so many is held until it is given up. */
interface Counting {
  limit: number | undefined;
  onLimit: () => void;
  onSpent: (spent: Spent) => void;
}

export interface ModelWay {
  /** Opens what is not open yet. */
  reached(providers: readonly string[]): Promise<Reached>;
  /** A turn of that session of opencode's begins. */
  begin(session: string, counting: Counting): void;
  /** Requests of it and its subagents that left since then. */
  requests(session: string): number;
  /** What a model last said no with since then, if none has answered after that. */
  refusal(session: string): Said | undefined;
  takeNotices(): string[];
  /** Cuts what is under way; nothing reaches a model through it any more. Repeatable. */
  close(): Promise<void>;
}

interface About {
  logins: readonly Login[];
  user: Environment;
}

interface Way {
  gateway: Promise<Gateway>;
  name: string;
  port: number;
}

interface Turn extends Counting {
  requests: number;
  said: Said | undefined;
}

export function modelWay({ home, sockets }: Pick<OpenRequest, "home" | "sockets">, { logins, user }: About): ModelWay {
  const ways = new Map<string, Way>();
  const ports = new Set<number>();
  const turns = new Map<string, Turn>();
  /** Whose subagent a session is. */
  const roots = new Map<string, string>();
  let failure: string | undefined;

  function turnOf(sent: Readonly<Record<string, unknown>>): Turn | undefined {
    const session = sessionIn(sent);
    const parent = textAt(sent, PARENT_HEADER);
    if (parent !== "") roots.set(session, roots.get(parent) ?? parent);
    return turns.get(roots.get(session) ?? session);
  }

  /** What an answer costs goes to the turn that asked, which may be over by then, and to the disk. */
  function watch({ method, path, headers: sent }: HeldRequest): RequestWatcher | undefined {
    if (method !== "POST" || !isRequest(path)) return undefined;
    const turn = turnOf(sent);
    const [request, session] = [randomUUID(), sessionIn(sent)];
    const read = answerReader({
      onSpent(model, tokens) {
        const spent = { request, session, model, tokens };
        noteSpent(home, spent);
        turn?.onSpent(spent);
      },
      // opencode passes on no more than its words.
      onError(error) {
        if (turn !== undefined) turn.said = { kind: kindOf(error), status: null, resetAt: undefined };
      },
    });
    let isRefused = false;
    return {
      answer: ({ status }) => void (isRefused = status >= FIRST_REFUSAL),
      data: (chunk) => void (isRefused || read(chunk)),
      end(how) {
        if (how === "unsent" && turn !== undefined) turn.requests -= 1;
      },
    };
  }

  async function open(login: Login, name: string): Promise<Gateway> {
    const { openGateway } = await import("../../platform/gateway.ts");
    return await openGateway({
      upstream: login.upstream,
      paths: PATHS,
      listen: sockets === undefined ? { port: 0 } : { socket: join(sockets.folder, name), mode: SHARED },
      headers: (sent, token) => signed(sent, { token, key: login.key() }),
      own: (request) => (request.path === DONE_PATH ? answerDone(request) : undefined),
      async beforeForward({ method, path, headers, signal }) {
        const turn = method === "POST" && isRequest(path) ? turnOf(headers) : undefined;
        if (turn === undefined) return;
        if (turn.limit === undefined || turn.requests < turn.limit) {
          turn.requests += 1;
          return;
        }
        turn.onLimit();
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
      },
      onAnswer(answer: GatewayAnswer) {
        const turn = isRequest(answer.path) ? turnOf(answer.sent) : undefined;
        if (turn !== undefined) turn.said = refusalOf(answer);
      },
      watch,
      onFailure(error) {
        failure = brief(error.message);
        for (const turn of turns.values()) turn.said = { kind: "connection", status: null, resetAt: undefined };
      },
      environment: user,
    });
  }

  function wayTo(provider: string): Way {
    const known = ways.get(provider);
    if (known !== undefined) return known;
    const login = logins.find((one) => one.provider === provider);
    if (login === undefined) throw new UsageError(`opencode has no login for ${provider}`);
    const name = socketName("opencode");
    const way = { name, gateway: open(login, name), port: freshPort(ports) };
    way.gateway.catch(() => undefined);
    ways.set(provider, way);
    return way;
  }

  return {
    async reached(providers) {
      const urls = new Map<string, { url: string; token: string }>();
      const before: string[] = [];
      for (const provider of providers) {
        const { gateway, name, port } = wayTo(provider);
        const { url, token } = await gateway;
        if (sockets === undefined) urls.set(provider, { url, token });
        else {
          before.push(
            ...relayWords({
              socat: relayProgram(),
              perl: programAt("perl"),
              port,
              socket: join(sockets.at, name),
              hostPorts: [],
            }),
          );
          urls.set(provider, { url: `http://127.0.0.1:${port}/${token}`, token });
        }
      }
      const [first] = urls.values();
      return { urls, done: `${first?.url ?? ""}${DONE_PATH}`, before };
    },
    begin: (session, counting) => void turns.set(session, { ...counting, requests: 0, said: undefined }),
    requests: (session) => turns.get(session)?.requests ?? 0,
    refusal: (session) => turns.get(session)?.said,
    takeNotices() {
      const failed = failure;
      failure = undefined;
      return failed === undefined ? [] : [`the connection to the model failed: ${failed}`];
    },
    async close() {
      await Promise.all([...ways.values()].map(async ({ gateway }) => (await gateway.catch(() => undefined))?.close()));
    },
  };
}

const sessionIn = (sent: Readonly<Record<string, unknown>>): string =>
  SESSION_HEADERS.map((name) => textAt(sent, name)).find((id) => id !== "") ?? "";

const isRequest = (path: string): boolean => REQUESTS.some((begin) => path.startsWith(begin));

/** Also for the server itself, which has the same loopback. */
export function freshPort(taken: Set<number>): number {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (taken.has(port)) continue;
    taken.add(port);
    return port;
  }
}

/** The token becomes the key it stands for, in whichever way the provider is signed to. */
function signed(sent: Readonly<Record<string, unknown>>, { token, key }: { token: string; key: string }) {
  const headers: OutgoingHttpHeaders = { ...(sent as OutgoingHttpHeaders) };
  for (const name of SIGNATURES) {
    const value = headers[name];
    if (typeof value === "string") headers[name] = value.replace(token, key);
  }
  // What it answers is read on the way.
  delete headers["accept-encoding"];
  return headers;
}

/** opencode speaks to its model, and is spoken to, over TCP only. */
export const NO_RELAY = {
  message: "opencode cannot be reached through the fence: socat is missing",
  hint: "apt install socat; or --network open, or --fence none",
};

export function relayProgram(): string {
  const socat = programAt("socat");
  if (socat === undefined) throw new UsageError(NO_RELAY.message, { hint: NO_RELAY.hint });
  return socat;
}
