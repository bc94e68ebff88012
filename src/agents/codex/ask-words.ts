/** What a person reads of an agent's request. The agent wrote it, so nothing in it may move a terminal or hide. */
import { isObject, textAt, type Item, type Json } from "./protocol.ts";

/** What is cut is said, so that nobody allows what they did not see. */
const MAX_PERMISSION_CHARS = 1_000;
const MAX_QUESTION_CHARS = 4_000;
const MAX_OPTION_CHARS = 200;

export function permissionText(params: Json, item: Item | undefined): string {
  const reason = textAt(params, "reason");
  return cut(
    oneLine(reason === "" ? whatOf(params, item) : `${whatOf(params, item)} (${reason})`),
    MAX_PERMISSION_CHARS,
  );
}

function whatOf(params: Json, item: Item | undefined): string {
  const command = textAt(params, "command");
  if (command !== "") return `exec_command: ${command}`;
  if (isToolApproval(params)) {
    const { tool_params: input } = params["_meta"] as Json;
    return `${textAt(params, "message")} ${JSON.stringify(input ?? {})}`;
  }
  const paths = (item?.changes ?? []).map(({ path }) => path);
  if (paths.length > 0) return `apply_patch: ${paths.join(", ")}`;
  return JSON.stringify(params["permissions"] ?? params);
}

export function isToolApproval({ _meta: about }: Json): boolean {
  return isObject(about) && about["codex_approval_kind"] === "mcp_tool_call";
}

export interface Choice {
  /** By which the tool finds its answer. */
  id: string;
  text: string;
  options: readonly string[];
}

export function choicesOf({ questions }: Json): Choice[] {
  return listOf(questions).map((one) => {
    const offered = listOf(one["options"]).map((option) => ({
      label: textAt(option, "label"),
      description: textAt(option, "description"),
    }));
    const lines = offered.map(({ label, description }) =>
      oneLine(description === "" ? `- ${label}` : `- ${label}: ${description}`),
    );
    return {
      id: textAt(one, "id"),
      text: cut([oneLine(textAt(one, "question")), ...lines].join("\n"), MAX_QUESTION_CHARS),
      options: offered.map(({ label }) => oneLine(label).slice(0, MAX_OPTION_CHARS)),
    };
  });
}

/** In the form that the tool wants. */
export function answersOf(choices: readonly Choice[], words: (at: number) => string): Json {
  return { answers: Object.fromEntries(choices.map(({ id }, at) => [id, { answers: [words(at)] }])) };
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** Control and invisible characters are written out. */
function oneLine(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
