/**
 * A small HTTP proxy inside the driver through which an agent reaches its model. It holds what the agent must not have
 * (the key) and can hold a request back until it may leave. It knows no product: what is allowed, what headers become
 * and when a request may go are given to it. It dies with the driver, so what is left of an agent cannot spend.
 */
import { randomBytes, timingSafeEqual } from "node:crypto";
import { chmodSync, rmSync, statSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { pipeline } from "node:stream";
import { endToEnd, openUpstream, plainHttp, type Upstream } from "./gateway-upstream.ts";

/** Of one request: it is read whole before it leaves. Model APIs take 32 MB at most. */
const MAX_REQUEST_BYTES = 64 * 1024 * 1024;
/** Of all requests that are being read: an agent and its tools share one driver with everything else. */
const MAX_HELD_BYTES = 4 * MAX_REQUEST_BYTES;
const MAX_CONNECTIONS = 256;
/** Of a refusal's body that is looked at; it is a few lines. */
const MAX_REFUSAL_BYTES = 64 * 1024;
const FIRST_REFUSAL = 400;
const TOKEN_BYTES = 24;
const HOST = "127.0.0.1";
const SOCKET_MODE = 0o600;

/** A request as it came, before anything of it has left. */
export interface HeldRequest {
  readonly method: string;
  /** Without the gateway's own beginning and without the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Aborted when the agent gives the request up. */
  readonly signal: AbortSignal;
}

/** How the model answered a request. */
export interface GatewayAnswer {
  readonly path: string;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Of a refusal, its beginning; else empty. */
  readonly body: string;
  /** Headers of the request. */
  readonly sent: IncomingHttpHeaders;
}

/**
 * How it ended with a request. `unsent`: it never left whole, so that no model can have read it; `broken`: before its
 * answer came to its end.
 */
export type RequestEnd = "whole" | "broken" | "unsent";

/** Told of one request that leaves, and of its answer as it passes. */
export interface RequestWatcher {
  answer(head: { status: number; headers: IncomingHttpHeaders }): void;
  data(chunk: Buffer): void;
  /** Exactly once. */
  end(how: RequestEnd): void;
}

export interface GatewayOptions {
  /** Base URL of the model; its path is put before every request's. */
  upstream: string;
  /** Beginnings of paths that are forwarded, e.g. `/v1/`; all others are answered with 404. */
  paths: readonly string[];
  /** A free port on loopback, or a socket that only the user can open. */
  listen: { port: 0 } | { socket: string; mode?: number };
  /** What the model gets for the headers that the agent sent; `token` is what the agent has instead of a key. */
  headers(sent: IncomingHttpHeaders, token: string): OutgoingHttpHeaders;
  /** The request leaves once this resolves. A rejection lets it go too: the gateway never stands in the way. */
  beforeForward(request: HeldRequest): Promise<void>;
  /** What pawl answers itself instead of the model; undefined: it goes to the model. */
  own?: (request: HeldRequest) => { status: number; body: string } | undefined;
  /** The model could not be reached or broke off; the agent sees only a broken connection. */
  onFailure(error: Error): void;
  /** The model has begun to answer, or has said no: then once its words are there. */
  onAnswer?: (answer: GatewayAnswer) => void;
  /** Proxy variables; by default none is used. */
  environment: Readonly<Record<string, string | undefined>>;
  /** The request leaves now; undefined: nobody wants to know what becomes of it. */
  watch?: (request: HeldRequest) => RequestWatcher | undefined;
}

export interface Gateway {
  /** Base URL for the agent; the random token in it is its only right to pass. */
  readonly url: string;
  readonly token: string;
  /** Cuts what is under way. Repeatable. */
  close(): Promise<void>;
}

export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const { createServer } = plainHttp();
  const model = await openUpstream(options);
  const token = randomBytes(TOKEN_BYTES).toString("hex");
  const reading = { bytes: 0 };
  const server = createServer((request, response) => {
    handle(request, response, { ...options, token, model, reading }).catch(() => response.destroy());
  });
  // An agent's idle connection is closed by the agent: ending it here could cross its next request.
  server.keepAliveTimeout = 0;
  // A model may take long to read a request, and a held one is not late.
  server.requestTimeout = 0;
  server.maxConnections = MAX_CONNECTIONS;
  const origin = await listening(server, options.listen);
  return {
    url: `${origin}/${token}`,
    token,
    async close() {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      server.closeAllConnections();
      model.close();
      await closed;
    },
  };
}

