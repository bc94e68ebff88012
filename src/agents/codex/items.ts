/** Tool calls of Codex in the words of an agent's events. */
import { isObject, textAt, type Item } from "./protocol.ts";

const MAX_TOOL_OUTPUT_CHARS = 16_384;

interface Tool {
  name: string;
  input: unknown;
}

/** undefined: it is no tool call. */
export function toolOf(item: Item): Tool | undefined {
  switch (item.type) {
    case "commandExecution":
      return { name: "exec_command", input: { command: item.command, cwd: item.cwd } };
    case "fileChange":
      return { name: "apply_patch", input: { changes: item.changes } };
    case "mcpToolCall":
      return { name: `mcp__${item.server}__${item.tool}`, input: item.arguments };
    case "dynamicToolCall":
    case "collabAgentToolCall":
      return { name: item.tool ?? item.type, input: item.arguments };
    case "webSearch":
      return { name: "web_search", input: { query: item.query } };
    case "imageView":
      return { name: "view_image", input: { path: item.path } };
    default:
      return undefined;
  }
}

export function resultOf(item: Item): { ok: boolean; output: string } {
  const ended = item.status === undefined || item.status === "completed";
  const ok = ended && (item.exitCode ?? 0) === 0 && item.success !== false;
  return { ok, output: outputOf(item).slice(0, MAX_TOOL_OUTPUT_CHARS) };
}

function outputOf(item: Item): string {
  if (typeof item.aggregatedOutput === "string") return item.aggregatedOutput;
  if (isObject(item.error)) return item.error.message ?? "";
  const content = item.contentItems ?? (isObject(item.result) ? item.result["content"] : undefined);
  if (Array.isArray(content)) return content.map((part) => (isObject(part) ? textAt(part, "text") : "")).join("\n");
  return item.status === "declined" ? "declined" : "";
}
