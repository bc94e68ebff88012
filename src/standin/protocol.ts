/** What a wire protocol must provide; the server knows nothing else of it. */
import { randomBytes } from "node:crypto";
import type { BillableBlock, Billing, CacheMode } from "./billing.ts";
import type { ProtocolName, StandinRequest } from "./request.ts";

export type AnswerBlock =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool"; id: string; name: string; input: Readonly<Record<string, unknown>> }
  /** Of a tool that the provider runs itself, as it goes over the wire; only in the Messages protocol. */
  | { type: "server"; content: Readonly<Record<string, unknown>> };

/** A whole answer of the model, before it is put on the wire. */
export interface Answer {
  model: string;
  blocks: readonly AnswerBlock[];
  /** In the words of the Messages protocol; the others translate it. */
  stopReason: string;
  billing: Billing;
  /** What summing up the conversation cost. */
  compacted?: { input: number; output: number } | undefined;
  /** Where code was run. */
  container?: { id: string; expires_at: string } | undefined;
  /** What was left out of the conversation, as the request allowed. */
  appliedEdits?: readonly unknown[] | undefined;
}

/** An answer with an HTTP status other than 200. */
export interface Refusal {
  status: number;
  message: string;
  /** Epoch seconds. */
  resetAtS?: number | undefined;
  retryAfterS?: number | undefined;
  /** The subscription's limit, not the API's. */
  usageLimit?: boolean;
  /** Instead of the code that the status usually has. */
  code?: string | undefined;
}

export interface Parsed {
  request: StandinRequest;
  blocks: readonly BillableBlock[];
}

/** The client sent something the real API would answer with 400. */
export class BadRequest extends Error {}

export interface Protocol {
  readonly name: ProtocolName;
  readonly cacheMode: CacheMode;
  /** Throws BadRequest. */
  parse(body: Readonly<Record<string, unknown>>): Parsed;
  json(answer: Answer, request: StandinRequest): unknown;
  /** Server-sent events, each complete with its blank line, in order. */
  events(answer: Answer, request: StandinRequest): string[];
  refusal(refusal: Refusal): { headers: Record<string, string>; body: unknown };
}

/**
 * Letters only: opencode looks for the numbers 429, 500, … anywhere in a refusal and asks again where one stands, also in
 * an id; a script would be followed or not by chance.
 */
export const newId = (prefix: string): string =>
  prefix +
  randomBytes(12)
    .toString("hex")
    .replaceAll(/\d/g, (digit) => "ghijklmnop".charAt(Number(digit)));

export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Characters per stream chunk; longer texts get larger chunks so that there are never more than MAX_CHUNKS. */
const CHUNK_CHARS = 40;
const MAX_CHUNKS = 100;

/** Cuts between code points: half a surrogate pair is not valid JSON for strict clients. */
export function chunksOf(text: string): string[] {
  const points = Array.from(text);
  const size = Math.max(CHUNK_CHARS, Math.ceil(points.length / MAX_CHUNKS));
  return Array.from({ length: Math.ceil(points.length / size) }, (_, at) =>
    points.slice(at * size, (at + 1) * size).join(""),
  );
}

// ── Reading what clients send: nothing is trusted ───────────────────────────────────────────────────────────────────

export type Json = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const objectsOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
export const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** The texts of a content field: a string, or blocks with a `text`. */
export function textsOf(content: unknown): string[] {
  if (typeof content === "string") return content === "" ? [] : [content];
  return objectsOf(content)
    .map((block) => textOf(block["text"]))
    .filter((text) => text !== "");
}
