/** What became of a turn nobody saw the end of, from Codex's record of it. Read-only. */
import type { Usage } from "../../events.ts";
import type { Found, OpenRequest, TurnEnd } from "../../ports.ts";
import { callOf } from "./done.ts";
import { meter, type Meter } from "./meter.ts";
import { isObject, textAt, type Json } from "./protocol.ts";
import { entriesOf, rolloutOf, type Entry } from "./rollout.ts";
import { notedTurn, type NotedTurn } from "./noted.ts";
import { markOf, threadOf } from "./threads.ts";
import { lookUp } from "../../platform/look-up.ts";

/** Names of finished tool calls, as the live stream has them. */
const TOOLS: Readonly<Record<string, string>> = {
  CommandExecution: "exec_command",
  FileChange: "apply_patch",
  WebSearch: "web_search",
  ImageView: "view_image",
};

interface Fold {
  /** Codex's name of the turn; undefined until its prompt is found. */
  turn: string | undefined;
  /** Number of turns begun so far, the last of them, and the one that is meant where it is known by its number. */
  begun: number;
  latest: string;
  wanted: number | undefined;
  /** That requests are made of, at this point of the record. */
  model: string;
  /** Usage in the turn that has begun last, before its prompt was found: of a compaction. */
  early: { payload: Json; model: string }[];
  /** Calls of the model by id; those without a result are open. */
  calls: Map<string, string>;
  open: Set<string>;
  /** Texts of the last response. */
  texts: string[];
  /** A response was written down since the last text. */
  answered: boolean;
  /** The response that is being written down calls a tool. */
  calling: boolean;
  /** What the last whole response was, if nothing was said to the model after it. */
  last: "answer" | "calls" | undefined;
  call: TurnEnd["call"];
  ended: "done" | "failed" | "aborted" | undefined;
  contextTokens: number | null;
}

export async function inspectTurn(
  { home, session }: Pick<OpenRequest, "home" | "session">,
  { uuid }: { uuid: string },
): Promise<Found> {
  const thread = threadOf(home, session.ref);
  const path = thread === undefined ? undefined : rolloutOf(home, thread);
  const noted = notedTurn(home, uuid);
  const spent = meter();
  const fold: Fold = {
    turn: undefined,
    begun: 0,
    latest: "",
    wanted: undefined,
    model: "",
    early: [],
    calls: new Map(),
    open: new Set(),
    texts: [],
    answered: false,
    calling: false,
    last: undefined,
    call: null,
    ended: undefined,
    contextTokens: null,
  };
  const before = markOf(home, uuid);
  if (before !== undefined) fold.wanted = before + 1;
  if (path !== undefined) for await (const entry of entriesOf(path)) take(entry, { fold, spent, uuid });
  const unrecorded = countNoted(noted, spent);
  if (fold.turn === undefined && unrecorded === 0) return { is: "unknown" };
  return foundOf(fold, { spent, requests: noted.requests, unrecorded });
}

/** Returns how many answers Codex had not written down. */
function countNoted({ answers }: NotedTurn, spent: Meter): number {
  const recorded = spent.responses();
  for (const { response, model, spent: used } of answers) spent.response(response, model, used);
  return spent.responses() - recorded;
}

/** What the record says a turn cost; undefined when it is not in it. */
export async function recordedUsage(
  request: Pick<OpenRequest, "home" | "session">,
  uuid: string,
): Promise<Usage | undefined> {
  try {
    const found = await inspectTurn(request, { uuid });
    if (found.is === "unknown") return undefined;
    return found.is === "ended" ? found.end.usage : found.usage;
  } catch {
    return undefined;
  }
}

interface Taking {
  fold: Fold;
  spent: Meter;
  uuid: string;
}

function take({ type, payload }: Entry, { fold, spent, uuid }: Taking): void {
  fold.model = modelIn({ type, payload }) ?? fold.model;
  const item = isObject(payload["item"]) ? payload["item"] : undefined;
  // What the model said last was a summary.
  if (type === "compacted") fold.last = undefined;
  if (isBegin({ type, payload })) {
    fold.early = [];
    if (++fold.begun === fold.wanted) fold.turn = textAt(payload, "turn_id");
    if (isGoingOn(payload) && fold.latest === fold.turn) goOn(fold, payload);
    fold.latest = textAt(payload, "turn_id");
  }
  if (fold.turn === undefined && type === "token_usage_record") fold.early.push({ payload, model: fold.model });
  if (item?.["type"] === "UserMessage" && item["client_id"] === uuid) {
    fold.turn = textAt(payload, "turn_id");
    for (const one of fold.early.splice(0)) if (turnOf(one.payload) === fold.turn) countUsage(one, spent);
  }
  if (fold.turn === undefined || turnOf(payload) !== fold.turn) return;
  switch (type) {
    case "token_usage_record":
      takeUsage(payload, { fold, spent });
      return;
    case "response_item":
      takeResponse(payload, fold);
      return;
    case "event_msg":
      if (item !== undefined) takeItem(item, { fold, spent });
      else takeEvent(payload, fold);
  }
}

const isBegin = ({ type, payload }: Entry): boolean => type === "event_msg" && payload["type"] === "task_started";

