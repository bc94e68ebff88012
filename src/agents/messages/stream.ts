/** One answer of the model, folded from its stream: whole blocks, what it cost, why it ended. Only reads. */
import type { ApiUsage } from "../api-meter.ts";
import type { Block } from "./blocks.ts";

/** An event of the stream, as far as it is read here; the stable and the beta API have the same. */
export interface StreamEvent {
  type: string;
  index?: number;
  message?: { id: string; model: string; usage: ApiUsage };
  content_block?: Block;
  delta?: Readonly<Record<string, unknown>>;
  usage?: ApiUsage;
  context_management?: { applied_edits?: readonly Readonly<Record<string, unknown>>[] } | null;
}

export interface Container {
  id: string;
  /** Wall clock, ms since 1970. */
  expiresAt: number;
}

export interface Answer {
  /** "": it has not begun. */
  id: string;
  model: string;
  blocks: Block[];
  /** Monotonic ms, by the index of a block: when it was complete. */
  doneAt: number[];
  /** Blocks whose input was cut. */
  torn: Block[];
  stop: string;
  stopDetails: unknown;
  usage: ApiUsage;
  container: Container | undefined;
  /** Tokens that the provider left out of the conversation. */
  cleared: number;
  /** The stream came to its end. */
  whole: boolean;
}

interface Growing {
  block: Block;
  input: string;
}

export interface AnswerReader {
  readonly answer: Answer;
  /** The block that this event completes. */
  take(event: StreamEvent): Block | undefined;
}

export function answerReader(): AnswerReader {
  const growing = new Map<number, Growing>();
  const answer: Answer = {
    id: "",
    model: "",
    blocks: [],
    doneAt: [],
    torn: [],
    stop: "",
    stopDetails: undefined,
    usage: {},
    container: undefined,
    cleared: 0,
    whole: false,
  };

  function take(event: StreamEvent): Block | undefined {
    const { index = 0 } = event;
    switch (event.type) {
      case "message_start":
        Object.assign(answer, { id: event.message?.id, model: event.message?.model, usage: event.message?.usage });
        return undefined;
      case "content_block_start":
        if (event.content_block !== undefined) growing.set(index, { block: event.content_block, input: "" });
        return undefined;
      case "content_block_delta":
        grow(growing.get(index), event.delta ?? {});
        return undefined;
      case "content_block_stop":
        return complete(growing.get(index));
      case "message_delta":
        ended(event);
        return undefined;
      case "message_stop":
        answer.whole = true;
        return undefined;
      default:
        return undefined;
    }
  }

  function complete(grown: Growing | undefined): Block | undefined {
    if (grown === undefined) return undefined;
    const block = withInput(grown);
    if (block === undefined) {
      answer.torn.push(grown.block);
      return undefined;
    }
    // The API takes no empty text back.
    if (block.type === "text" && block["text"] === "") return undefined;
    answer.blocks.push(block);
    answer.doneAt.push(performance.now());
    return block;
  }

  function ended({ delta = {}, usage, context_management: management }: StreamEvent): void {
    answer.usage = { ...answer.usage, ...present(usage ?? {}) };
    if (typeof delta["stop_reason"] === "string") answer.stop = delta["stop_reason"];
    answer.stopDetails = delta["stop_details"];
    answer.container = containerOf(delta["container"]) ?? answer.container;
    for (const edit of management?.applied_edits ?? []) {
      const tokens = edit["cleared_input_tokens"];
      if (typeof tokens === "number") answer.cleared += tokens;
    }
  }

  return { answer, take };
}

function grow(grown: Growing | undefined, delta: Readonly<Record<string, unknown>>): void {
  if (grown === undefined) return;
  const add = (field: string, more: unknown): void => {
    const before = grown.block[field];
    grown.block = { ...grown.block, [field]: `${typeof before === "string" ? before : ""}${String(more)}` };
  };
  switch (delta["type"]) {
    case "text_delta":
      return add("text", delta["text"]);
    case "thinking_delta":
      return add("thinking", delta["thinking"]);
    case "signature_delta":
      return add("signature", delta["signature"]);
    case "compaction_delta":
      return compact(grown, delta);
    case "input_json_delta":
      grown.input += String(delta["partial_json"]);
      return undefined;
    default:
      return undefined;
  }
}

/** What the conversation was summed up as: sent back as it came, null too, which says that it could not be done. */
function compact(grown: Growing, delta: Readonly<Record<string, unknown>>): void {
  const { content, encrypted_content: sealed } = delta;
  const before = grown.block["content"];
  const whole =
    typeof content === "string" ? `${typeof before === "string" ? before : ""}${content}` : (before ?? null);
  grown.block = { ...grown.block, content: whole, ...(sealed === undefined ? {} : { encrypted_content: sealed }) };
}

/** undefined: what was to be its input is no JSON. */
function withInput({ block, input }: Growing): Block | undefined {
  if (block.type !== "tool_use" && block.type !== "server_tool_use") return block;
  if (input === "") return block;
  try {
    return { ...block, input: JSON.parse(input) as unknown };
  } catch {
    return undefined;
  }
}

/** The end of a stream tells some counts again, as null where it does not know them. */
function present(usage: ApiUsage): ApiUsage {
  return Object.fromEntries(
    Object.entries(usage).filter(([, value]) => typeof value === "number" || Array.isArray(value)),
  );
}

function containerOf(value: unknown): Container | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { id, expires_at: expires } = value as { id?: unknown; expires_at?: unknown };
  if (typeof id !== "string") return undefined;
  const at = typeof expires === "string" ? Date.parse(expires) : Number.NaN;
  return { id, expiresAt: Number.isNaN(at) ? 0 : at };
}
