/** One HTTP request, from its first byte to the line in the log. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { UsageError } from "../errors.ts";
import type { PrefixCache } from "./billing.ts";
import { NOTHING_BILLED, totalTokens } from "./billing.ts";
import { readBody } from "./body.ts";
import { chatProtocol } from "./chat.ts";
import type { Tally } from "./choose.ts";
import { choose, knowsModel } from "./choose.ts";
import { handleFiles, isFilesPath } from "./files-route.ts";
import { messagesProtocol } from "./messages.ts";
import { modelList } from "./models.ts";
import type { Plan } from "./plan.ts";
import { planOf } from "./plan.ts";
import type { Parsed, Protocol } from "./protocol.ts";
import { BadRequest, isObject } from "./protocol.ts";
import type { LoggedRequest, RequestLog } from "./request-log.ts";
import { described, outcomeOf } from "./request-log.ts";
import { conversationOf, isSideRequest } from "./request.ts";
import { perform, refuse, sendJson } from "./respond.ts";
import { responsesProtocol } from "./responses.ts";
import type { Sandbox } from "./sandbox.ts";
import { gone as containerGone } from "./sandbox.ts";
import type { Script, Step } from "./script.ts";

export interface Context {
  script: Script;
  apiKey: string | undefined;
  log: RequestLog;
  cache: PrefixCache;
  tally: Tally;
  sandbox: Sandbox;
  /** How many tokens a text is, where that is not by its bytes. */
  tokensIn: ((text: string) => number) | undefined;
  closing: AbortSignal;
}

type Endpoint =
  | { is: "model"; protocol: Protocol }
  | { is: "count"; protocol: Protocol }
  | { is: "models" }
  | { is: "files" }
  | { is: "alive" }
  | { is: "unknown" };

const POSTS: Readonly<Record<string, Endpoint>> = {
  "/v1/messages": { is: "model", protocol: messagesProtocol },
  "/v1/messages/count_tokens": { is: "count", protocol: messagesProtocol },
  "/v1/responses": { is: "model", protocol: responsesProtocol },
  "/v1/chat/completions": { is: "model", protocol: chatProtocol },
};

const SIDE_STEP: Step = { text: "Stand-in title" };

function endpointOf(method: string | undefined, path: string): Endpoint {
  if (isFilesPath(path)) return { is: "files" };
  switch (method) {
    case "HEAD":
      return { is: "alive" };
    case "POST":
      return POSTS[path] ?? { is: "unknown" };
    case "GET":
      if (path === "/v1/models" || path.startsWith("/v1/models/")) return { is: "models" };
      return { is: path === "/" ? "alive" : "unknown" };
    default:
      return { is: "unknown" };
  }
}

export async function handle(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const url = request.url ?? "/";
  const path = url.split("?")[0] ?? "/";
  const endpoint = endpointOf(request.method, path);
  const left = new AbortController();
  response.once("close", () => left.abort());
  response.once("error", () => left.abort());
  switch (endpoint.is) {
    case "alive":
      response.writeHead(200).end();
      return;
    case "models":
      sendJson(response, modelList(context.script));
      return;
    case "files":
      if (!mayEnter(request, context))
        return refuse(response, messagesProtocol, { status: 401, message: "invalid x-api-key" });
      await handleFiles(request, response, { files: context.sandbox.files, path });
      return;
    case "unknown":
      refuse(response, messagesProtocol, { status: 404, message: `${request.method} ${url} is not known here` });
      return;
    case "count":
    case "model":
      await converse(request, response, {
        context,
        endpoint,
        url,
        gone: AbortSignal.any([left.signal, context.closing]),
      });
  }
}

interface Exchange {
  context: Context;
  endpoint: Endpoint & { protocol: Protocol };
  url: string;
  gone: AbortSignal;
}

