/**
 * The server that the sessions of one home share: started by the first that needs it, ended with the last. Two servers
 * on one home would have one database and one socket.
 */
import { randomBytes } from "node:crypto";
import { UsageError } from "../../errors.ts";
import type { OpenRequest } from "../../ports.ts";
import { configOf, environmentOf } from "./config.ts";
import type { Json } from "./json.ts";
import type { Environment, Login } from "./login.ts";
import { readMcpServers } from "./mcp.ts";
import type { ModelName } from "./model.ts";
import { freshPort, modelWay, relayProgram, type ModelWay } from "./model-way.ts";
import type { OpencodeOptions } from "./options.ts";
import { startServer, type ServerProcess } from "./process.ts";
import { opencodeAvailable } from "./program.ts";
import { freePort, isTaken, listenWords, reachPort, reachSocket, type Reach } from "./reach.ts";
import { clientOf, type Client } from "./sdk.ts";

/** From the start of the program until it can be asked. */
const START_LIMIT_MS = 120_000;
const PORT_TRIES = 3;
const PASSWORD_BYTES = 24;
const USER = "opencode";

export interface Server {
  client: Client;
  process: ServerProcess;
  isDead(): boolean;
}

export interface Wanted {
  request: OpenRequest;
  /** That may be asked for. */
  models: readonly ModelName[];
  providers: readonly string[];
  options: OpencodeOptions;
}

/** One session's share. */
export interface Seat {
  readonly way: ModelWay;
  /** One that lives and fits what is wanted; rejects when there can be none. */
  server(wanted: Wanted): Promise<Server>;
  /** For all who share it; the next who needs one starts another. */
  kill(): Promise<void>;
  /** The last one ends it. Repeatable. */
  leave(): Promise<void>;
}

interface House {
  way: ModelWay;
  seats: number;
  /** One after the other: two who start at once get the same. */
  last: Promise<unknown>;
  running: { config: string; server: Promise<Owned>; stop: AbortController } | undefined;
}

interface Owned extends Server {
  end(): Promise<void>;
}

export interface Servers {
  join(request: OpenRequest): Seat;
}

export function servers({ logins, user }: { logins: readonly Login[]; user: Environment }): Servers {
  const houses = new Map<string, House>();

  const opened = (request: OpenRequest): House => ({
    way: modelWay(request, { logins, user }),
    seats: 0,
    last: Promise.resolve(),
    running: undefined,
  });

  async function end(house: House): Promise<void> {
    const { running } = house;
    house.running = undefined;
    running?.stop.abort();
    const server = await running?.server.catch(() => undefined);
    await server?.end();
  }

  async function ensure(house: House, wanted: Wanted): Promise<Owned> {
    const { request, options } = wanted;
    const mcp = readMcpServers(options.mcp, request.workspace);
    const reached = await house.way.reached(wanted.providers);
    const config = configOf({ ...wanted, reached, servers: mcp });
    const key = JSON.stringify(config);
    const known = house.running?.config === key ? await house.running.server.catch(() => undefined) : undefined;
    if (known?.isDead() === false) return known;
    await end(house);
    if (house.seats === 0) throw new Error("the session was closed");
    const stop = new AbortController();
    const server = startOwn(wanted, { config, before: reached.before, signal: stop.signal });
    server.catch(() => undefined);
    house.running = { config: key, server, stop };
    return await server;
  }

  return {
    join(request) {
      const { home } = request;
      const house = houses.get(home) ?? opened(request);
      houses.set(home, house);
      house.seats += 1;
      let left = false;
      return {
        way: house.way,
        server(wanted) {
          const mine = house.last.then(() => ensure(house, wanted));
          house.last = mine.catch(() => undefined);
          return mine;
        },
        kill: () => end(house),
        async leave() {
          if (left) return;
          left = true;
          house.seats -= 1;
          if (house.seats > 0) return;
          houses.delete(home);
          await end(house);
          // Who asked for one a moment ago gets none, or it is ended here.
          await house.last;
          await end(house);
          await house.way.close();
        },
      };
    },
  };
}

interface Starting {
  config: Json;
  before: readonly string[];
  signal: AbortSignal;
}

/** It takes the port seconds after that was free: another program may have been given it meanwhile. */
async function startOwn(wanted: Wanted, starting: Starting): Promise<Owned> {
  const isShared = wanted.request.sockets === undefined;
  for (let tries = 1; ; tries += 1) {
    const port = isShared ? await freePort() : freshPort(new Set());
    try {
      return await startAt(port, wanted, starting);
    } catch (error) {
      const isOthers = isShared && tries < PORT_TRIES && !starting.signal.aborted && (await isTaken(port));
      if (!isOthers) throw error;
    }
  }
}

async function startAt(
  port: number,
  { request, options }: Wanted,
  { config, before, signal }: Starting,
): Promise<Owned> {
  const { home, workspace, environment, confine, sockets } = request;
  const program = opencodeAvailable({ bin: options.bin }, environment);
  const password = randomBytes(PASSWORD_BYTES).toString("hex");
  const listening = sockets === undefined ? [] : listenWords({ home, socat: relayProgram(), port });
  const words = [...before, ...listening, program, "serve", "--hostname", "127.0.0.1", "--port", String(port)];
  const [command = program, ...args] = words;
  const env = environmentOf(request, { config, password });
  signal.throwIfAborted();
  const process = startServer({ command, args, cwd: workspace, env, confine });
  let exited = false;
  void process.exited.then(() => (exited = true));
  let reach: Reach | undefined;
  try {
    await within(START_LIMIT_MS, process.ready, signal);
    if (exited) throw new Error(`opencode did not start (${await process.exited}): ${process.lastWords()}`);
    reach = sockets === undefined ? reachPort(port) : await reachSocket(home);
    const client = await clientOf({ reach, user: USER, password, directory: workspace });
    return {
      client,
      process,
      isDead: () => exited,
      async end() {
        await process.end();
        reach?.close();
      },
    };
  } catch (error) {
    await process.end();
    reach?.close();
    throw error instanceof UsageError ? error : new Error(String(error), { cause: error });
  }
}

/** Rejects when it takes longer, or is not wanted any more. */
async function within(ms: number, work: Promise<void>, signal: AbortSignal): Promise<void> {
  const gone = Promise.withResolvers<never>();
  const timer = setTimeout(() => gone.reject(new Error(`opencode did not start within ${ms} ms`)), ms);
  const onAbort = (): void => gone.reject(new Error("opencode was ended while it started"));
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await Promise.race([work, gone.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