async function listening(server: Server, listen: GatewayOptions["listen"]): Promise<string> {
  const where = "socket" in listen ? { path: listen.socket } : { port: listen.port, host: HOST };
  if (where.path !== undefined) removeStaleSocket(where.path);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(where, resolve);
  });
  // It must not keep a driver alive that has nothing else to do.
  server.unref();
  if (where.path === undefined) return `http://${HOST}:${(server.address() as AddressInfo).port}`;
  chmodSync(where.path, ("socket" in listen ? listen.mode : undefined) ?? SOCKET_MODE);
  return "http://localhost";
}

/** A driver that was killed leaves its socket file behind; anything else there is not ours to remove. */
function removeStaleSocket(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path);
}

type Context = GatewayOptions & { token: string; model: Upstream; reading: { bytes: number } };

async function handle(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const asked = admitted(request.url ?? "", context);
  if (typeof asked === "number") return refuse(response, asked);
  const given = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) given.abort();
  });
  const body = await readBody(request, context.reading);
  if (body === undefined) return refuse(response, 413);
  const { method = "GET", headers } = request;
  const { signal } = given;
  // Given up before it was whole: nobody is to count it.
  if (signal.aborted) return;
  const own = context.own?.({ method, path: asked.pathname, headers, body, signal });
  if (own !== undefined) {
    response.writeHead(own.status, { "content-type": "application/json" }).end(own.body);
    return;
  }
  try {
    await context.beforeForward({ method, path: asked.pathname, headers, body, signal });
  } catch {
    // It could not tell; the model's answer matters more.
  }
  if (signal.aborted) return;
  const watcher = context.watch?.({ method, path: asked.pathname, headers, body, signal });
  const sent = endToEnd(context.headers(headers, context.token));
  const path = asked.pathname + asked.search;
  const sending = await context.model.send({ method, path, headers: sent, body, signal });
  if (sending.is !== "answered") {
    watcher?.end(sending.is);
    if (!signal.aborted) context.onFailure(sending.error);
    // As if the model itself were not there: the agent's own retries decide.
    request.socket.resetAndDestroy();
    return;
  }
  const { answer } = sending;
  tellOf(answer, { path: asked.pathname, sent: headers, onAnswer: context.onAnswer });
  watcher?.answer({ status: answer.statusCode ?? 0, headers: answer.headers });
  relay(answer, response, { ...context, watcher });
}

function tellOf(
  answer: IncomingMessage,
  { path, sent, onAnswer }: { path: string; sent: IncomingHttpHeaders; onAnswer: GatewayOptions["onAnswer"] },
): void {
  const { statusCode: status = 0, headers } = answer;
  if (onAnswer === undefined) return;
  if (status < FIRST_REFUSAL) return onAnswer({ path, status, headers, sent, body: "" });
  const chunks: Buffer[] = [];
  let bytes = 0;
  answer.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_REFUSAL_BYTES) chunks.push(chunk);
  });
  answer.once("end", () => onAnswer({ path, status, headers, sent, body: Buffer.concat(chunks).toString("utf8") }));
}

/** A cut stream stays a cut stream: the connection is broken, never ended in order. */
function relay(
  answer: IncomingMessage,
  response: ServerResponse,
  context: Context & { watcher: RequestWatcher | undefined },
): void {
  const { watcher } = context;
  if (watcher !== undefined) answer.on("data", (chunk: Buffer) => watcher.data(chunk));
  response.sendDate = false;
  response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
  response.flushHeaders();
  pipeline(answer, response, (error) => {
    watcher?.end(answer.complete ? "whole" : "broken");
    // The other kind of error is the agent that has gone.
    if (error instanceof Error && !answer.complete && error.code === "ECONNRESET") context.onFailure(error);
  });
}

function admitted(url: string, { token, paths }: Context): URL | 403 | 404 {
  const [, given = "", ...rest] = url.split("/");
  if (given.length !== token.length || !timingSafeEqual(Buffer.from(given), Buffer.from(token))) return 403;
  // Parsing takes `..` out of the path, however it is written.
  const asked = URL.parse(`http://model/${rest.join("/")}`);
  return asked !== null && paths.some((path) => asked.pathname.startsWith(path)) ? asked : 404;
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ type: "error", error: { type: "gateway_error", message: `refused: ${status}` } }));
}

/** undefined: too long. */
async function readBody(request: IncomingMessage, reading: { bytes: number }): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      reading.bytes += chunk.length;
      if (bytes > MAX_REQUEST_BYTES || reading.bytes > MAX_HELD_BYTES) return undefined;
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    reading.bytes -= bytes;
  }
}
