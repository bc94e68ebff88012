/**
 * The SDK, an optional peer that is imported on use, with pawl's own way to the model under it: the user's proxy, the
 * system's certificates, connections that are kept. It tries nothing again: that is the loop's to decide.
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import type * as SdkModule from "@anthropic-ai/sdk";
import { UsageError } from "../../errors.ts";
import { installCommand } from "../../platform/install-command.ts";
import { openUpstream, type Upstream } from "../../platform/gateway-upstream.ts";
import { baseUrl, messagesLogin, ownHeaders } from "./login.ts";

type Environment = Readonly<Record<string, string | undefined>>;
export type Sdk = typeof SdkModule;
export type Client = SdkModule.Anthropic;

const PACKAGE = "@anthropic-ai/sdk";
/** pawl ends a turn by its own limits; the SDK's must not come first. */
const NO_TIMEOUT_MS = 24 * 3_600_000;
const WITHOUT_BODY = new Set([204, 205, 304]);

const notInstalled = (cause?: unknown): UsageError =>
  new UsageError(`the messages agent needs ${PACKAGE}, which is not installed`, {
    hint: installCommand(`${PACKAGE}@${FIRST_MAJOR}`),
    cause,
  });

async function loadSdk(): Promise<Sdk> {
  try {
    return await import("@anthropic-ai/sdk");
  } catch (cause) {
    throw notInstalled(cause);
  }
}

/** The file that would be loaded; undefined when it is not installed. */
export function sdkFile(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(PACKAGE);
  } catch {
    return undefined;
  }
}

/** As it says itself. */
export function sdkVersion(): string | undefined {
  const file = sdkFile();
  if (file === undefined) return undefined;
  const { version } = JSON.parse(readFileSync(join(dirname(file), "package.json"), "utf8")) as { version?: unknown };
  return typeof version === "string" ? version : undefined;
}

/** Before it, files and answers in a form were a beta with other names. */
const FIRST_MAJOR = 1;

const NO_KEY = "the messages agent has no key: ANTHROPIC_API_KEY is not set";

/** Throws UsageError where no request could be made. Loads nothing, sends nothing. */
export function messagesAvailable(user: Environment): void {
  if (sdkFile() === undefined) throw notInstalled();
  const version = sdkVersion() ?? "";
  if (Number.parseInt(version, 10) < FIRST_MAJOR)
    throw new UsageError(`the messages agent needs ${PACKAGE} ${FIRST_MAJOR} or later; here is ${version}`, {
      hint: installCommand(`${PACKAGE}@${FIRST_MAJOR}`),
    });
  if (messagesLogin(user) === undefined) throw new UsageError(NO_KEY, { hint: "export ANTHROPIC_API_KEY=…" });
  const url = baseUrl(user);
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new UsageError(`ANTHROPIC_BASE_URL is no address of an API: ${url}`, { hint: "https://…" });
}

export interface Connection {
  readonly sdk: Sdk;
  readonly client: Client;
  close(): void;
}

/** Throws UsageError without a key or the SDK. */
export async function connect(user: Environment): Promise<Connection> {
  messagesAvailable(user);
  const login = messagesLogin(user);
  const sdk = await loadSdk();
  const upstream = await openUpstream({ upstream: new URL(baseUrl(user)).origin, environment: user });
  const signed = login?.describe === "ANTHROPIC_AUTH_TOKEN" ? { authToken: login.key } : { apiKey: login?.key ?? null };
  const client = new sdk.Anthropic({
    ...signed,
    baseURL: baseUrl(user),
    maxRetries: 0,
    timeout: NO_TIMEOUT_MS,
    logLevel: "off",
    defaultHeaders: ownHeaders(user),
    fetch: (url, init) => fetchBy(upstream, url instanceof Request ? url.url : String(url), init ?? {}),
  });
  return { sdk, client, close: () => upstream.close() };
}

/** As `fetch` is for the SDK. */
async function fetchBy(upstream: Upstream, url: string, init: RequestInit): Promise<Response> {
  const { pathname, search } = new URL(url);
  // Reads every form of body, with the type that a form brings along.
  const whole = new Response(init.body ?? null, { headers: new Headers(init.headers) });
  const headers = Object.fromEntries(whole.headers);
  const sending = await upstream.send({
    method: init.method ?? "GET",
    path: pathname + search,
    headers,
    body: Buffer.from(await whole.arrayBuffer()),
    signal: init.signal ?? new AbortController().signal,
  });
  if (sending.is !== "answered") throw sending.error;
  return responseOf(sending.answer);
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct))
    for (const value of values ?? []) headers.append(name, value);
  const status = answer.statusCode ?? 500;
  if (WITHOUT_BODY.has(status)) {
    answer.resume();
    return new Response(null, { status, headers });
  }
  return new Response(Readable.toWeb(answer) as ReadableStream, { status, headers });
}
