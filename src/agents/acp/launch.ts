/** Starts an ACP agent and opens the session of a conversation, as far as the agent can. */
import { UsageError } from "../../errors.ts";
import { makePrivateDir } from "../../platform/files.ts";
import type { OpenRequest } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { startPiped } from "../piped.ts";
import { AgentError, connection, type ClientSide, type Connection } from "./connection.ts";
import { acpEnvironment, temporaryFolder } from "./environment.ts";
import { isObject, listAt, objectAt, textAt, type Json } from "./json.ts";
import { readMcpServers, refuseUnknownKinds } from "./mcp.ts";
import type { ModelWay, Reached } from "./model-way.ts";
import type { AcpOptions } from "./options.ts";
import { acpProgram } from "./program.ts";
import { keepSession, sessionOf } from "./record.ts";
import { loadSdk } from "./sdk.ts";
import { setEffort, setMode, setModel, type OpenedSession } from "./session-config.ts";

/** From the start of the program to an open session; some load for long. */
const START_LIMIT_MS = 120_000;
const VERSION = 1;
const AUTH_REQUIRED = -32_000;

export interface Launched extends OpenedSession {
  /** It hears what is said while it works. */
  readonly canSteer: boolean;
  /** Instructions that the agent has no other place for: they stand before the first prompt. Taken once. */
  preface: string | undefined;
  /** For people. */
  readonly notices: readonly string[];
}

interface Wanted {
  request: OpenRequest;
  session: OpenRequest["session"];
  model: string | undefined;
  options: AcpOptions;
  way: ModelWay;
  side: ClientSide;
}

export async function launch(wanted: Wanted): Promise<Launched> {
  const { request, options, way, side } = wanted;
  const program = acpProgram(options, request.environment);
  const [sdk, reached] = await Promise.all([loadSdk(), way.reached()]);
  makePrivateDir(temporaryFolder(request.home));
  const [command = program, ...args] = [...reached.before, program, ...options.command.slice(1)];
  const env = acpEnvironment(request, reached.variables);
  const started = connection(startPiped({ command, args, cwd: request.workspace, env, confine: request.confine }), {
    sdk,
    side,
  });
  try {
    return await within(START_LIMIT_MS, open(started, { ...wanted, reached }));
  } catch (error) {
    await started.end();
    throw error;
  }
}

async function open(started: Connection, wanted: Wanted & { reached: Reached }): Promise<Launched> {
  const { request, options, model } = wanted;
  const agent = await started.request("initialize", {
    protocolVersion: VERSION,
    clientInfo: { name: "pawl", title: "pawl", version: String(VERSION) },
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      auth: { _meta: { gateway: true } },
      ...(request.answer === undefined && request.agent.ask.questions === "ask" ? { elicitation: { form: {} } } : {}),
    },
  });
  if (agent["protocolVersion"] !== VERSION) {
    throw new UsageError(
      `this agent speaks version ${String(agent["protocolVersion"])} of the protocol, pawl speaks ${VERSION}`,
    );
  }
  await logIn(started, { agent, reached: wanted.reached });
  const { session, notices, preface } = await openSession(started, { ...wanted, agent });
  if (options.mode !== undefined) await setMode(session, options.mode);
  const unset = model === undefined ? undefined : await setModel(session, model);
  if (options.effort !== undefined) await setEffort(session, options.effort);
  const steering = objectAt(objectAt(agent, "_meta"), "steering");
  return Object.assign(session, {
    canSteer: steering["supported"] === true,
    preface,
    notices: [...notices, ...(unset === undefined ? [] : [unset])],
  });
}

/** Where an agent can be told its model's address it is; otherwise its environment says it. */
async function logIn(started: Connection, { agent, reached }: { agent: Json; reached: Reached }): Promise<void> {
  for (const method of listAt(agent, "authMethods")) {
    const gateway = objectAt(method, "_meta")["gateway"];
    const protocol = isObject(gateway) ? textAt(gateway, "protocol") : "";
    const login = reached.logins.find((one) => one.protocol === protocol);
    if (login === undefined) continue;
    const { baseUrl, headers } = login;
    const _meta = { gateway: { baseUrl, headers, providerName: "pawl" } };
    await started.request("authenticate", { methodId: textAt(method, "id"), _meta });
    return;
  }
}

