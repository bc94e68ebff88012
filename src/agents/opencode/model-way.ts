/**
 * One session's way to its models: always through gateways, one for each provider, which sign the requests, count them
 * and see what a model said no with. opencode itself tells of a refusal only once it has given up.
 */
import { randomInt } from "node:crypto";
import type { OutgoingHttpHeaders } from "node:http";
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import type { Gateway, GatewayAnswer } from "../../platform/gateway.ts";
import { programAt } from "../../platform/fence.ts";
import { relayWords } from "../../platform/fence/bwrap.ts";
import type { OpenRequest } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { answerDone, DONE_PATH } from "./done.ts";
import type { Environment, Login } from "./login.ts";
import { refusalOf, type Said } from "./refusal.ts";

/** Inside a fence the program may have another uid; the folder's parent is the user's alone. */
const SHARED = 0o666;
/** Of the loopback inside a fence, where nobody else listens. */
const FIRST_PORT = 20_000;
const LAST_PORT = 30_000;
/** What is asked of a model, in the words of each protocol. */
const REQUESTS = ["/messages", "/responses", "/chat/completions", "/models/"];
const PATHS = [...REQUESTS, "/models", DONE_PATH];
const SIGNATURES = ["authorization", "x-api-key", "x-goog-api-key"];

export interface Reached {
  /** Base URLs for the program's configuration, by provider. */
  urls: ReadonlyMap<string, { url: string; token: string }>;
  /** Where the tool of pawl's own is; of whichever gateway. */
  done: string;
  /** What stands before the program's own words to make the URLs reachable; [] where they are already. */
  before: string[];
}

export interface ModelWay {
  /** Opens what is not open yet. */
  reached(providers: readonly string[]): Promise<Reached>;
  /** Of the turn that begins now; `limit`: the request after so many is held until it is given up. */
  begin(about: { limit: number | undefined; onLimit: () => void }): void;
  /** Requests that left since then. */
  requests(): number;
  /** What a model last said no with since then, if none has answered after that. */
  refusal(): Said | undefined;
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

export function modelWay({ lane, sockets }: OpenRequest, { logins, user }: About): ModelWay {
  const ways = new Map<string, Way>();
  const ports = new Set<number>();
  let requests = 0;
  let limit: number | undefined;
  let onLimit: () => void = () => undefined;
  let said: Said | undefined;
  let failure: string | undefined;

  async function open(login: Login, name: string): Promise<Gateway> {
    const { openGateway } = await import("../../platform/gateway.ts");
    return await openGateway({
      upstream: login.upstream,
      paths: PATHS,
      listen: sockets === undefined ? { port: 0 } : { socket: join(sockets.folder, name), mode: SHARED },
      headers: (sent, token) => signed(sent, { token, key: login.key() }),
      own: (request) => (request.path === DONE_PATH ? answerDone(request) : undefined),
      async beforeForward({ method, path, signal }) {
        if (method !== "POST" || !isRequest(path)) return;
        if (limit !== undefined && requests >= limit) {
          onLimit();
          await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
          return;
        }
        requests += 1;
      },
      onAnswer(answer: GatewayAnswer) {
        if (isRequest(answer.path)) said = refusalOf(answer);
      },
      onFailure(error) {
        failure = brief(error.message);
        said = { kind: "connection", status: null, resetAt: undefined };
      },
      environment: user,
    });
  }

  function wayTo(provider: string): Way {
    const known = ways.get(provider);
    if (known !== undefined) return known;
    const login = logins.find((one) => one.provider === provider);
    if (login === undefined) throw new UsageError(`opencode has no login for ${provider}`);
    const name = `opencode-${lane}-${provider}`;
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
          before.push(...relayWords({ socat: relayProgram(), port, socket: join(sockets.at, name), hostPorts: [] }));
          urls.set(provider, { url: `http://127.0.0.1:${port}/${token}`, token });
        }
      }
      const [first] = urls.values();
      return { urls, done: `${first?.url ?? ""}${DONE_PATH}`, before };
    },
    begin(about) {
      requests = 0;
      said = undefined;
      ({ limit, onLimit } = about);
    },
    requests: () => requests,
    refusal: () => said,
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
