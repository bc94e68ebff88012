/** A request to the API, with the marks that let it read the prefix of the one before from the cache. Pure. */
import type { Block, Said } from "./blocks.ts";
import type { MessagesOptions } from "./options.ts";
import type { Tool } from "./tools.ts";
import { wireSchema } from "./answer.ts";

/** Of one request: the system prompt takes one, the last block another. */
const MARKS_FOR_MESSAGES = 3;
const MARK = { cache_control: { type: "ephemeral" } };
/** May carry no mark. */
const UNMARKED: ReadonlySet<string> = new Set(["thinking", "redacted_thinking", "compaction"]);
/** Bash and files of any language; the later versions add what only programs that call tools need. */
const CODE_TOOL = { type: "code_execution_20250825", name: "code_execution" };
const EDIT_BETAS = ["context-management-2025-06-27", "compact-2026-01-12"];
/** Of the limit for a conversation: the provider gets to shorten it before it is left for another. */
const CLEAR_SHARE = 0.5;
const COMPACT_SHARE = 0.75;
/** The API sums up no shorter conversation. */
const MIN_COMPACT_TOKENS = 50_000;
/** Leaving less out would cost more of the cache than it saves. */
const CLEAR_AT_LEAST_TOKENS = 10_000;

export interface Wanted {
  model: string;
  options: MessagesOptions;
  system: string;
  tools: readonly Tool[];
  said: readonly Said[];
  /** Of a session that only answers. */
  answer: Readonly<Record<string, unknown>> | undefined;
  container: string | undefined;
  /** Tokens of context from which on another conversation is begun. */
  contextLimitTokens: number;
  /** Of what only helps, what this model or its provider has refused. */
  without: ReadonlySet<Extra>;
}

/** What a request may do without: told in words instead, or done by pawl's own pruning. */
export type Extra = "context-management" | "format";

export interface Params {
  body: Readonly<Record<string, unknown>>;
  /** None: the stable API. */
  betas: readonly string[];
}

export function paramsOf({
  model,
  options,
  system,
  tools,
  said,
  answer,
  container,
  contextLimitTokens,
  without,
}: Wanted): Params {
  const all = [...tools, ...(options.executor === undefined ? [] : [CODE_TOOL])];
  const isTold = answer !== undefined && without.has("format");
  const output = {
    ...(options.effort === undefined ? {} : { effort: options.effort }),
    ...(answer === undefined || isTold ? {} : { format: { type: "json_schema", schema: wireSchema(answer) } }),
  };
  const words = [system, isTold ? formInWords(answer) : ""].filter((part) => part !== "").join("\n\n");
  const body = {
    model,
    max_tokens: options.maxTokens,
    ...(words === "" ? {} : { system: [{ type: "text", text: words, ...MARK }] }),
    ...(all.length === 0 ? {} : { tools: all }),
    ...(Object.keys(output).length === 0 ? {} : { output_config: output }),
    ...(container === undefined ? {} : { container }),
    messages: markedMessages(said),
    stream: true,
  };
  if (!options.contextEditing || without.has("context-management")) return { body, betas: [] };
  return { body: { ...body, context_management: { edits: editsFor(contextLimitTokens) } }, betas: EDIT_BETAS };
}

const formInWords = (schema: object): string =>
  `Your last words are one JSON text that fits this JSON Schema, with nothing before or after it:\n${JSON.stringify(schema)}`;

function editsFor(limit: number): object[] {
  const trigger = (value: number): object => ({ type: "input_tokens", value });
  const least = { type: "input_tokens", value: CLEAR_AT_LEAST_TOKENS };
  return [
    { type: "clear_tool_uses_20250919", trigger: trigger(Math.ceil(limit * CLEAR_SHARE)), clear_at_least: least },
    { type: "compact_20260112", trigger: trigger(Math.max(Math.ceil(limit * COMPACT_SHARE), MIN_COMPACT_TOKENS)) },
  ];
}

interface Place {
  message: number;
  block: number;
}

const keyOf = ({ message, block }: Place): string => `${message}:${block}`;

/**
 * The last block, for the request that follows; where the request before ended, so that it is found however many blocks
 * came since; and what the prompt calls stable, the last of it first.
 */
export function marksIn(said: readonly Said[]): Place[] {
  const end = lastPlace(said, said.length - 1);
  const before = said.findLastIndex(({ role }, at) => role === "assistant" && at < said.length - 1) - 1;
  const earlier = before < 0 ? undefined : lastPlace(said, before);
  const places = [end, earlier, ...stablePlaces(said).toReversed()].filter((place) => place !== undefined);
  return [...new Map(places.map((place) => [keyOf(place), place])).values()].slice(0, MARKS_FOR_MESSAGES);
}

function lastPlace(said: readonly Said[], message: number): Place | undefined {
  const block = said[message]?.content.findLastIndex(({ type }) => !UNMARKED.has(type)) ?? -1;
  return block < 0 ? undefined : { message, block };
}

/** Of the last prompt that was given in pieces: each but the last. */
function stablePlaces(said: readonly Said[]): Place[] {
  const texts = said.map(({ role, content }) => (role === "user" ? places(content) : []));
  const message = texts.findLastIndex((found) => found.length > 1);
  return (texts[message] ?? []).slice(0, -1).map((block) => ({ message, block }));
}

const places = (content: readonly Block[]): number[] =>
  content.some(({ type }) => type === "tool_result")
    ? []
    : content.flatMap(({ type }, at) => (type === "text" ? [at] : []));

function markedMessages(said: readonly Said[]): object[] {
  const marks = new Set(marksIn(said).map(keyOf));
  return said.map(({ role, content }, message) => ({
    role,
    content: content.map((one, block) => (marks.has(keyOf({ message, block })) ? { ...one, ...MARK } : one)),
  }));
}
