/** Starts the server of one session, or attaches to one that runs, and opens its session: a new one, the one there is, or a fork. */
import { randomBytes } from "node:crypto";
import { UsageError } from "../../errors.ts";
import type { OpenRequest } from "../../ports.ts";
import { configOf, environmentOf } from "./config.ts";
import { keepSession, sessionOf } from "./home.ts";
import { objectAt } from "./json.ts";
import { live, type Live } from "./live.ts";
import { readMcpServers } from "./mcp.ts";
import type { ModelName } from "./model.ts";
import { freshPort, relayProgram, type ModelWay } from "./model-way.ts";
import type { OpencodeOptions } from "./options.ts";
import { startServer, type ServerProcess } from "./process.ts";
import { opencodeAvailable } from "./program.ts";
import { freePort, listenWords, reachPort, reachSocket, reachUrl, type Reach } from "./reach.ts";
import { loadSdk, type Client } from "./sdk.ts";

/** From the start of the program to an open session. */
const START_LIMIT_MS = 120_000;
const PASSWORD_BYTES = 24;
const USER = "opencode";
/** Anything but a title of opencode's own: those it has a model think of. */
const TITLE = "pawl";

export interface Launched {
  live: Live;
  /** opencode's own name of the session. */
  session: string;
  notice: string | undefined;
  /** The server would answer with that model; another needs another server. */
  knows(model: ModelName): boolean;
}

export interface Wanted {
  request: OpenRequest;
  session: OpenRequest["session"];
  /** That may be asked for. */
  models: readonly ModelName[];
  providers: readonly string[];
  options: OpencodeOptions;
  way: ModelWay | undefined;
  /** Of a server that runs already. */
  login: { user: string; password: string } | undefined;
}

export async function launch(wanted: Wanted): Promise<Launched> {
  const { createOpencodeClient } = await loadSdk();
  const { request, options } = wanted;
  const started = options.server === undefined ? await startOwn(wanted) : attachTo(options.server, wanted);
  const { process } = started;
  try {
    return await within(START_LIMIT_MS, async () => {
      const { reach, password, user } = await started.reached;
      const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
      const headers = password === "" ? {} : { authorization };
      const { baseUrl, fetch } = reach;
      const client = createOpencodeClient({ baseUrl, fetch, headers, directory: request.workspace });
      const [opened, variants] = await Promise.all([open(client, wanted), variantsOf(client)]);
      checkEffort(variants, wanted);
      const knows = (model: ModelName): boolean => variants.has(nameOf(model));
      return { live: live({ client, reach, process }), ...opened, knows };
    });
  } catch (error) {
    await process?.end();
    throw error;
  }
}

interface Started {
  process: ServerProcess | undefined;
  reached: Promise<{ reach: Reach; user: string; password: string }>;
}

function attachTo(url: string, { login }: Wanted): Started {
  const { user, password } = login ?? { user: USER, password: "" };
  return { process: undefined, reached: Promise.resolve({ reach: reachUrl(url), user, password }) };
}

async function startOwn({ request, options, way, providers, models }: Wanted): Promise<Started> {
  if (way === undefined) throw new UsageError("opencode has no login");
  const { home, workspace, environment, confine, sockets } = request;
  const program = opencodeAvailable({ bin: options.bin }, environment);
  const servers = request.answer === undefined ? readMcpServers(options.mcp, workspace) : {};
  const reached = await way.reached(providers);
  const password = randomBytes(PASSWORD_BYTES).toString("hex");
  const config = configOf({ request, options, reached, models, servers });
  const port = sockets === undefined ? await freePort() : freshPort(new Set());
  const listening = sockets === undefined ? [] : listenWords({ home, socat: relayProgram(), port });
  const words = [...reached.before, ...listening, program, "serve", "--hostname", "127.0.0.1", "--port", String(port)];
  const [command = program, ...args] = words;
  const env = environmentOf(request, { config, password });
  const process = startServer({ command, args, cwd: workspace, env, confine });
  const dead = process.exited.then((how) => {
    throw new Error(`opencode did not start (${how}): ${process.lastWords()}`);
  });
  dead.catch(() => undefined);
  const up = process.ready.then(async () => {
    const reach = sockets === undefined ? reachPort(port) : await reachSocket(home);
    return { reach, user: USER, password };
  });
  return { process, reached: Promise.race([dead, up]) };
}

interface Opened {
  session: string;
  notice: string | undefined;
}

async function open(client: Client, { request: { home }, session: { ref, mode, at } }: Wanted): Promise<Opened> {
  const known = await living(client, sessionOf(home, ref));
  if (known !== undefined) return { session: known, notice: undefined };
  const forked = mode === "rewind" && at !== undefined ? await fork(client, { home, at }) : undefined;
  const session = forked ?? idOf(await client.session.create({ title: TITLE }));
  keepSession(home, ref, session);
  if (mode === "new" || forked !== undefined) return { session, notice: undefined };
  const lost =
    mode === "rewind"
      ? "the conversation cannot be rewound; a new one is started"
      : "there is no conversation to go on with; a new one is started";
  return { session, notice: lost };
}

async function living(client: Client, session: string | undefined): Promise<string | undefined> {
  if (session === undefined) return undefined;
  const { data } = await client.session.get({ sessionID: session });
  return data?.id;
}

/** undefined: there is no such message. A fork ends before the message that it names. */
async function fork(client: Client, { home, at }: { home: string; at: string }): Promise<string | undefined> {
  const colon = at.lastIndexOf(":");
  const from = sessionOf(home, at.slice(0, colon));
  if (from === undefined) return undefined;
  const { data: messages } = await client.session.messages({ sessionID: from });
  const last = messages?.findIndex(({ info }) => info.id === at.slice(colon + 1)) ?? -1;
  if (last < 0) return undefined;
  const next = messages?.[last + 1]?.info.id;
  return idOf(await client.session.fork({ sessionID: from, ...(next === undefined ? {} : { messageID: next }) }));
}

function idOf({ data, error }: { data?: { id: string } | undefined; error?: unknown }): string {
  if (data !== undefined) return data.id;
  throw error instanceof Error ? error : new Error(`opencode opened no session: ${JSON.stringify(error)}`);
}

const nameOf = ({ providerID, modelID }: ModelName): string => `${providerID}/${modelID}`;

/** By name of the model, what `--effort` can be; asked of the server also because it takes long to load its providers. */
async function variantsOf(client: Client): Promise<Map<string, string[]>> {
  const { data } = await client.config.providers();
  const all = data?.providers.flatMap(({ id, models }) =>
    Object.entries(models).map(([name, one]): [string, string[]] => [
      nameOf({ providerID: id, modelID: name }),
      Object.keys(objectAt(one, "variants")),
    ]),
  );
  return new Map(all);
}

/** opencode passes over an effort that a model does not have. */
function checkEffort(variants: ReadonlyMap<string, string[]>, { options: { effort }, models: [model] }: Wanted): void {
  const names = model === undefined ? undefined : variants.get(nameOf(model));
  if (effort === undefined || names === undefined || names.includes(effort)) return;
  throw new UsageError(`--effort ${effort}: ${model?.modelID} has no such variant in opencode`, {
    hint: names.length === 0 ? "it has none" : `it has: ${names.join(", ")}`,
  });
}

/** Rejects when it takes longer. */
async function within<T>(ms: number, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`opencode did not start within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    clearTimeout(timer);
  }
}
