/** One request to the model and its answer, as it streams in: told, metered, and written down when it is whole. */
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent } from "../../ports.ts";
import type { Meter } from "../api-meter.ts";
import { outcomeOfRefusal, type Refusal } from "../outcome.ts";
import { fieldText, type Block } from "./blocks.ts";
import type { Connection } from "./client.ts";
import { refusalOf } from "./outcome.ts";
import type { Params } from "./params.ts";
import type { Says } from "./says.ts";
import { answerReader, type Answer, type StreamEvent } from "./stream.ts";
import type { Transcript } from "./transcript.ts";

export interface Asking {
  turn: string;
  connection: Connection;
  transcript: Transcript;
  meter: Meter;
  says: Says;
  tell: (event: AgentEvent) => void;
  /** The model has shown a sign of life. */
  seen: () => void;
  signal: AbortSignal;
}

export type Asked = { is: "answer"; answer: Answer } | { is: "refused"; refusal: Refusal; outcome: TurnOutcome };

const BROKEN: Refusal = { kind: "connection", status: null, text: "the answer broke off before its end" };

export async function ask({ body, betas }: Params, asking: Asking): Promise<Asked> {
  const { turn, connection, transcript, meter, tell } = asking;
  const model = String(body["model"]);
  const reader = answerReader();
  const { answer } = reader;
  transcript.write({ is: "request", turn, model });
  let failure: Refusal | undefined;
  try {
    for await (const event of await streamOf({ body, betas }, asking)) take(event, { reader, asking, model });
    if (!answer.whole) failure = BROKEN;
  } catch (error) {
    failure = refusalOf(error, connection.sdk);
  }
  if (answer.id === "") meter.bareRequest();
  tell({ type: "usage", usage: meter.usage() });
  if (failure === undefined) return { is: "answer", answer };
  if (answer.id !== "") transcript.write({ is: "broken", turn, id: answer.id, model, usage: answer.usage });
  return { is: "refused", refusal: failure, outcome: outcomeOfRefusal(failure) };
}

/** Bodies are made and events read by ourselves: both kinds of the API have the same here. */
async function streamOf({ body, betas }: Params, { connection, signal }: Asking): Promise<AsyncIterable<StreamEvent>> {
  const { messages, beta } = connection.client;
  const stream: unknown = await (betas.length === 0
    ? messages.create(body as never, { signal })
    : beta.messages.create({ ...body, betas } as never, { signal }));
  return stream as AsyncIterable<StreamEvent>;
}

interface Taking {
  reader: ReturnType<typeof answerReader>;
  asking: Asking;
  model: string;
}

function take(event: StreamEvent, { reader, asking: { meter, says, tell, seen }, model }: Taking): void {
  seen();
  const block = reader.take(event);
  const { answer } = reader;
  if (event.type === "message_start") {
    tell({ type: "request" });
    for (const directive of says.delivered()) tell({ type: "delivered", directive });
  }
  if (event.type === "message_start" || event.type === "message_delta") {
    meter.message(answer.id, model, answer.usage);
    tell({ type: "usage", usage: meter.usage() });
  }
  if (block !== undefined) for (const told of eventsOf(block)) tell(told);
}

const MAX_RESULT_CHARS = 16_384;

function eventsOf(block: Block): AgentEvent[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: fieldText(block, "text") }];
    case "thinking":
      return block["thinking"] === "" ? [] : [{ type: "thinking", text: fieldText(block, "thinking") }];
    case "tool_use":
    case "server_tool_use":
      return [
        { type: "tool-start", id: fieldText(block, "id"), name: fieldText(block, "name"), input: block["input"] },
      ];
    default:
      if (!block.type.endsWith("_tool_result")) return [];
      return [{ type: "tool-end", id: fieldText(block, "tool_use_id"), ...serverResult(block["content"]) }];
  }
}

function serverResult(content: unknown): { ok: boolean; output: string } {
  const { error_code: error, return_code: code } = (content ?? {}) as { error_code?: unknown; return_code?: unknown };
  const ok = error === undefined && (code === undefined || code === 0);
  return { ok, output: JSON.stringify(content ?? null).slice(0, MAX_RESULT_CHARS) };
}
