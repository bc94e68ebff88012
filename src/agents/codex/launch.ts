/** Starts the app-server for one session and opens its thread: a new one, the one there is, or a fork of an earlier one. */
import { join } from "node:path";
import { UsageError } from "../../errors.ts";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";
import type { OpenRequest } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { configToml, PROVIDER } from "./config.ts";
import { DONE_TOOL } from "./done.ts";
import { execLive } from "./exec.ts";
import { clearGoal } from "./goal.ts";
import { codexHome, temporaryFolder, toolsFolder } from "./home.ts";
import { turnsIn } from "./inspect.ts";
import { live, type Live } from "./live.ts";
import { readMcpServers } from "./mcp.ts";
import type { ModelWay, Reached } from "./model-way.ts";
import type { CodexOptions } from "./options.ts";
import { startPiped, type Piped } from "../piped.ts";
import { codexAvailable } from "./program.ts";
import { isObject, textAt, type Json } from "./protocol.ts";
import { rolloutOf } from "./rollout.ts";
import { keepThread, markTurn, threadOf } from "./threads.ts";

/** From the start of the program to an open thread. */
const START_LIMIT_MS = 60_000;
/** Said of what is large and shown nowhere. */
const UNWANTED = ["turn/diff/updated", "thread/readState/changed", "thread/started"];

export interface Launched {
  live: Live;
  thread: string;
  model: string;
  notice: string | undefined;
}

interface Wanted {
  request: OpenRequest;
  session: OpenRequest["session"];
  model: string | undefined;
  options: CodexOptions;
  way: ModelWay;
  onUnheard: (method: string, params: Json) => void;
}

export async function launch(wanted: Wanted): Promise<Launched> {
  const { request, options, way, onUnheard } = wanted;
  const program = codexAvailable({ bin: options.bin }, request.environment);
  const reached = await way.reached();
  writeConfig(wanted, reached);
  const run = (...words: string[]): Piped => {
    const [command = program, ...args] = [...reached.before, program, ...words];
    const { workspace: cwd, confine } = request;
    return startPiped({ command, args, cwd, env: environmentOf(request), confine });
  };
  if (options.exec) return perTurn(wanted, run);
  const started = live(run("app-server", ...options.extra), onUnheard);
  try {
    return await within(START_LIMIT_MS, open(started, wanted));
  } catch (error) {
    await started.end();
    throw error;
  }
}

/** Its thread is known once the first turn has begun. */
function perTurn({ request, session, options }: Wanted, run: (...words: string[]) => Piped): Launched {
  const { home, answer } = request;
  const schema = join(codexHome(home), "answer.json");
  if (answer !== undefined) writeDurably(schema, JSON.stringify(answer));
  const started = execLive({
    async start({ clientUserMessageId, input, model }) {
      const thread = threadOf(home, session.ref);
      const known = thread !== undefined && rolloutOf(home, thread) !== undefined ? thread : undefined;
      markTurn(home, String(clientUserMessageId), known === undefined ? 0 : await turnsIn(home, known));
      const process = run(
        "exec",
        "--json",
        "--skip-git-repo-check",
        "-s",
        options.sandbox,
        ...options.extra,
        ...(typeof model === "string" ? ["-m", model] : []),
        ...(options.effort === undefined ? [] : ["-c", `model_reasoning_effort=${options.effort}`]),
        ...(answer === undefined ? [] : ["--output-schema", schema]),
        ...(known === undefined ? ["-"] : ["resume", known, "-"]),
      );
      process.stdin.end(wordsOf(input));
      return process;
    },
    onThread: (thread) => keepThread(home, session.ref, thread),
  });
  const lost = session.mode === "rewind" && threadOf(home, session.ref) === undefined;
  const notice = lost ? "codex exec cannot rewind a conversation; a new one is started" : undefined;
  return { live: started, thread: "", model: "", notice };
}

function wordsOf(input: unknown): string {
  return Array.isArray(input) ? input.map((part) => (isObject(part) ? textAt(part, "text") : "")).join("\n") : "";
}

function writeConfig({ request, options }: Wanted, { baseUrl }: Reached): void {
  const { home, agent, answer, environment } = request;
  for (const folder of [codexHome(home), temporaryFolder(home), toolsFolder(home)]) makePrivateDir(folder);
  const isHeld = options.sandbox === "workspace-write";
  const config = configToml({
    baseUrl,
    idleTimeoutMs: agent.idleTimeoutMs,
    questions: answer === undefined && agent.ask.questions === "ask",
    tools: answer === undefined,
    goals: options.goal !== undefined,
    servers: answer === undefined ? readMcpServers(options.mcp, request.workspace) : {},
    variables: isHeld ? placesIn(toolsFolder(home)) : placesOf(environment),
    writable: isHeld ? [toolsFolder(home)] : [],
    instructions: options.exec && request.instructions !== "" ? request.instructions : undefined,
  });
  writeDurably(join(codexHome(home), "config.toml"), config);
}

