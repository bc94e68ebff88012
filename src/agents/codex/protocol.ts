/** The parts of the app-server's protocol that are read or written here; it offers many more. JSON-RPC, one line each. */

export type Json = Readonly<Record<string, unknown>>;
export type RequestId = string | number;

/** What the program says by itself. */
export type Incoming =
  | { is: "note"; method: string; params: Json }
  /** It waits for an answer. */
  | { is: "asked"; id: RequestId; method: string; params: Json };

/** What a turn of the app-server waits for. */
export type CodexWake =
  | Incoming
  /** A request of ours that the turn waits for was answered. */
  | { is: "answered"; result: Json }
  | { is: "refused"; message: string };

export interface TurnError {
  message: string;
  /** A word, or an object with one key whose value may hold `httpStatusCode`. */
  codexErrorInfo: string | Json | null;
}

export interface TokenBreakdown {
  totalTokens: number;
  /** With what was read from or written to the cache. */
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens?: number;
  outputTokens: number;
}

/** One thing of a turn: a message, a thought, a tool call. */
export interface Item {
  type: string;
  id: string;
  clientId?: string | null;
  text?: string;
  summary?: string[];
  content?: unknown;
  status?: string;
  command?: string;
  cwd?: string;
  aggregatedOutput?: string | null;
  exitCode?: number | null;
  changes?: { path: string; kind?: unknown; diff?: string }[];
  server?: string;
  tool?: string;
  arguments?: unknown;
  result?: unknown;
  error?: { message?: string } | null;
  success?: boolean | null;
  contentItems?: unknown;
  query?: string;
  path?: string;
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
export const textAt = (value: Json, key: string): string => {
  const found = value[key];
  return typeof found === "string" ? found : "";
};
