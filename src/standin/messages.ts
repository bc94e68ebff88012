/** Anthropic Messages: `POST /v1/messages`, whole and as a stream, and `count_tokens`. */
import type { BillableBlock, Billing, Ttl } from "./billing.ts";
import { MAX_BREAKPOINTS } from "./billing.ts";
import type { Answer, AnswerBlock, Json, Parsed, Protocol, Refusal } from "./protocol.ts";
import { BadRequest, chunksOf, isObject, newId, numberOf, objectsOf, sse, textOf, textsOf } from "./protocol.ts";
import type { Turn } from "./request.ts";

/** Agent programs put a line here that differs in every request; the real API leaves it out of the cache. */
const ATTRIBUTION = "x-anthropic-billing-header:";
/** What the real API calls a signature; ours is only there to be sent back. */
const SIGNATURE = Buffer.from("signed by the stand-in model").toString("base64");

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

const blocksOf = (content: unknown): Json[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : objectsOf(content);

function ttlOf(value: unknown): Ttl | undefined {
  if (!isObject(value)) return undefined;
  return value["ttl"] === "1h" ? "1h" : "5m";
}

function billable(block: Json, salt: string): BillableBlock {
  const { cache_control: control, ...rest } = block;
  const breakpoint = ttlOf(control);
  return { text: JSON.stringify(rest), salt, ...(breakpoint === undefined ? {} : { breakpoint }) };
}

function billableBlocks(body: Json): BillableBlock[] {
  const tools = objectsOf(body["tools"]).map((tool) => billable(tool, "tool"));
  const system = blocksOf(body["system"] ?? [])
    .filter((block) => !textOf(block["text"]).startsWith(ATTRIBUTION))
    .map((block) => billable(block, "system"));
  // Changing these keeps the cache of tools and system, and loses that of the messages.
  const parameters = JSON.stringify([body["tool_choice"] ?? null, body["thinking"] ?? null]);
  const messages = objectsOf(body["messages"]).flatMap((message) =>
    blocksOf(message["content"]).map((block) => billable(block, `${textOf(message["role"])}\0${parameters}`)),
  );
  const all = [...tools, ...system, ...messages];
  const automatic = ttlOf(body["cache_control"]);
  const last = all.at(-1);
  if (automatic !== undefined && last !== undefined) all[all.length - 1] = { ...last, breakpoint: automatic };
  return all;
}

function roleOf(message: Json): Turn["role"] {
  const role = message["role"];
  return role === "assistant" || role === "system" ? role : "user";
}

function turnOf(message: Json): Turn {
  const blocks = blocksOf(message["content"]);
  return {
    role: roleOf(message),
    texts: blocks.filter((block) => block["type"] === "text").flatMap((block) => textsOf([block])),
    toolResults: blocks
      .filter((block) => block["type"] === "tool_result")
      .map((block) => textsOf(block["content"]).join("\n")),
    toolCalls: blocks.filter((block) => block["type"] === "tool_use").length,
    serverCalls: blocks.filter((block) => block["type"] === "server_tool_use").length,
  };
}

/** The rules of the real API that a broken resume would run into. */
function demandPairs(messages: readonly Json[]): void {
  for (const [at, message] of messages.entries()) {
    const calls = blocksOf(message["content"]).filter((block) => block["type"] === "tool_use");
    const answered = new Set(blocksOf(messages[at + 1]?.["content"] ?? []).map((block) => block["tool_use_id"]));
    const missing = calls.filter((call) => !answered.has(call["id"])).map((call) => textOf(call["id"]));
    if (missing.length > 0)
      throw new BadRequest(
        `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(", ")}.`,
      );
    const results = blocksOf(message["content"]).filter((block) => block["type"] === "tool_result");
    const called = new Set(blocksOf(messages[at - 1]?.["content"] ?? []).map((block) => block["id"]));
    const stray = results.find((result) => !called.has(result["tool_use_id"]));
    if (stray !== undefined)
      throw new BadRequest(
        `messages.${at}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${textOf(stray["tool_use_id"])}.`,
      );
  }
}

/** One that waits for its result is sent back as it is, with nothing of the user behind it. */
function demandServerResults(messages: readonly Json[]): void {
  for (const [at, message] of messages.entries()) {
    if (message["role"] !== "assistant" || messages[at + 1]?.["role"] !== "user") continue;
    const blocks = blocksOf(message["content"]);
    const answered = new Set(blocks.map((block) => block["tool_use_id"]));
    const open = blocks.find((block) => block["type"] === "server_tool_use" && !answered.has(block["id"]));
    if (open !== undefined)
      throw new BadRequest(`messages.${at}: \`server_tool_use\` without its result: ${textOf(open["id"])}.`);
  }
}

function parse(body: Json): Parsed {
  const model = textOf(body["model"]);
  if (model === "") throw new BadRequest("model: Field required");
  const messages = objectsOf(body["messages"]);
  if (messages.length === 0) throw new BadRequest("messages: at least one message is required");
  if (messages[0]?.["role"] !== "user") throw new BadRequest('messages: first message must use the "user" role');
  demandPairs(messages.filter((message) => roleOf(message) !== "system"));
  demandServerResults(messages);
  const blocks = billableBlocks(body);
  const breakpoints = blocks.filter((block) => block.breakpoint !== undefined).length;
  if (breakpoints > MAX_BREAKPOINTS)
    throw new BadRequest(
      `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${breakpoints}.`,
    );
  const metadata = isObject(body["metadata"]) ? body["metadata"] : {};
  return {
    blocks,
    request: {
      protocol: "messages",
      model,
      stream: body["stream"] === true,
      maxTokens: numberOf(body["max_tokens"]),
      system: textsOf(body["system"]).join("\n"),
      turns: messages.map(turnOf),
      tools: new Map(objectsOf(body["tools"]).map((tool) => [textOf(tool["name"]), "function"])),
      sessionHint: textOf(metadata["user_id"]),
      body,
    },
  };
}

function usageOf(billing: Billing, { compacted }: Pick<Answer, "compacted"> = {}): Json {
  return {
    ...(compacted === undefined ? {} : { iterations: iterationsOf(billing, compacted) }),
    input_tokens: billing.inputTokens,
    cache_creation_input_tokens: billing.cacheWrite5mTokens + billing.cacheWrite1hTokens,
    cache_read_input_tokens: billing.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: billing.cacheWrite5mTokens,
      ephemeral_1h_input_tokens: billing.cacheWrite1hTokens,
    },
    output_tokens: billing.outputTokens,
    service_tier: "standard",
  };
}