const PLACES = ["TMPDIR", "TMP", "TEMP"];
const placesIn = (folder: string): Record<string, string> => Object.fromEntries(PLACES.map((name) => [name, folder]));
/** The run's own, which are not the program's. */
const placesOf = (environment: OpenRequest["environment"]): Record<string, string> =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => PLACES.includes(name)));

function environmentOf({ home, environment }: OpenRequest): Record<string, string> {
  const listed = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  const direct = listed === "" ? "127.0.0.1" : `${listed},127.0.0.1`;
  return {
    ...environment,
    CODEX_HOME: codexHome(home),
    TMPDIR: temporaryFolder(home),
    // The user's proxy is the gateway's to use, not the way to the gateway.
    no_proxy: direct,
    NO_PROXY: direct,
    RUST_LOG: "error",
  };
}

async function open(started: Live, wanted: Wanted): Promise<Launched> {
  await started.request("initialize", {
    clientInfo: { name: "pawl", title: "pawl", version: "1" },
    capabilities: { experimentalApi: true, requestAttestation: false, optOutNotificationMethods: UNWANTED },
  });
  started.notify("initialized");
  const { result, notice } = await openThread(started, wanted);
  const thread = isObject(result["thread"]) ? textAt(result["thread"], "id") : "";
  if (thread === "") throw new Error("Codex opened no thread");
  keepThread(wanted.request.home, wanted.session.ref, thread);
  return { live: started, thread, model: textAt(result, "model"), notice };
}

interface Opened {
  result: Json;
  notice: string | undefined;
}

async function openThread(started: Live, { request, session, model, options }: Wanted): Promise<Opened> {
  const { home, workspace, instructions, answer } = request;
  const settings: Json = {
    cwd: workspace,
    modelProvider: PROVIDER,
    approvalPolicy: answer === undefined ? options.approval : "never",
    sandbox: options.sandbox,
    ...(model === undefined ? {} : { model }),
    ...(instructions === "" ? {} : { developerInstructions: instructions }),
  };
  const begin = (): Promise<Json> =>
    started.request("thread/start", {
      ...settings,
      ...(answer === undefined ? { dynamicTools: [DONE_TOOL] } : { environments: [] }),
    });
  /** A goal that a crash has left would be gone on with at once, before any turn of pawl's. */
  const without = async (threadId: string): Promise<void> => {
    if (options.goal !== undefined) await clearGoal(started, threadId);
  };
  const known = threadOf(home, session.ref);
  // A thread without a record was never spoken to.
  if (known !== undefined && rolloutOf(home, known) !== undefined)
    return await orNew(
      without(known).then(() => started.request("thread/resume", { threadId: known, excludeTurns: true, ...settings })),
      begin,
    );
  if (session.mode === "new") return { result: await begin(), notice: undefined };
  if (session.mode === "continue")
    return { result: await begin(), notice: "there is no conversation to go on with; a new one is started" };
  const point = pointOf(home, session.at);
  if (point === undefined)
    return { result: await begin(), notice: "the conversation cannot be rewound; a new one is started" };
  return await orNew(
    without(point.threadId).then(() => started.request("thread/fork", { ...point, excludeTurns: true, ...settings })),
    begin,
  );
}

/** What cannot be gone on with is said, and the work goes on without it. */
async function orNew(opening: Promise<Json>, begin: () => Promise<Json>): Promise<Opened> {
  try {
    return { result: await opening, notice: undefined };
  } catch (error) {
    const why = brief((error as Error).message);
    return { result: await begin(), notice: `the conversation cannot be gone on with (${why}); a new one is started` };
  }
}

/** `<session>:<turn>`: Codex goes back to the end of a turn. */
function pointOf(home: string, at: string | undefined): { threadId: string; lastTurnId: string } | undefined {
  const [ref = "", turn = ""] = at?.split(":") ?? [];
  const threadId = threadOf(home, ref);
  return threadId === undefined || turn === "" ? undefined : { threadId, lastTurnId: turn };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Codex did not start within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A person can do something about the one, a later try about the other. */
export const isUsage = (error: unknown): error is UsageError => error instanceof UsageError;
