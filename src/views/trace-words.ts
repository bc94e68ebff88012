/** A line of the agent's stream for people; what the facts tell anyway has no words here. */
import type { AgentEvent, TraceLine } from "../ports.ts";
import { duration } from "./cli/format.ts";
import { oneLine, plain } from "./plain.ts";
import { toolName } from "./tool-name.ts";

const MAX_TOOL_CHARS = 160;

/** Fields of a tool's input that say the most, in this order. */
const TELLING = ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt"];

/** undefined: nothing to show. Text of the agent keeps its lines. */
export function traceWords({ kind, data }: TraceLine): string | undefined {
  // Written by this or another pawl, perhaps cut to fit: nothing is taken for granted.
  const event = (typeof data === "object" && data !== null ? data : {}) as Partial<Record<string, unknown>>;
  const text = (name: string): string => (typeof event[name] === "string" ? event[name] : "");
  switch (kind as AgentEvent["type"] | "network") {
    case "text":
      return plain(text("text")).trim();
    case "thinking":
      return `(thinking) ${oneLine(text("text"), { max: MAX_TOOL_CHARS })}`;
    case "tool-start":
      return `→ ${toolName(text("name"), { max: MAX_TOOL_CHARS })} ${inputWords(event["input"])}`.trimEnd();
    case "tool-end":
      return `← ${event["ok"] === false ? "failed" : "ok"} ${oneLine(text("output"), { max: MAX_TOOL_CHARS })}`.trimEnd();
    case "retry":
      return retryWords(event);
    case "notice":
      return oneLine(text("text"), { max: MAX_TOOL_CHARS });
    case "network": {
      const to = `${text("host")}:${String(event["port"])}`;
      const how = event["allowed"] === true ? "let through" : `refused: ${text("why")}`;
      return oneLine(`network: ${to} ${how}`, { max: MAX_TOOL_CHARS });
    }
    case "session-opened":
    case "request":
    case "message":
    case "usage":
    case "delivered":
    case "turn-end":
    default:
      return undefined;
  }
}

function retryWords({ attempt, delayMs, status }: Partial<Record<string, unknown>>): string {
  const why = typeof status === "number" ? `the model answered with status ${status}` : "no answer from the model";
  const when = typeof delayMs === "number" ? ` in ${duration(delayMs)}` : "";
  return `${why}; the agent asks again${when}${typeof attempt === "number" ? ` (retry ${attempt})` : ""}`;
}

function inputWords(input: unknown): string {
  if (typeof input !== "object" || input === null) return "";
  const fields = input as Record<string, unknown>;
  const telling = TELLING.map((name) => fields[name]).find((value) => typeof value === "string");
  return oneLine(typeof telling === "string" ? telling : JSON.stringify(input), { max: MAX_TOOL_CHARS });
}
