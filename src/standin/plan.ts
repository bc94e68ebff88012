/** From a step of the script to what goes over the wire. */
import type { BillableBlock, Billing, PrefixCache } from "./billing.ts";
import { billInput, priced, tokensOf } from "./billing.ts";
import type { Answer, AnswerBlock, Protocol, Refusal } from "./protocol.ts";
import { newId } from "./protocol.ts";
import { ratesOf } from "./rates.ts";
import type { StandinRequest } from "./request.ts";
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

function blocksOf(step: Step, request: StandinRequest): AnswerBlock[] {
  const texts = step.usageLimitText ?? step.text ?? [];
  // A client that offers no tools (a title request, a judge) cannot be asked to run one.
  const tools = request.tools.size === 0 ? [] : (step.tools ?? []);
  const prefix = request.protocol === "messages" ? "toolu_" : "call_";
  const blocks: AnswerBlock[] = [
    ...(step.thinking === undefined ? [] : [{ type: "thinking" as const, text: step.thinking }]),
    ...[texts].flat().map((text) => ({ type: "text" as const, text })),
    ...tools.map(({ name, input }) => ({ type: "tool" as const, id: newId(prefix), name, input: input ?? {} })),
  ];
  return blocks.some((block) => block.type !== "thinking") ? blocks : [...blocks, { type: "text", text: "ok" }];
}

function answerOf(step: Step, context: PlanContext & { share: number }): Answer {
  const { request } = context;
  const blocks = blocksOf(step, request);
  const calls = blocks.some((block) => block.type === "tool");
  return {
    model: request.model,
    blocks,
    stopReason: step.stopReason ?? (calls ? "tool_use" : "end_turn"),
    billing: billingOf(step.usage, { ...context, answer: blocks }),
  };
}

function billingOf(
  usage: Step["usage"],
  context: PlanContext & { answer: readonly AnswerBlock[]; share: number },
): Billing {
  const { request, blocks, protocol, cache, nowMs, answer, share } = context;
  const input = billInput({ model: request.model, blocks, mode: protocol.cacheMode }, { cache, nowMs });
  const output = answer.reduce(
    (sum, block) => sum + tokensOf(block.type === "tool" ? `${block.name}${JSON.stringify(block.input)}` : block.text),
    0,
  );
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