/** The counts beside these leave out what summing up cost. */
function iterationsOf(billing: Billing, { input, output }: NonNullable<Answer["compacted"]>): Json[] {
  const none = { cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  return [
    { type: "compaction", input_tokens: input, output_tokens: output, ...none },
    { type: "message", ...usageOf(billing) },
  ];
}

function contentOf(block: AnswerBlock): Json {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: SIGNATURE };
    case "tool":
      return { type: "tool_use", id: block.id, name: block.name, input: block.input };
    case "server":
      return block.content;
  }
}

const containerOf = ({ container }: Answer): Json => ({
  container: container === undefined ? null : { ...container, skills: null },
});

const editsOf = ({ appliedEdits }: Answer): Json =>
  appliedEdits === undefined ? {} : { context_management: { applied_edits: appliedEdits } };

function json(answer: Answer): Json {
  return {
    id: newId("msg_"),
    type: "message",
    role: "assistant",
    model: answer.model,
    content: answer.blocks.map(contentOf),
    stop_reason: answer.stopReason,
    stop_sequence: null,
    ...containerOf(answer),
    ...editsOf(answer),
    usage: usageOf(answer.billing, answer),
  };
}

const inputDeltas = (input: unknown): Json[] =>
  chunksOf(JSON.stringify(input)).map((part) => ({ type: "input_json_delta", partial_json: part }));

function deltasOf(block: AnswerBlock): { start: Json; deltas: Json[] } {
  switch (block.type) {
    case "text":
      return {
        start: { type: "text", text: "" },
        deltas: chunksOf(block.text).map((text) => ({ type: "text_delta", text })),
      };
    case "thinking":
      return {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          ...chunksOf(block.text).map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: SIGNATURE },
        ],
      };
    case "tool":
      return {
        start: { type: "tool_use", id: block.id, name: block.name, input: {} },
        deltas: inputDeltas(block.input),
      };
    case "server": {
      const { input, ...call } = block.content;
      if (call["type"] === "compaction") {
        const { type: _, ...summary } = call;
        return {
          start: { type: "compaction", content: null, encrypted_content: null },
          deltas: [{ type: "compaction_delta", ...summary }],
        };
      }
      return input === undefined
        ? { start: block.content, deltas: [] }
        : { start: { ...call, input: {} }, deltas: inputDeltas(input) };
    }
  }
}

function events(answer: Answer): string[] {
  const event = (type: string, data: Json): string => sse({ type, ...data }, type);
  // The stream opens with a token or so of output; the true count comes with the end.
  const opening = usageOf({ ...answer.billing, outputTokens: Math.min(1, answer.billing.outputTokens) });
  return [
    event("message_start", {
      message: { ...json(answer), content: [], stop_reason: null, container: null, usage: opening },
    }),
    event("ping", {}),
    ...answer.blocks.flatMap((block, index) => {
      const { start, deltas } = deltasOf(block);
      return [
        event("content_block_start", { index, content_block: start }),
        ...deltas.map((delta) => event("content_block_delta", { index, delta })),
        event("content_block_stop", { index }),
      ];
    }),
    event("message_delta", {
      delta: { stop_reason: answer.stopReason, stop_sequence: null, ...containerOf(answer) },
      ...editsOf(answer),
      usage: usageOf(answer.billing, answer),
    }),
    event("message_stop", {}),
  ];
}

function refusal({ status, message, resetAtS, retryAfterS, usageLimit }: Refusal): ReturnType<Protocol["refusal"]> {
  const requestId = newId("req_");
  const headers: Record<string, string> = { "request-id": requestId };
  if (retryAfterS !== undefined) headers["retry-after"] = String(retryAfterS);
  if (status === 429 && resetAtS !== undefined) {
    headers["anthropic-ratelimit-requests-remaining"] = "0";
    headers["anthropic-ratelimit-requests-reset"] = new Date(resetAtS * 1000).toISOString();
    headers["anthropic-ratelimit-unified-reset"] = String(resetAtS);
  }
  if (usageLimit === true) {
    headers["anthropic-ratelimit-unified-status"] = "rejected";
    headers["anthropic-ratelimit-unified-representative-claim"] = "five_hour";
  }
  const type = ERROR_TYPES[status] ?? "api_error";
  return { headers, body: { type: "error", error: { type, message }, request_id: requestId } };
}

export const messagesProtocol: Protocol = { name: "messages", cacheMode: "marked", parse, json, events, refusal };
