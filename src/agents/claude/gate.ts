/**
 * No request leaves before what it is built on is on disk. Claude Code writes its transcript up to 100 ms after it has
 * asked the model again, so a kill in between would lose the answer and the question, both paid for. A request is held
 * until the newest part of the conversation that it repeats stands in the transcript; what is older stands before it.
 */
import { closeSync, readSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { HeldRequest } from "../../platform/gateway.ts";
import { openTail, type Tail } from "./tail.ts";
import { openPlain } from "../plain-file.ts";
import { blocksOf, subagentFile, transcriptOf } from "./transcript.ts";

/** Longest that a request is held: five times as long as the program takes to write. */
const HOLD_LIMIT_MS = 500;
const POLL_MS = 4;
/** Transcripts that are kept open: the session's own and those of subagents at work. */
const MAX_TAILS = 16;
/** A few ids and words. */
const MAX_META_BYTES = 64 * 1024;
const MESSAGES_PATH = "/v1/messages";
const SESSION_HEADER = "x-claude-code-session-id";
const AGENT_HEADER = "x-claude-code-agent-id";
const SAFE_ID = /^[\w-]+$/;

/** What must be on disk before a request may leave. */
type Need =
  | { is: "nothing" }
  | { is: "results"; ids: string[] }
  | { is: "call"; id: string }
  | { is: "text"; text: string };

interface Message {
  role?: string;
  content?: unknown;
}

export interface Gate {
  beforeForward(request: HeldRequest): Promise<void>;
  /** Requests that left though what they are built on was not on disk in time; counted from 0 again. */
  takeOverdue(): number;
  close(): void;
}

export function transcriptGate(config: string): Gate {
  const tails = new Map<string, Tail>();
  let overdue = 0;

  function tailOf(path: string): Tail | undefined {
    const known = tails.get(path);
    if (known !== undefined) return known;
    try {
      const opened = openTail(path);
      tails.set(path, opened);
      const [oldest] = tails;
      if (tails.size > MAX_TAILS && oldest !== undefined) {
        oldest[1].close();
        tails.delete(oldest[0]);
      }
      return opened;
    } catch {
      return undefined;
    }
  }

  return {
    async beforeForward({ method, path, headers, body, signal }) {
      const session = headers[SESSION_HEADER];
      const agent = headers[AGENT_HEADER];
      if (method !== "POST" || path !== MESSAGES_PATH || !isSafe(session)) return;
      const place = { config, session, agent: isSafe(agent) ? agent : undefined };
      let { need, file } = wantedFor(messagesOf(body), place);
      if (need.is === "nothing") return;
      const until = performance.now() + HOLD_LIMIT_MS;
      while (!signal.aborted) {
        file ??= transcriptOf(config, session);
        const tail = file === undefined ? undefined : tailOf(file);
        tail?.read();
        if (tail !== undefined && holds(tail, need)) return await tail.sync();
        if (performance.now() >= until) {
          overdue += 1;
          return;
        }
        await sleep(POLL_MS);
      }
    },
    takeOverdue() {
      const counted = overdue;
      overdue = 0;
      return counted;
    },
    close() {
      for (const tail of tails.values()) tail.close();
      tails.clear();
    },
  };
}

const isSafe = (id: unknown): id is string => typeof id === "string" && SAFE_ID.test(id);

function messagesOf(body: Buffer): Message[] {
  const { messages } = JSON.parse(body.toString("utf8")) as { messages?: unknown };
  return Array.isArray(messages) ? (messages as Message[]) : [];
}

interface Place {
  config: string;
  session: string;
  /** Of a subagent; it writes to a file of its own. */
  agent: string | undefined;
}

function wantedFor(
  messages: readonly Message[],
  { config, session, agent }: Place,
): { need: Need; file: string | undefined } {
  const own = transcriptOf(config, session);
  const need = needOf(messages);
  if (agent === undefined || own === undefined) return { need, file: own };
  const file = subagentFile(own, agent);
  // Its first request is built on the call that started it.
  return need.is === "nothing" ? { need: callBehind(file), file: own } : { need, file };
}

/** Exported for its table of cases. */
export function needOf(messages: readonly Message[]): Need {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const results = messages
    .slice(last + 1)
    .flatMap(({ content }) => blocksOf(content))
    .flatMap((block) => (block.type === "tool_result" && block.tool_use_id !== undefined ? [block.tool_use_id] : []));
  if (results.length > 0) return { is: "results", ids: results };
  const content = messages[last]?.content;
  if (typeof content === "string") return { is: "text", text: content };
  const block = blocksOf(content).at(-1);
  if (block?.type === "tool_use" && block.id !== undefined) return { is: "call", id: block.id };
  if (block?.type === "text" && block.text !== undefined) return { is: "text", text: block.text };
  return { is: "nothing" };
}

/** Beside a subagent's transcript stands which call started it; it is written before the first request. */
function callBehind(file: string): Need {
  try {
    const fd = openPlain(file.replace(/\.jsonl$/, ".meta.json"));
    if (fd === undefined) return { is: "nothing" };
    const bytes = Buffer.alloc(MAX_META_BYTES);
    const text = bytes.toString("utf8", 0, readSync(fd, bytes));
    closeSync(fd);
    const meta = JSON.parse(text) as { toolUseId?: unknown };
    return isSafe(meta.toolUseId) ? { is: "call", id: meta.toolUseId } : { is: "nothing" };
  } catch {
    return { is: "nothing" };
  }
}

function holds(tail: Tail, need: Exclude<Need, { is: "nothing" }>): boolean {
  switch (need.is) {
    case "results":
      return need.ids.every((id) => tail.hasResult(id));
    case "call":
      return tail.hasCall(need.id);
    case "text":
      return tail.hasText(need.text);
  }
}