async function converse(request: IncomingMessage, response: ServerResponse, exchange: Exchange): Promise<void> {
  const { context, endpoint, url, gone } = exchange;
  const { protocol } = endpoint;
  const entry = blankEntry({ n: context.log.next(), protocol, path: url });
  const admitted = await admit(request, { context, protocol, n: entry.n });
  if (admitted === "gone") return;
  if ("status" in admitted) {
    context.log.add({ ...entry, status: admitted.status });
    if (admitted.status === 413) response.setHeader("connection", "close");
    refuse(response, protocol, admitted);
    return;
  }
  const known = { ...entry, ...described(admitted.request), conversation: conversationOf(admitted.request) };
  if (endpoint.is === "count") {
    context.log.add({ ...known, answered: "count", status: 200 });
    sendJson(response, { input_tokens: totalTokens(admitted.blocks) });
    return;
  }
  const { plan, step, number } = await decide(admitted, { context, protocol });
  const outcome = outcomeOf(plan);
  context.log.add({
    ...known,
    ...outcome,
    step: number,
    answered: number === null && plan.do === "answer" ? "side" : outcome.answered,
  });
  const pace = { delayMs: step.delayMs ?? 0, chunkMs: step.chunkMs ?? 0, headers: step.headers ?? {} };
  await perform(plan, { response, protocol, request: admitted.request, pace, gone });
}

interface Refused {
  status: number;
  message: string;
}

/** Everything that can be wrong with a request before anybody looks at what it wants. */
async function admit(
  request: IncomingMessage,
  { context, protocol, n }: { context: Context; protocol: Protocol; n: number },
): Promise<Parsed | Refused | "gone"> {
  const body = await readBody(request);
  switch (body.is) {
    case "gone":
      return "gone";
    case "too-large":
      return { status: 413, message: "Request exceeds the maximum size" };
    case "unreadable":
      return { status: 400, message: "The body's content-encoding cannot be read" };
    case "text":
      context.log.dump(n, body.text);
  }
  if (!mayEnter(request, context)) return { status: 401, message: "invalid x-api-key" };
  try {
    const parsed = parse(body.text, protocol);
    const { model, body: asked } = parsed.request;
    if (!knowsModel(context.script, model)) return { status: 404, message: `model: ${model}` };
    return context.sandbox.refusalOf(asked) ?? counted(parsed, context);
  } catch (error) {
    return { status: 400, message: (error as Error).message };
  }
}

const counted = (parsed: Parsed, { tokensIn }: Context): Parsed =>
  tokensIn === undefined
    ? parsed
    : { ...parsed, blocks: parsed.blocks.map((block) => ({ ...block, tokens: tokensIn(block.text) })) };

function parse(text: string, protocol: Protocol): Parsed {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (error) {
    throw new BadRequest(`The request body is not valid JSON: ${(error as Error).message}`, { cause: error });
  }
  if (!isObject(body)) throw new BadRequest("The request body is not a JSON object");
  return protocol.parse(body);
}

const mayEnter = (request: IncomingMessage, { apiKey }: Context): boolean =>
  apiKey === undefined || keyOf(request) === apiKey;

function keyOf(request: IncomingMessage): string {
  const key = request.headers["x-api-key"];
  if (typeof key === "string") return key;
  return (request.headers.authorization ?? "").replace(/^Bearer\s+/i, "");
}

/** `number` is null when the script was not asked or had no answer. */
async function decide(
  parsed: Parsed,
  { context, protocol }: { context: Context; protocol: Protocol },
): Promise<{ plan: Plan; step: Step; number: number | null }> {
  const { sandbox, cache } = context;
  const { body } = parsed.request;
  const planned = async (step: Step): Promise<Plan> => {
    if (step.expireContainer === true && sandbox.expire(body))
      return { do: "refuse", refusal: containerGone("it names") };
    const executed = step.execute === undefined ? undefined : await sandbox.execute(step.execute, body);
    return planOf(step, { ...parsed, protocol, cache, nowMs: Date.now(), executed });
  };
  if (isSideRequest(parsed.request)) return { plan: await planned(SIDE_STEP), step: SIDE_STEP, number: null };
  try {
    const { step, number } = await choose(context.script, parsed.request, context.tally);
    return { plan: await planned(step), step, number };
  } catch (error) {
    const status = error instanceof UsageError ? 400 : 500;
    const refusal = { status, message: `the script failed: ${(error as Error).message}` };
    return { plan: { do: "refuse", refusal }, step: {}, number: null };
  }
}

function blankEntry({ n, protocol, path }: { n: number; protocol: Protocol; path: string }): LoggedRequest {
  return {
    n,
    at: new Date().toISOString(),
    protocol: protocol.name,
    path,
    model: "",
    stream: false,
    step: null,
    conversation: null,
    prompt: "",
    lastUserText: "",
    toolResults: [],
    toolsOffered: 0,
    messages: 0,
    answered: "refused",
    status: 0,
    tools: [],
    billing: NOTHING_BILLED,
  };
}
