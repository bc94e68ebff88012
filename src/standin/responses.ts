/** OpenAI Responses: `POST /v1/responses`, whole and as a stream. The conversation is in the request; none is kept. */
import type { BillableBlock, Billing } from "./billing.ts";
import { openaiRefusal } from "./openai-error.ts";
import type { Answer, AnswerBlock, Json, Parsed, Protocol } from "./protocol.ts";
import { BadRequest, chunksOf, newId, numberOf, objectsOf, sse, textOf, textsOf } from "./protocol.ts";
import type { StandinRequest, Turn } from "./request.ts";

type ToolKind = "function" | "custom";

const itemsOf = (input: unknown): Json[] =>
  typeof input === "string" ? [{ type: "message", role: "user", content: input }] : objectsOf(input);

const isInstruction = (item: Json): boolean => item["role"] === "system" || item["role"] === "developer";
const isResult = (item: Json): boolean => textOf(item["type"]).endsWith("_output");
const isUser = (item: Json): boolean => item["role"] === "user";

interface GrowingTurn {
  role: "user" | "assistant";
  texts: string[];
  toolResults: string[];
  toolCalls: number;
}

/** The input is a flat list: what the model said between two things it was told is one turn, and so are its results. */
function turnsOf(items: readonly Json[]): Turn[] {
  const turns: GrowingTurn[] = [];
  let before: "user" | "result" | "model" | undefined;
  for (const item of items.filter((each) => !isInstruction(each))) {
    const kind = isResult(item) ? "result" : isUser(item) ? "user" : "model";
    let turn = turns.at(-1);
    if (turn === undefined || kind === "user" || kind !== before) {
      turn = { role: kind === "model" ? "assistant" : "user", texts: [], toolResults: [], toolCalls: 0 };
      turns.push(turn);
    }
    before = kind;
    turn.texts.push(...textsOf(item["content"]));
    if (kind === "result") turn.toolResults.push(textsOf(item["output"]).join("\n"));
    if (kind === "model" && textOf(item["type"]).endsWith("_call")) turn.toolCalls += 1;
  }
  return turns;
}

/** Between the name of a group of tools and that of a tool in it. */
const IN_GROUP = "/";

/** The group whose tools are called by their own names alone. */
const PLAIN_GROUP = "functions";

/** Beside the request's own list, some models get theirs as the first item of the input. */
const offeredIn = (body: Json): Json[] => [
  ...objectsOf(body["tools"]),
  ...itemsOf(body["input"]).flatMap((item) => (item["type"] === "additional_tools" ? objectsOf(item["tools"]) : [])),
];

/** Tools may come in groups (`namespace`); here such a tool is called `group/tool`. */
function toolsOf(body: Json): Map<string, ToolKind> {
  const named = (tool: Json, group = ""): [string, ToolKind][] => {
    const name = group + textOf(tool["name"]);
    if (textOf(tool["name"]) === "") return [];
    const inside = name === PLAIN_GROUP ? "" : name + IN_GROUP;
    if (tool["type"] === "namespace") return objectsOf(tool["tools"]).flatMap((one) => named(one, inside));
    return [[name, tool["type"] === "custom" ? "custom" : "function"]];
  };
  return new Map(offeredIn(body).flatMap((tool) => named(tool)));
}

function billableBlocks(body: Json, items: readonly Json[]): BillableBlock[] {
  const block = (salt: string) => (value: Json | string) => ({ text: JSON.stringify(value), salt });
  const instructions = textOf(body["instructions"]);
  return [
    ...objectsOf(body["tools"]).map(block("tool")),
    ...(instructions === "" ? [] : [instructions].map(block("system"))),
    ...items.map(block("item")),
  ];
}

function parse(body: Json): Parsed {
  const model = textOf(body["model"]);
  if (model === "") throw new BadRequest("Missing required parameter: 'model'.");
  const items = itemsOf(body["input"]);
  if (items.length === 0) throw new BadRequest("Missing required parameter: 'input'.");
  const instructions = items.filter(isInstruction).flatMap((item) => textsOf(item["content"]));
  return {
    blocks: billableBlocks(body, items),
    request: {
      protocol: "responses",
      model,
      stream: body["stream"] === true,
      maxTokens: numberOf(body["max_output_tokens"]),
      system: [textOf(body["instructions"]), ...instructions].join("\n"),
      turns: turnsOf(items),
      tools: toolsOf(body),
      sessionHint: textOf(body["prompt_cache_key"] ?? body["user"]),
      body,
    },
  };
}

function usageOf(billing: Billing): Json {
  const input = billing.inputTokens + billing.cacheReadTokens;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: billing.cacheReadTokens },
    output_tokens: billing.outputTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + billing.outputTokens,
  };
}

const textPart = (text: string): Json => ({ type: "output_text", text, annotations: [], logprobs: [] });

/** A tool of the kind `custom` takes plain text: the field `input` of the step's input. */
const rawInput = (input: Json): string => (typeof input["input"] === "string" ? input["input"] : JSON.stringify(input));

