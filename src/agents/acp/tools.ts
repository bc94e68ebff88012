/** A tool call as an ACP agent tells of it, piece by piece. */
import { isObject, listAt, objectAt, textAt, type Json } from "./json.ts";

/** Of a tool's output that is kept; the agent and its model have the whole. */
const MAX_OUTPUT_CHARS = 16_384;

/** The agent's own name for the tool, else the protocol's word for what it does. */
export const nameOf = (tool: Json): string =>
  textAt(tool, "name") ||
  textAt(objectAt(objectAt(tool, "_meta"), "claudeCode"), "toolName") ||
  textAt(tool, "kind") ||
  "tool";

/** What it was called with; its title where the agent does not say. */
export function inputOf(tool: Json): unknown {
  const { rawInput } = tool;
  if (isObject(rawInput) ? Object.keys(rawInput).length > 0 : rawInput !== undefined && rawInput !== null)
    return rawInput;
  const paths = listAt(tool, "locations").map((one) => textAt(one, "path"));
  return { title: textAt(tool, "title"), ...(paths.length === 0 ? {} : { paths }) };
}

/** A piece of what a command prints, as some send it beside the call's own fields; `before`: the pieces so far. */
export function printedOf(before: string, { _meta }: Json): string {
  const meta = objectAt({ _meta }, "_meta");
  const more = ["terminal_output_delta", "terminal_output"].map((key) => textAt(objectAt(meta, key), "data")).join("");
  return before.length > MAX_OUTPUT_CHARS ? before : before + more.slice(0, MAX_OUTPUT_CHARS + 1);
}

/** `printed`: what it sent in pieces; it does not say that again. */
export function outputOf(tool: Json, printed = ""): string {
  const { rawOutput } = tool;
  const texts = listAt(tool, "content").flatMap((part) => textAt(objectAt(part, "content"), "text") || []);
  const text =
    typeof rawOutput === "string"
      ? rawOutput
      : texts.length > 0
        ? texts.join("\n")
        : printed === "" && isObject(rawOutput)
          ? textAt(rawOutput, "formatted_output") || textAt(rawOutput, "output") || JSON.stringify(rawOutput)
          : printed;
  return text.length <= MAX_OUTPUT_CHARS ? text : `${text.slice(0, MAX_OUTPUT_CHARS)}…`;
}

export const isEmptyInput = ({ rawInput }: Json): boolean =>
  rawInput === undefined || rawInput === null || (isObject(rawInput) && Object.keys(rawInput).length === 0);

/** Later pieces replace what they name. */
export function merged(before: Json, more: Json): Json {
  const said = Object.entries(more).filter(([, value]) => value !== undefined && value !== null);
  return { ...before, ...Object.fromEntries(said) };
}
