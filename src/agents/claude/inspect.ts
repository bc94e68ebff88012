/** What became of a turn nobody saw the end of, from Claude Code's record of it. Read-only. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { priceOf } from "../../platform/prices.ts";
import type { Found, OpenRequest } from "../../ports.ts";
import { doneCalls } from "./done.ts";
import type { DoneCalls } from "./done.ts";
import { configDirectory } from "./environment.ts";
import type { Meter } from "../api-meter.ts";
import { meter, sumOf } from "../api-meter.ts";
import { belongsTo } from "./uuid.ts";
import type { Entry } from "./transcript.ts";
import { blocksOf, entriesOf, subagentDirectory, transcriptOf } from "./transcript.ts";

/** How the program notes an interrupt in the conversation. */
const INTERRUPTED = "[Request interrupted";

interface Fold {
  /** Timestamp of the prompt; undefined until it is found. */
  since: string | undefined;
  /** Timestamp of the next turn's prompt. */
  until: string | undefined;
  /** Requests of the main conversation that were noted as begun. */
  requests: number;
  openTools: Set<string>;
  calls: DoneCalls;
  /** Last answer of the main conversation. */
  answer: { id: string; stop: string | null; text: string; uuid: string } | undefined;
  /** Something the model has not answered yet. */
  pending: boolean;
  messageId: string | null;
}

export async function inspectTurn(
  request: Pick<OpenRequest, "home" | "session">,
  { uuid }: { uuid: string },
): Promise<Found> {
  const path = transcriptOf(configDirectory(request.home), request.session.ref);
  if (path === undefined) return { is: "unknown" };
  const spent = meter(priceOf);
  const fold: Fold = {
    since: undefined,
    until: undefined,
    requests: 0,
    openTools: new Set(),
    calls: doneCalls(),
    answer: undefined,
    pending: true,
    messageId: null,
  };
  for await (const entry of entriesOf(path)) {
    if (entry.uuid === uuid) fold.since = entry.timestamp ?? "";
    else if (fold.since === undefined) continue;
    else if (isPrompt(entry) && !belongsTo(entry.uuid ?? "", uuid)) {
      fold.until = entry.timestamp;
      break;
    } else takeEntry(entry, { fold, spent });
  }
  if (fold.since === undefined) return { is: "unknown" };
  await takeSubagents(path, { since: fold.since, until: fold.until, spent });
  return foundOf(fold, spent);
}

/** A message that someone sent; not a tool's result, and none of the program's own notes. */
function isPrompt({ type, isMeta, isSidechain, message }: Entry): boolean {
  if (type !== "user" || isMeta === true || isSidechain === true) return false;
  const content = message?.content;
  const texts = typeof content === "string" ? [{ type: "text", text: content }] : blocksOf(content);
  if (texts.some((block) => block.type === "tool_result")) return false;
  return !texts.some((block) => block.text?.startsWith(INTERRUPTED) === true);
}

function takeEntry(entry: Entry, { fold, spent }: { fold: Fold; spent: Meter }): void {
  if (entry.type === "api-request") fold.requests += 1;
  if (entry.isSidechain === true || entry.uuid === undefined) return;
  const blocks = blocksOf(entry.message?.content);
  if (entry.type === "user") {
    fold.messageId = entry.uuid;
    for (const { tool_use_id: tool, is_error: failed } of blocks) {
      if (tool === undefined) continue;
      fold.openTools.delete(tool);
      fold.calls.end(tool, failed !== true);
    }
    if (entry.isMeta !== true) fold.pending = true;
    return;
  }
  if (entry.type !== "assistant" || entry.message?.id === undefined) return;
  const { id, stop_reason: stop = null } = entry.message;
  fold.messageId = entry.uuid;
  if (entry.isApiErrorMessage === true) {
    fold.answer = undefined;
    return;
  }
  count(entry, spent);
  const before = fold.answer?.id === id ? fold.answer.text : "";
  const text = blocks.filter((block) => block.type === "text").map((block) => block.text ?? "");
  fold.answer = { id, stop, text: before + text.join(""), uuid: entry.uuid };
  fold.pending = false;
  for (const block of blocks) {
    if (block.type !== "tool_use" || block.id === undefined) continue;
    fold.openTools.add(block.id);
    fold.calls.start(block.id, block.name ?? "", block.input);
  }
}

function count(entry: Entry, spent: Meter): void {
  const { id, model, usage, content } = entry.message ?? {};
  if (id === undefined || model === undefined || usage === undefined) return;
  spent.message(id, model, usage);
  for (const block of blocksOf(content)) {
    if (block.type === "tool_use" && block.id !== undefined) spent.tool(block.id, block.name ?? "");
  }
}

async function takeSubagents(
  path: string,
  { since, until, spent }: { since: string; until: string | undefined; spent: Meter },
): Promise<void> {
  const directory = subagentDirectory(path);
  let names: string[] = [];
  try {
    names = readdirSync(directory).filter((name) => name.endsWith(".jsonl"));
  } catch {
    return;
  }
  for (const name of names) {
    for await (const entry of entriesOf(join(directory, name), { mark: '"assistant"' })) {
      const at = entry.timestamp ?? "";
      if (entry.type === "assistant" && at >= since && (until === undefined || at < until)) count(entry, spent);
    }
  }
}

function foundOf(fold: Fold, spent: Meter): Found {
  const counted = spent.usage();
  // A request is written down only once it is answered; one that may be out is counted.
  const begun = counted.requests + (fold.pending ? 1 : 0);
  const usage = { ...counted, requests: Math.max(begun, fold.requests) };
  const tools = spent.tools();
  const { answer } = fold;
  const done = answer !== undefined && answer.stop === "end_turn" && fold.openTools.size === 0 && !fold.pending;
  if (!done) return { is: "cut", usage, tools, messageId: fold.messageId };
  const tokens = spent.of(answer.id);
  const contextTokens = tokens === undefined ? null : sumOf(tokens);
  const { text: finalText, uuid: messageId } = answer;
  return {
    is: "ended",
    end: {
      type: "turn-end",
      outcome: { is: "done" },
      usage,
      finalText,
      call: fold.calls.last(),
      messageId,
      contextTokens,
    },
    tools,
  };
}