/** Tools of Anthropic's that run on its side do not exist here. */
type ItemBlock = Exclude<AnswerBlock, { type: "server" }>;
const itemBlocks = ({ blocks }: Answer): ItemBlock[] => blocks.filter((block) => block.type !== "server");

function itemOf(block: ItemBlock, kinds: ReadonlyMap<string, ToolKind>): Json {
  switch (block.type) {
    case "text":
      return {
        id: newId("msg_"),
        type: "message",
        role: "assistant",
        status: "completed",
        content: [textPart(block.text)],
      };
    case "thinking":
      return {
        id: newId("rs_"),
        type: "reasoning",
        summary: [{ type: "summary_text", text: block.text }],
        encrypted_content: null,
      };
    case "tool": {
      const at = block.name.indexOf(IN_GROUP);
      const group = at < 0 ? {} : { namespace: block.name.slice(0, at) };
      const call = {
        id: newId("fc_"),
        call_id: block.id,
        name: block.name.slice(at + 1),
        ...group,
        status: "completed",
      };
      return kinds.get(block.name) === "custom"
        ? { ...call, type: "custom_tool_call", input: rawInput(block.input) }
        : { ...call, type: "function_call", arguments: JSON.stringify(block.input) };
    }
  }
}

function responseOf(answer: Answer, { id, output }: { id: string; output: readonly Json[] | null }): Json {
  const cut = answer.stopReason === "max_tokens";
  return {
    id,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: output === null ? "in_progress" : cut ? "incomplete" : "completed",
    error: null,
    incomplete_details: output !== null && cut ? { reason: "max_output_tokens" } : null,
    model: answer.model,
    output: output ?? [],
    parallel_tool_calls: true,
    usage: output === null ? null : usageOf(answer.billing),
  };
}

function json(answer: Answer, request: StandinRequest): Json {
  return responseOf(answer, {
    id: newId("resp_"),
    output: itemBlocks(answer).map((block) => itemOf(block, request.tools)),
  });
}

interface Event {
  type: string;
  [field: string]: unknown;
}

/** The events between an item's being added and its being done. */
function growth(item: Json, block: ItemBlock): { empty: Json; events: Event[] } {
  const at = { item_id: item["id"] };
  switch (block.type) {
    case "text": {
      const part = { ...at, content_index: 0 };
      return {
        empty: { ...item, status: "in_progress", content: [] },
        events: [
          { type: "response.content_part.added", ...part, part: textPart("") },
          ...chunksOf(block.text).map((delta) => ({
            type: "response.output_text.delta",
            ...part,
            delta,
            logprobs: [],
          })),
          { type: "response.output_text.done", ...part, text: block.text, logprobs: [] },
          { type: "response.content_part.done", ...part, part: textPart(block.text) },
        ],
      };
    }
    case "thinking": {
      const part = { ...at, summary_index: 0 };
      const whole = { type: "summary_text", text: block.text };
      return {
        empty: { ...item, summary: [] },
        events: [
          { type: "response.reasoning_summary_part.added", ...part, part: { ...whole, text: "" } },
          ...chunksOf(block.text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...part, delta })),
          { type: "response.reasoning_summary_text.done", ...part, text: block.text },
          { type: "response.reasoning_summary_part.done", ...part, part: whole },
        ],
      };
    }
    case "tool": {
      const custom = item["type"] === "custom_tool_call";
      const field = custom ? "input" : "arguments";
      const name = custom ? "response.custom_tool_call_input" : "response.function_call_arguments";
      const whole = textOf(item[field]);
      return {
        empty: { ...item, status: "in_progress", [field]: "" },
        events: [
          ...chunksOf(whole).map((delta) => ({ type: `${name}.delta`, ...at, delta })),
          { type: `${name}.done`, ...at, [field]: whole },
        ],
      };
    }
  }
}

function events(answer: Answer, request: StandinRequest): string[] {
  const id = newId("resp_");
  const output: Json[] = [];
  const all: Event[] = ["response.created", "response.in_progress"].map((type) => ({
    type,
    response: responseOf(answer, { id, output: null }),
  }));
  for (const [index, block] of itemBlocks(answer).entries()) {
    const item = itemOf(block, request.tools);
    const { empty, events } = growth(item, block);
    all.push({ type: "response.output_item.added", output_index: index, item: empty });
    all.push(...events.map((event) => ({ ...event, output_index: index })));
    all.push({ type: "response.output_item.done", output_index: index, item });
    output.push(item);
  }
  const response = responseOf(answer, { id, output });
  all.push({ type: `response.${textOf(response["status"])}`, response });
  return all.map((event, at) => sse({ ...event, sequence_number: at }, event.type));
}

export const responsesProtocol: Protocol = {
  name: "responses",
  cacheMode: "automatic",
  parse,
  json,
  events,
  refusal: openaiRefusal,
};
