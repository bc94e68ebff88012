/** From a step of the script to what goes over the wire. */
import type { BillableBlock, Billing, PrefixCache } from "./billing.ts";
import { billInput, priced, tokensOf } from "./billing.ts";
import type { Answer, AnswerBlock, Protocol, Refusal } from "./protocol.ts";
import { isObject, newId, textOf } from "./protocol.ts";
import { ratesOf } from "./rates.ts";
import type { StandinRequest } from "./request.ts";
import type { Executed } from "./sandbox.ts";
import type { Step } from "./script.ts";

export type Plan =
  /** `silent`: half of it, then nothing; `cut`: half of it, then the connection ends. */
  | { do: "answer"; answer: Answer; ending: "whole" | "silent" | "cut" }
  | { do: "refuse"; refusal: Refusal }
  | { do: "cut" }
  | { do: "hang" };

export interface PlanContext {
  request: StandinRequest;
  blocks: readonly BillableBlock[];
  protocol: Protocol;
  cache: PrefixCache;
  nowMs: number;
  /** What came of the step's code. */
  executed?: Executed | undefined;
}

/** Of an answer that is not sent whole. */
export const PARTIAL_SHARE = 0.5;

const MESSAGES: Readonly<Record<number, string>> = {
  401: "invalid x-api-key",
  403: "Your API key does not have permission to use the specified resource.",
  404: "model not found",
  429: "This request would exceed your account's rate limit. Please try again later.",
  500: "Internal server error",
  529: "Overloaded",
};

export function planOf(step: Step, context: PlanContext): Plan {
  if (step.hang === true) return { do: "hang" };
  if (step.cutSocket === "before") return { do: "cut" };
  const status = step.status ?? (step.usageLimitText === undefined ? 200 : 429);
  if (status !== 200) return { do: "refuse", refusal: refusalOf(step, { status, nowMs: context.nowMs }) };
  const ending = step.stopMidStream === true ? "silent" : step.cutSocket === "mid" ? "cut" : "whole";
  return {
    do: "answer",
    answer: answerOf(step, { ...context, share: ending === "whole" ? 1 : PARTIAL_SHARE }),
    ending,
  };
}

function refusalOf(step: Step, { status, nowMs }: { status: number; nowMs: number }): Refusal {
  const nowS = Math.floor(nowMs / 1000);
  return {
    status,
    message: step.message ?? step.usageLimitText ?? MESSAGES[status] ?? `error ${status} of the script`,
    resetAtS: step.resetAt ?? (step.resetInS === undefined ? undefined : nowS + Math.ceil(step.resetInS)),
    retryAfterS: step.retryAfterS,
    code: step.code,
    usageLimit: step.usageLimitText !== undefined,
  };
}

/** Tools by which agent programs have their model answer in a form. */
const ANSWER_TOOLS = ["StructuredOutput"];

/** The tool that an answer in a form is the input of; undefined: it is text. */
function answerTool({ body, tools }: StandinRequest): string | undefined {
  const choice = body["tool_choice"];
  if (isObject(choice) && choice["type"] === "tool") return textOf(choice["name"]);
  return ANSWER_TOOLS.find((name) => tools.has(name));
}

function blocksOf(step: Step, { request, executed }: Pick<PlanContext, "request" | "executed">): AnswerBlock[] {
  const isTool = step.answer !== undefined && answerTool(request) !== undefined;
  const answer = step.answer === undefined || isTool ? [] : [JSON.stringify(step.answer)];
  const texts = [step.usageLimitText ?? step.text ?? [], answer].flat(2);
  const told = texts.map((text) => ({ type: "text" as const, text }));
  // A client that offers no tools (a title request, a judge) cannot be asked to run one.
  const tools = request.tools.size === 0 ? [] : [...(step.tools ?? []), ...answerCall(step, request)];
  const prefix = request.protocol === "messages" ? "toolu_" : "call_";
  const blocks: AnswerBlock[] = [
    ...compactionOf(step, request),
    ...(step.thinking === undefined ? [] : [{ type: "thinking" as const, text: step.thinking }]),
    ...told.slice(0, -1),
    ...(executed?.blocks ?? []),
    ...told.slice(-1),
    ...tools.map(({ name, input }) => ({ type: "tool" as const, id: newId(prefix), name, input: input ?? {} })),
  ];
  return blocks.some((block) => block.type !== "thinking") ? blocks : [...blocks, { type: "text", text: "ok" }];
}

function answerCall({ answer }: Step, request: StandinRequest): NonNullable<Step["tools"]> {
  const name = answer === undefined ? undefined : answerTool(request);
  return name === undefined ? [] : [{ name, input: answer as Record<string, never> }];
}

/** As the API has it: a block before everything else. */
function compactionOf({ compaction }: Step, { body }: StandinRequest): AnswerBlock[] {
  if (compaction === undefined || body["context_management"] === undefined) return [];
  const content = { type: "compaction", content: compaction.summary, encrypted_content: "sealed by the stand-in" };
  return [{ type: "server", content }];
}

function answerOf(step: Step, context: PlanContext & { share: number }): Answer {
  const { request, executed } = context;
  const blocks = blocksOf(step, context);
  const calls = blocks.some((block) => block.type === "tool");
  return {
    model: request.model,
    blocks,
    stopReason: step.stopReason ?? (calls ? "tool_use" : "end_turn"),
    billing: billingOf(step.usage, { ...context, answer: blocks }),
    ...(executed === undefined ? {} : { container: containerOf(executed) }),
    ...(request.body["context_management"] === undefined ? {} : { appliedEdits: step.appliedEdits ?? [] }),
    ...(compactionOf(step, request).length === 0 ? {} : { compacted: step.compaction }),
  };
}

const containerOf = ({ container: { id, expiresAtMs } }: Executed) => ({
  id,
  expires_at: new Date(expiresAtMs).toISOString(),
});

/** What the model wrote of a block. */
function written(block: AnswerBlock): string {
  switch (block.type) {
    case "tool":
      return `${block.name}${JSON.stringify(block.input)}`;
    case "server":
      return JSON.stringify(block.content["input"] ?? "");
    case "text":
    case "thinking":
      return block.text;
  }
}

function billingOf(
  usage: Step["usage"],
  context: PlanContext & { answer: readonly AnswerBlock[]; share: number },
): Billing {
  const { request, blocks, protocol, cache, nowMs, answer, share } = context;
  const input = billInput({ model: request.model, blocks, mode: protocol.cacheMode }, { cache, nowMs });
  const output = answer.reduce((sum, block) => sum + tokensOf(written(block)), 0);
  const counted = { ...input, outputTokens: Math.ceil(output * share) };
  const told =
    usage === undefined
      ? counted
      : {
          inputTokens: usage.input ?? counted.inputTokens,
          cacheReadTokens: usage.cacheRead ?? counted.cacheReadTokens,
          cacheWrite5mTokens: usage.cacheWrite ?? counted.cacheWrite5mTokens,
          cacheWrite1hTokens: usage.cacheWrite === undefined ? counted.cacheWrite1hTokens : 0,
          outputTokens: usage.output ?? counted.outputTokens,
        };
  return priced(told, ratesOf(request.model));
}