/** With its own goal, after a turn that has ended. */
function isGoingOn({ turn_attribution: by }: Json): boolean {
  return isObject(by) && by["turn_trigger"] === "goal";
}

function goOn(fold: Fold, payload: Json): void {
  fold.turn = textAt(payload, "turn_id");
  fold.ended = undefined;
  fold.last = undefined;
}

/** Turns that were begun in a thread. */
export async function turnsIn(home: string, thread: string): Promise<number> {
  const path = rolloutOf(home, thread);
  let begun = 0;
  if (path !== undefined) for await (const entry of entriesOf(path)) if (isBegin(entry)) begun += 1;
  return begun;
}

/** Its lines say in two places whose they are. */
function turnOf(payload: Json): string {
  const own = textAt(payload, "turn_id");
  const passed = payload["internal_chat_message_metadata_passthrough"];
  return own !== "" || !isObject(passed) ? own : textAt(passed, "turn_id");
}

/** Of a turn as it begins, and where it is changed in the middle of one. */
function modelIn({ type, payload }: Entry): string | undefined {
  const state = type === "world_state" && isObject(payload["state"]) ? payload["state"] : {};
  const named = type === "turn_context" ? payload : isObject(state["model"]) ? state["model"] : {};
  return textAt(named, "model") || undefined;
}

/** Returns the tokens of the whole conversation. */
function countUsage({ payload, model }: Fold["early"][number], spent: Meter): number {
  const usage = isObject(payload["usage"]) ? payload["usage"] : {};
  const count = (name: string): number => (typeof usage[name] === "number" ? usage[name] : 0);
  spent.response(textAt(payload, "response_id"), model, {
    input: count("input_tokens"),
    cached: count("cached_input_tokens"),
    cacheWrite: count("cache_write_input_tokens"),
    output: count("output_tokens"),
  });
  return count("total_tokens");
}

function takeUsage(payload: Json, { fold, spent }: Omit<Taking, "uuid">): void {
  fold.contextTokens = countUsage({ payload, model: fold.model }, spent);
  fold.answered = true;
  fold.last = fold.calling || fold.texts.length === 0 ? "calls" : "answer";
  fold.calling = false;
}

function takeResponse(payload: Json, fold: Fold): void {
  const type = textAt(payload, "type");
  const id = textAt(payload, "call_id");
  if (type.endsWith("_call") && id !== "") {
    // A response that only calls; its tools may be noted much later, when they end.
    if (fold.answered) fold.texts = [];
    fold.answered = false;
    fold.calls.set(id, textAt(payload, "name"));
    fold.open.add(id);
    fold.calling = true;
  }
  if (type.endsWith("_output")) fold.open.delete(id);
}

function takeItem(item: Json, { fold, spent }: Omit<Taking, "uuid">): void {
  const type = textAt(item, "type");
  if (type === "UserMessage") fold.last = undefined;
  if (type === "AgentMessage") {
    if (fold.answered) fold.texts = [];
    fold.answered = false;
    const content = Array.isArray(item["content"]) ? item["content"].filter(isObject) : [];
    fold.texts.push(content.map((part) => textAt(part, "text")).join(""));
    return;
  }
  const name = toolName(type, item);
  if (name === undefined) return;
  spent.tool(textAt(item, "id"), name);
  const call = item["success"] === true ? callOf(item["tool"], item["arguments"]) : undefined;
  if (call !== undefined) fold.call = call;
}

function toolName(type: string, item: Json): string | undefined {
  if (type === "DynamicToolCall") return textAt(item, "tool");
  if (type === "McpToolCall") return `mcp__${textAt(item, "server")}__${textAt(item, "tool")}`;
  return lookUp(TOOLS, type);
}

function takeEvent(payload: Json, fold: Fold): void {
  switch (payload["type"]) {
    case "error":
      fold.ended = "failed";
      return;
    case "turn_aborted":
      fold.ended ??= "aborted";
      return;
    case "task_complete":
      fold.ended ??= isObject(payload["error"]) ? "failed" : "done";
  }
}

interface Counted {
  spent: Meter;
  /** That pawl saw leave; undefined: it did not look. */
  requests: number | undefined;
  /** Answers that are not in the record. */
  unrecorded: number;
}

/** It ended; or it was cut after its final answer, before it had noted that. */
const isDone = ({ ended, last, open }: Fold, unrecorded: number): boolean =>
  ended === "done" || (ended !== "failed" && last === "answer" && open.size === 0 && unrecorded === 0);

function foundOf(fold: Fold, { spent, requests, unrecorded }: Counted): Found {
  const done = isDone(fold, unrecorded);
  // A tool that was running has no line of its own yet.
  if (!done) for (const id of fold.open) spent.tool(id, fold.calls.get(id) ?? "");
  const waiting = !done && fold.ended === undefined && fold.open.size === 0 ? 1 : 0;
  const usage = spent.usage(requests ?? spent.responses() + waiting);
  const tools = spent.tools();
  const messageId = fold.turn ?? null;
  if (!done) return { is: "cut", usage, tools, messageId };
  const { call, contextTokens } = fold;
  const finalText = fold.texts.join("");
  return {
    is: "ended",
    end: { type: "turn-end", outcome: { is: "done" }, usage, finalText, call, messageId, contextTokens },
    tools,
  };
}
