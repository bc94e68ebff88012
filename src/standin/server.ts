/**
 * The stand-in model server: loopback only, speaks the real wire protocols, follows a script. It holds no state of
 * conversations, only the prefix cache, the count of faults served and the log.
 */
import { rmSync, statSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { UsageError } from "../errors.ts";
import type { Billing, PrefixCache } from "./billing.ts";
import type { Tally } from "./choose.ts";
import type { LoggedRequest } from "./request-log.ts";
import { openRequestLog } from "./request-log.ts";
import { sendJson } from "./respond.ts";
import { fileStore } from "./file-store.ts";
import { handle } from "./route.ts";
import { openSandbox } from "./sandbox.ts";
import type { Script } from "./script.ts";

export interface StandinOptions {
  script: Script;
  /** 0 or none: any free port. */
  port?: number | undefined;
  /** Also listens here. */
  socketPath?: string | undefined;
  /** Requests with another key are answered with 401; none: every key is good. */
  apiKey?: string | undefined;
  /** One JSON line for every request. */
  logFile?: string | undefined;
  /** Whole bodies of requests, one file each, named by `n`. */
  dumpDir?: string | undefined;
  /** Steps may have their code really run, here, bounded but without a fence. */
  runCode?: boolean | undefined;
  /** How many tokens a piece of a request is; otherwise a quarter of its bytes. */
  tokensIn?: ((text: string) => number) | undefined;
}

export interface Standin {
  readonly url: string;
  readonly port: number;
  /** Oldest first; the newest 10,000. */
  readonly requests: readonly LoggedRequest[];
  /** Of all requests since the start. */
  readonly billing: Billing & { requests: number };
  /** Names of the files that clients uploaded and that are still there, oldest first. */
  readonly uploaded: readonly string[];
  close(): Promise<void>;
}

const HOST = "127.0.0.1";

export async function startStandin(options: StandinOptions): Promise<Standin> {
  const log = openRequestLog(options);
  const closing = new AbortController();
  const sandbox = openSandbox(fileStore(), { runCode: options.runCode === true });
  const context = {
    script: options.script,
    apiKey: options.apiKey,
    log,
    cache: new Map() as PrefixCache,
    tally: new Map() as Tally,
    sandbox,
    tokensIn: options.tokensIn,
    closing: closing.signal,
  };
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    // Only a log that cannot be written comes here: the client is told, the server lives on.
    handle(request, response, context).catch((error: unknown) => fail(response, error));
  };
  const servers: Server[] = [];
  let port = 0;
  const close = async (): Promise<void> => {
    closing.abort();
    await Promise.all(servers.map(closed));
    sandbox.close();
  };
  try {
    const main = await listening(createServer(listener), { port: options.port ?? 0, host: HOST });
    servers.push(main);
    ({ port } = main.address() as AddressInfo);
    if (options.socketPath !== undefined) {
      removeStaleSocket(options.socketPath);
      servers.push(await listening(createServer(listener), { path: options.socketPath }));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: `http://${HOST}:${port}`,
    port,
    requests: log.kept,
    get billing() {
      return log.billing;
    },
    get uploaded() {
      const files = sandbox.files.all().toReversed();
      return files.filter(({ downloadable }) => !downloadable).map(({ filename }) => filename);
    },
    close,
  };
}

function fail(response: ServerResponse, error: unknown): void {
  if (response.headersSent) response.destroy();
  else sendJson(response, { type: "error", error: { type: "api_error", message: String(error) } }, { status: 500 });
}

async function listening(server: Server, where: { port: number; host: string } | { path: string }): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new UsageError(
          `the stand-in model cannot listen on ${"path" in where ? where.path : `port ${where.port}`}: ${error.message}`,
          {
            hint: "Choose another port or socket path, or end what is using it.",
            cause: error,
          },
        ),
      ),
    );
    server.listen(where, resolve);
  });
  return server;
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** A server that was killed leaves its socket file behind; anything else there is not ours to remove. */
function removeStaleSocket(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isSocket() === true) rmSync(path);
}
