/** From the way out to its target: directly to the addresses that were judged, or through the user's own proxy. */
import type { LookupAddress } from "node:dns";
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { connect, type LookupFunction, type Socket } from "node:net";
import { isLoopback } from "./egress-rules.ts";
import { plainHttp } from "./gateway-upstream.ts";

const CONNECT_LIMIT_MS = 30_000;
/** A connection nobody uses is closed. */
const IDLE_LIMIT_MS = 10 * 60_000;

type Environment = Readonly<Record<string, string | undefined>>;

export interface Target {
  host: string;
  port: number;
  /** Never another: the name is not looked up again. */
  addresses: readonly LookupAddress[];
}

/** The user's proxy for a target; undefined: directly. Loopback is never the proxy's. */
export function proxyFor(
  scheme: "http" | "https",
  { host, port }: Omit<Target, "addresses">,
  env: Environment,
): URL | undefined {
  const value = (name: string): string => env[name.toLowerCase()] ?? env[name] ?? "";
  const proxy = value(`${scheme.toUpperCase()}_PROXY`) || value("ALL_PROXY");
  if (proxy === "" || isLoopback(host) || isExcepted(value("NO_PROXY"), host, port)) return undefined;
  const url = proxy.includes("://") ? proxy : `http://${proxy}`;
  return URL.canParse(url) ? new URL(url) : undefined;
}

function isExcepted(list: string, host: string, port: number): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, name = "", only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (only !== undefined && Number(only) !== port) return false;
      return entry === "*" || host === name || host.endsWith(`.${name}`);
    });
}

/** Resolves with a connection on which either side may end first; rejects when there is none. */
export function dial(target: Target, proxy: URL | undefined): Promise<{ socket: Socket; head: Buffer }> {
  return proxy === undefined ? dialDirectly(target) : dialThrough(proxy, target);
}

function dialDirectly({ host, port, addresses }: Target): Promise<{ socket: Socket; head: Buffer }> {
  const socket = connect({ host, port, allowHalfOpen: true, lookup: lookupOf(addresses), timeout: CONNECT_LIMIT_MS });
  return new Promise((resolve, reject) => {
    socket.once("timeout", () => socket.destroy(new Error("no answer")));
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      socket.setTimeout(IDLE_LIMIT_MS);
      resolve({ socket, head: Buffer.alloc(0) });
    });
  });
}

function dialThrough(proxy: URL, { host, port }: Target): Promise<{ socket: Socket; head: Buffer }> {
  const path = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  const asked = requestTo(proxy, { method: "CONNECT", path, headers: { host: path } });
  return new Promise((resolve, reject) => {
    asked.setTimeout(CONNECT_LIMIT_MS, () => asked.destroy(new Error("your proxy does not answer")));
    asked.once("error", reject);
    asked.once("response", (answer: IncomingMessage) => {
      answer.resume();
      reject(new Error(`your proxy answered ${answer.statusCode}`));
    });
    asked.once("connect", (answer: IncomingMessage, socket: Socket, head: Buffer) => {
      if (answer.statusCode === 200) {
        socket.setTimeout(IDLE_LIMIT_MS);
        socket.allowHalfOpen = true;
        return resolve({ socket, head });
      }
      socket.destroy();
      reject(new Error(`your proxy answered ${answer.statusCode}`));
    });
    asked.end();
  });
}

/** A plain request, for its body to be written into. */
export function send(
  target: Target,
  { proxy, url, ...options }: { proxy: URL | undefined; url: URL } & Pick<RequestOptions, "method" | "headers">,
): ClientRequest {
  const { host, port, addresses } = target;
  const path = url.pathname + url.search;
  const sent =
    proxy === undefined
      ? plainHttp().request({ ...options, host, port, path, agent: false, lookup: lookupOf(addresses) })
      : requestTo(proxy, { ...options, path: url.href });
  sent.setTimeout(IDLE_LIMIT_MS, () => sent.destroy(new Error("no answer")));
  return sent;
}

function requestTo(proxy: URL, options: RequestOptions): ClientRequest {
  const { username, password, protocol } = proxy;
  if (protocol !== "http:" && protocol !== "https:") {
    const sent = plainHttp().request({ ...options, agent: false, lookup: lookupOf([]) });
    return sent.destroy(new Error(`your proxy speaks ${protocol.slice(0, -1)}, only http and https are understood`));
  }
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const login = username === "" ? {} : { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
  const { request } = protocol === "https:" ? process.getBuiltinModule("node:https") : plainHttp();
  return request({
    ...options,
    host: proxy.hostname.replace(/^\[|\]$/g, ""),
    port: proxy.port === "" ? (protocol === "https:" ? 443 : 80) : Number(proxy.port),
    headers: { ...(options.headers as Record<string, string>), ...login },
    agent: false,
  });
}

function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  return (_host, options, done) => {
    const [first] = addresses;
    if (first === undefined) return done(new Error("no address"), "");
    if (options.all === true) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}
