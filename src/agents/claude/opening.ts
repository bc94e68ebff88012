/**
 * What the SDK says to the program first: its request to initialize, and the first message in the form that the SDK gives
 * it. Known from the last time, it is said ahead of the SDK, so that this is loaded while the model works and not while the
 * program starts, beside which few machines have a core to spare.
 */
import type { SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";

export interface Opening {
  /** Of the request to initialize; what is told to add to the system prompt is of each time. */
  request: Record<string, unknown>;
  /** What the SDK adds to a message. */
  extra: Record<string, unknown>;
}

/** Both as lines, each with its end. */
export interface Said {
  hello: string;
  message: string;
}

export const isMessage = (line: string): boolean => line.startsWith('{"type":"user"');

export function helloLine(
  { request }: Pick<Opening, "request">,
  { id, append }: { id: string; append: string },
): string {
  return lineOf({ request_id: id, type: "control_request", request: { ...request, appendSystemPrompt: append } });
}

export const messageLine = ({ extra }: Pick<Opening, "extra">, message: SDKUserMessage): string =>
  lineOf({ ...message, ...extra });

/** undefined: from these lines nothing can be foretold to the letter. */
export function openingOf(
  { hello, message: line }: Said,
  { append, message }: { append: string; message: SDKUserMessage },
): Opening | undefined {
  const { request } = parsed(hello);
  const given = new Set(Object.keys(message));
  const extra = Object.fromEntries(Object.entries(parsed(line)).filter(([name]) => !given.has(name)));
  const opening = { request, extra };
  const id = helloId(hello);
  if (!isOpening(opening) || id === undefined) return undefined;
  const isWhole = helloLine(opening, { id, append }) === hello && messageLine(opening, message) === line;
  return isWhole ? opening : undefined;
}

/** Which request it is: a new name each time. */
export function helloId(hello: string): string | undefined {
  const { request_id: id } = parsed(hello);
  return typeof id === "string" && id !== "" ? id : undefined;
}

export function isOpening(found: unknown): found is Opening {
  const { request, extra } = (found ?? {}) as Partial<Opening>;
  return isRecord(request) && request["subtype"] === "initialize" && isRecord(extra);
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const lineOf = (value: object): string => `${JSON.stringify(value)}\n`;

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
