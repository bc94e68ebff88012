/** What several presets have in common: forms of output, and the two APIs that most programs can be led to. */
import type { CommandGiven, OutputRule } from "../../../spec/command-agent.ts";

export interface Preset extends CommandGiven {
  about: string;
  /** Where its command line is documented. */
  docs: string;
  /** Version that was run on the stand-in model; without it nobody has run the preset here. */
  tried?: string;
}

/** Messages and results as Claude Code prints them, and programs that followed it. */
export const MESSAGES: readonly OutputRule[] = [
  { when: { type: "system", subtype: "init" }, session: "session_id", model: "model" },
  { when: { type: "assistant" }, message: "message.id" },
  { when: { type: "assistant" }, each: "message.content", where: { type: "thinking" }, thinking: "thinking" },
  { when: { type: "assistant" }, each: "message.content", where: { type: "text" }, text: "text" },
  {
    when: { type: "assistant" },
    each: "message.content",
    where: { type: "tool_use" },
    tool: { id: "id", name: "name", input: "input" },
  },
  {
    when: { type: "user" },
    each: "message.content",
    where: { type: "tool_result" },
    result: { id: "tool_use_id", output: "content", failed: "is_error" },
  },
  { when: { type: "result", is_error: false }, final: "result", ends: true },
];
export const MESSAGE_USAGE = {
  of: "message",
  id: "message.id",
  input: "message.usage.input_tokens",
  output: "message.usage.output_tokens",
  "cache-read": "message.usage.cache_read_input_tokens",
  "cache-write": "message.usage.cache_creation_input_tokens",
} as const;

export const ANTHROPIC = {
  url: "ANTHROPIC_BASE_URL",
  key: "ANTHROPIC_API_KEY",
  upstream: "https://api.anthropic.com",
  header: "x-api-key",
  requests: ["/v1/messages"],
} as const;
export const OPENAI = {
  url: "OPENAI_BASE_URL",
  key: "OPENAI_API_KEY",
  upstream: "https://api.openai.com/v1",
  header: "authorization",
} as const;
