/** OpenAI Chat Completions: `POST /v1/chat/completions`, whole and as a stream. */
import type { BillableBlock, Billing } from "./billing.ts";
import type { Answer, AnswerBlock, Json, Parsed, Protocol } from "./protocol.ts";
import { BadRequest, chunksOf, isObject, newId, numberOf, objectsOf, sse, textOf, textsOf } from "./protocol.ts";
import { openaiRefusal } from "./openai-error.ts";
import type { StandinRequest, Turn } from "./request.ts";

const isInstruction = (message: Json): boolean => message["role"] === "system" || message["role"] === "developer";

/** Results of one round of tool calls come as messages of their own: together they are one turn. */
function turnsOf(messages: readonly Json[]): Turn[] {
  const turns: Turn[] = [];
  let results: string[] | undefined;
  for (const message of messages.filter((each) => !isInstruction(each))) {
    const texts = textsOf(message["content"]);
    if (message["role"] !== "tool") {
      results = undefined;
      const role = message["role"] === "assistant" ? "assistant" : "user";
      turns.push({ role, texts, toolResults: [], toolCalls: objectsOf(message["tool_calls"]).length });
      continue;
    }
    if (results === undefined) {
      results = [];
      turns.push({ role: "user", texts: [], toolResults: results, toolCalls: 0 });
    }
    results.push(texts.join("\n"));
  }
  return turns;
}

function billableBlocks(body: Json, messages: readonly Json[]): BillableBlock[] {
  const block = (salt: string) => (value: Json) => ({ text: JSON.stringify(value), salt });
  return [...objectsOf(body["tools"]).map(block("tool")), ...messages.map(block("message"))];
}

function parse(body: Json): Parsed {
  const model = textOf(body["model"]);
  if (model === "") throw new BadRequest("you must provide a model parameter");
  const messages = objectsOf(body["messages"]);
  if (messages.length === 0) throw new BadRequest("Missing required parameter: 'messages'.");
  const tools = objectsOf(body["tools"]).map((tool) => (isObject(tool["function"]) ? tool["function"] : tool));
  return {
    blocks: billableBlocks(body, messages),
    request: {
      protocol: "chat",
      model,
      stream: body["stream"] === true,
      maxTokens: numberOf(body["max_completion_tokens"] ?? body["max_tokens"]),
      system: messages
        .filter(isInstruction)
        .flatMap((message) => textsOf(message["content"]))
        .join("\n"),
      turns: turnsOf(messages),
      tools: new Map(tools.map((tool) => [textOf(tool["name"]), "function"])),
      sessionHint: textOf(body["prompt_cache_key"] ?? body["user"]),
      body,
    },
  };
}

function finishOf(stopReason: string): string {
  switch (stopReason) {
    case "tool_use":
      return "tool_calls";
    case "max_tokens":
      return "length";
    case "refusal":
      return "content_filter";
    default:
      return "stop";
  }
}

function usageOf(billing: Billing): Json {
  const prompt = billing.inputTokens + billing.cacheReadTokens;
  return {
    prompt_tokens: prompt,
    completion_tokens: billing.outputTokens,
    total_tokens: prompt + billing.outputTokens,
    prompt_tokens_details: { cached_tokens: billing.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

type Kind = AnswerBlock["type"];
const ofType = <K extends Kind>(answer: Answer, type: K): Extract<AnswerBlock, { type: K }>[] =>
  answer.blocks.filter((block): block is Extract<AnswerBlock, { type: K }> => block.type === type);

const head = (answer: Answer, object: string): Json => ({
  id: newId("chatcmpl-"),
  object,
  created: Math.floor(Date.now() / 1000),
  model: answer.model,
});

function json(answer: Answer): Json {
  const texts = ofType(answer, "text").map((block) => block.text);
  const thoughts = ofType(answer, "thinking").map((block) => block.text);
  const calls = ofType(answer, "tool").map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  const message = {
    role: "assistant",
    content: texts.length === 0 ? null : texts.join("\n"),
    ...(thoughts.length === 0 ? {} : { reasoning_content: thoughts.join("\n") }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...head(answer, "chat.completion"),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishOf(answer.stopReason) }],
    usage: usageOf(answer.billing),
  };
}

/** Blocks of one kind are one text here, so that the stream says the same as the whole. */
function deltasOf(answer: Answer): Json[] {
  const thoughts = chunksOf(
    ofType(answer, "thinking")
      .map((block) => block.text)
      .join("\n"),
  );
  const texts = chunksOf(
    ofType(answer, "text")
      .map((block) => block.text)
      .join("\n"),
  );
  const calls = ofType(answer, "tool").flatMap(({ id, name, input }, index) => [
    { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] },
    ...chunksOf(JSON.stringify(input)).map((part) => ({ tool_calls: [{ index, function: { arguments: part } }] })),
  ]);
  return [
    ...thoughts.map((text) => ({ reasoning_content: text })),
    ...texts.map((text) => ({ content: text })),
    ...calls,
  ];
}

function events(answer: Answer, request: StandinRequest): string[] {
  const opening = head(answer, "chat.completion.chunk");
  const chunk = (delta: Json, finish: string | null): string =>
    sse({ ...opening, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] });
  const options = request.body["stream_options"];
  const wantsUsage = isObject(options) && options["include_usage"] === true;
  return [
    chunk({ role: "assistant", content: "" }, null),
    ...deltasOf(answer).map((delta) => chunk(delta, null)),
    chunk({}, finishOf(answer.stopReason)),
    ...(wantsUsage ? [sse({ ...opening, choices: [], usage: usageOf(answer.billing) })] : []),
    "data: [DONE]\n\n",
  ];
}

export const chatProtocol: Protocol = {
  name: "chat",
  cacheMode: "automatic",
  parse,
  json,
  events,
  refusal: openaiRefusal,
};
