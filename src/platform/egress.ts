/**
 * The only way out of a fence's network: an HTTP proxy on a unix socket that knows whom it may let through. Names are
 * looked up here, outside, or by the user's own proxy; every try is told.
 */
import { chmodSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isListed, reachOf } from "./egress-rules.ts";
import { dial, proxyFor, send, type Target } from "./egress-upstream.ts";
import { tellSparely } from "./egress-telling.ts";
import { endToEnd, plainHttp } from "./gateway-upstream.ts";

/** From here on the answer is a refusal; from twice as many on, none. */
export const MAX_CONNECTIONS = 256;
const USUAL_PORT = 80;

export interface Attempt {
  host: string;
  port: number;
  allowed: boolean;
  why: string;
}

export interface Egress {
  close(): Promise<void>;
}

interface Options {
  socket: string;
  /** As `hostEntry` reads them. */
  hosts: readonly string[];
  /** Whoever drives; may name a proxy. */
  environment: Readonly<Record<string, string | undefined>>;
  onAttempt: (attempt: Attempt) => void;
}

type Verdict = { target: Target; proxy: URL | undefined } | { refused: string };
type Judge = (scheme: "http" | "https", host: string, port: number) => Promise<Verdict>;

export async function openEgress({ socket, hosts, environment, onAttempt }: Options): Promise<Egress> {
  const open = new Set<Duplex>();
  const tell = tellSparely(onAttempt);
  const decide: Judge = async (scheme, host, port) => {
    if (open.size > MAX_CONNECTIONS) return { refused: "too many connections" };
    const proxy = proxyFor(scheme, { host, port }, environment);
    // Behind a company's proxy its names may mean nothing here; what they lead to is the proxy's to know.
    if (proxy !== undefined && isListed(hosts, host, port)) return { target: { host, port, addresses: [] }, proxy };
    const reach = await reachOf(hosts, host, port);
    if (reach.is === "refused") return { refused: reach.why };
    return { target: { host, port, addresses: reach.addresses }, proxy };
  };
  const judge: Judge = async (scheme, host, port) => {
    const verdict = await decide(scheme, host, port);
    const why =
      "refused" in verdict
        ? verdict.refused
        : `on the list${verdict.proxy === undefined ? "" : ", through your proxy"}`;
    tell({ host, port, allowed: !("refused" in verdict), why });
    return verdict;
  };
  const server = plainHttp().createServer((request, response) => void forward(request, response, judge));
  server.maxConnections = 2 * MAX_CONNECTIONS;
  // Uploads take what they take.
  server.requestTimeout = 0;
  server.on("connection", (client: Socket) => {
    open.add(client);
    client.on("close", () => open.delete(client)).on("error", () => client.destroy());
  });
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    void tunnel(client, { asked: request.url ?? "", head, judge });
  });
  server.on("clientError", (_error, client: Duplex) => client.destroy());
  rmSync(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  chmodSync(socket, 0o666);
  server.unref();
  return {
    async close() {
      for (const one of open) one.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(socket, { force: true });
    },
  };
}

function refusal(host: string, port: number, why: string): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `pawl: ${name}:${port} is not reachable from inside the fence: ${why}. A person can allow it: --allow-host ${name}:${port}`;
}

interface Tunnel {
  asked: string;
  head: Buffer;
  judge: Judge;
}

async function tunnel(client: Socket, { asked, head, judge }: Tunnel): Promise<void> {
  const { host, port } = connectTarget(asked);
  const verdict = await judge("https", host, port);
  if ("refused" in verdict) return answer(client, "403", refusal(host, port, verdict.refused));
  const dialled = await dial(verdict.target, verdict.proxy).catch((error: Error) => error);
  if (dialled instanceof Error) return answer(client, "502", `pawl: ${host}:${port}: ${dialled.message}`);
  const upstream = dialled.socket;
  const drop = (): void => {
    client.destroy();
    upstream.destroy();
  };
  upstream.on("timeout", drop).on("error", drop);
  client.on("close", drop);
  if (client.destroyed) return drop();
  client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
  if (dialled.head.length > 0) client.write(dialled.head);
  if (head.length > 0) upstream.write(head);
  upstream.pipe(client);
  client.pipe(upstream);
}

/** The words stand in the status line too: many programs show nothing else of a proxy's answer. */
function answer(client: Socket, status: string, words: string): void {
  const line = words.replace(/[^ -~]/g, "?");
  const length = Buffer.byteLength(words) + 1;
  client.end(
    `HTTP/1.1 ${status} ${line}\r\nConnection: close\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\n\r\n${words}\n`,
  );
}

async function forward(request: IncomingMessage, response: ServerResponse, judge: Judge): Promise<void> {
  const url = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : undefined;
  if (url?.protocol !== "http:") return void response.writeHead(400).end("pawl: a proxy wants a whole http address\n");
  const [host, port] = [hostOf(url), url.port === "" ? USUAL_PORT : Number(url.port)];
  const verdict = await judge("http", host, port);
  const plain = { "content-type": "text/plain" };
  if ("refused" in verdict) {
    const words = refusal(host, port, verdict.refused);
    return void response.writeHead(403, words, plain).end(`${words}\n`);
  }
  const headers = { ...endToEnd(request.headers), host: url.host };
  const sent = send(verdict.target, { proxy: verdict.proxy, url, method: request.method, headers });
  sent.on("response", (answered) => {
    response.writeHead(answered.statusCode ?? 502, endToEnd(answered.headers));
    answered.on("error", () => response.destroy()).pipe(response);
  });
  sent.on("error", (error) => {
    if (response.headersSent) return void response.destroy();
    response.writeHead(502, plain).end(`pawl: ${host}:${port}: ${error.message}\n`);
  });
  response.on("close", () => sent.destroy());
  request.on("error", () => sent.destroy()).pipe(sent);
}

/** Of a CONNECT request: always with a port. */
function connectTarget(asked: string): { host: string; port: number } {
  const [, name = "", port = ""] = /^(\[[^\]]*\]|[^:/@]+):(\d{1,5})$/.exec(asked) ?? [];
  return { host: URL.canParse(`http://${name}`) ? hostOf(new URL(`http://${name}`)) : "", port: Number(port) };
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
