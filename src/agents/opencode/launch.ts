/** Opens a session on a server: a new one, the one there is, or a fork of an earlier one. */
import { UsageError } from "../../errors.ts";
import type { OpenRequest } from "../../ports.ts";
import { sessionRules } from "./config.ts";
import { keepSession, sessionOf } from "./home.ts";
import { objectAt } from "./json.ts";
import { live, type Live } from "./live.ts";
import type { ModelName } from "./model.ts";
import type { OpencodeOptions } from "./options.ts";
import type { ServerProcess } from "./process.ts";
import type { Client } from "./sdk.ts";

/** Anything but a title of opencode's own: those it has a model think of. */
const TITLE = "pawl";

const UNAUTHORIZED = 401;

export interface Launched {
  live: Live;
  /** opencode's own name of the session. */
  session: string;
  notice: string | undefined;
  /** The server would answer with that model; another needs another server. */
  knows(model: ModelName): boolean;
}

interface Wanted {
  request: OpenRequest;
  session: OpenRequest["session"];
  options: OpencodeOptions;
  model: ModelName | undefined;
}

export async function launch(
  { client, process }: { client: Client; process: ServerProcess | undefined },
  wanted: Wanted,
): Promise<Launched> {
  const ear = live({ client, process });
  try {
    const [opened, variants] = await Promise.all([open(client, wanted), variantsOf(client)]);
    // After them: they tell better why not.
    await ear.connected;
    checkEffort(variants, wanted);
    const knows = (model: ModelName): boolean => variants.has(nameOf(model));
    return { live: ear, ...opened, knows };
  } catch (error) {
    ear.end();
    throw error;
  }
}

interface Opened {
  session: string;
  notice: string | undefined;
}

async function open(client: Client, { request, session: { ref, mode, at }, options }: Wanted): Promise<Opened> {
  const { home } = request;
  const permission = sessionRules(request, options);
  const known = await living(client, sessionOf(home, ref));
  if (known !== undefined) {
    // They are put behind those that the session has.
    await client.session.update({ sessionID: known, permission });
    return { session: known, notice: undefined };
  }
  const forked = mode === "rewind" && at !== undefined ? await fork(client, { home, at }) : undefined;
  if (forked !== undefined) await client.session.update({ sessionID: forked, permission });
  const session = forked ?? idOf(await client.session.create({ title: TITLE, permission }));
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

interface Answer {
  data?: { id: string } | undefined;
  error?: unknown;
  response?: Response | undefined;
}

function idOf({ data, error, response }: Answer): string {
  if (data !== undefined) return data.id;
  if (response?.status === UNAUTHORIZED) {
    throw new UsageError("the server of --agent-server wants another password: OPENCODE_SERVER_PASSWORD");
  }
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
function checkEffort(variants: ReadonlyMap<string, string[]>, { options: { effort }, model }: Wanted): void {
  const names = model === undefined ? undefined : variants.get(nameOf(model));
  if (effort === undefined || names === undefined || names.includes(effort)) return;
  throw new UsageError(`--effort ${effort}: ${model?.modelID} has no such variant in opencode`, {
    hint: names.length === 0 ? "it has none" : `it has: ${names.join(", ")}`,
  });
}