interface Opened {
  session: OpenedSession;
  notices: string[];
  preface: string | undefined;
}

async function openSession(started: Connection, wanted: Wanted & { agent: Json }): Promise<Opened> {
  const { request, session, options, agent } = wanted;
  const { home, workspace, instructions, answer } = request;
  const capabilities = objectAt(agent, "agentCapabilities");
  const servers = answer === undefined ? readMcpServers(options.mcp, workspace) : [];
  refuseUnknownKinds(servers, objectAt(capabilities, "mcpCapabilities"));
  const takesPrompt = isObject(objectAt(capabilities, "sessionCapabilities")["systemPrompt"]);
  const systemPrompt = { mode: "append", content: [{ type: "text", text: instructions }] };
  const settings: Json = {
    cwd: workspace,
    mcpServers: servers,
    ...(takesPrompt && instructions !== "" ? { systemPrompt } : {}),
  };
  const known = sessionOf(home, session.ref);
  const gone: { opened?: Json; why?: string } =
    known === undefined ? {} : await goOn(started, { id: known, settings, capabilities });
  if (known !== undefined && gone.opened !== undefined)
    return { session: { id: known, connection: started, opened: gone.opened }, notices: [], preface: undefined };
  const opened = await begin(started, { agent, settings, environment: request.environment });
  const id = textAt(opened, "sessionId");
  if (id === "") throw new Error("the agent opened no session");
  keepSession(home, session.ref, id);
  const lost = gone.why ?? (session.mode === "new" ? undefined : LOST[session.mode]);
  return {
    session: { id, connection: started, opened },
    notices: lost === undefined ? [] : [lost],
    preface: takesPrompt || instructions === "" ? undefined : instructions,
  };
}

const LOST = {
  continue: "there is no conversation to go on with; a new one is started",
  rewind: "an ACP agent cannot rewind a conversation; a new one is started",
};

/** What cannot be gone on with is said, and the work goes on without it. */
async function goOn(
  started: Connection,
  { id, settings, capabilities }: { id: string; settings: Json; capabilities: Json },
): Promise<{ opened?: Json; why?: string }> {
  const canResume = isObject(objectAt(capabilities, "sessionCapabilities")["resume"]);
  if (!canResume && capabilities["loadSession"] !== true)
    return { why: "this agent cannot go on with a conversation; a new one is started" };
  try {
    // Resuming tells nothing again; loading tells everything, which nobody listens to.
    const method = canResume ? "session/resume" : "session/load";
    return { opened: await started.request(method, { sessionId: id, ...settings }) };
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return { why: `the conversation cannot be gone on with (${brief(error.message)}); a new one is started` };
  }
}

interface Beginning {
  agent: Json;
  settings: Json;
  environment: OpenRequest["environment"];
}

/** An agent that wants to be told to use the key it has is told so, once. */
async function begin(started: Connection, { agent, settings, environment }: Beginning): Promise<Json> {
  try {
    return await started.request("session/new", settings);
  } catch (error) {
    const method = listAt(agent, "authMethods").find((one) => hasKeyFor(textAt(one, "id"), environment));
    if (!(error instanceof AgentError) || error.answer.code !== AUTH_REQUIRED || method === undefined) throw error;
    await started.request("authenticate", { methodId: textAt(method, "id") });
    return await started.request("session/new", settings);
  }
}

/** `gemini-api-key` is for who has GEMINI_API_KEY, `api-key` for who has any. */
function hasKeyFor(method: string, environment: OpenRequest["environment"]): boolean {
  const name = method.toUpperCase().replaceAll("-", "_");
  if (!name.endsWith("API_KEY")) return false;
  return Object.keys(environment).some((key) => (name === "API_KEY" ? key.endsWith("_API_KEY") : key === name));
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the agent did not open a session within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
