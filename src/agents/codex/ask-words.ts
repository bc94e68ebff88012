/** What Codex asks, for people to read, and their answers in the form it wants. */
import { permissionLine, questionWords } from "../ask-words.ts";
import { isObject, textAt, type Item, type Json } from "./protocol.ts";

export function permissionText(params: Json, item: Item | undefined): string {
  const reason = textAt(params, "reason");
  return permissionLine(reason === "" ? whatOf(params, item) : `${whatOf(params, item)} (${reason})`);
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
  options: string[];
}

export function choicesOf({ questions }: Json): Choice[] {
  return listOf(questions).map((one) => {
    const offered = listOf(one["options"]).map((option) => ({
      label: textAt(option, "label"),
      description: textAt(option, "description"),
    }));
    return { id: textAt(one, "id"), ...questionWords(textAt(one, "question"), { offered }) };
  });
}

/** In the form that the tool wants. */
export function answersOf(choices: readonly Choice[], words: (at: number) => string): Json {
  return { answers: Object.fromEntries(choices.map(({ id }, at) => [id, { answers: [words(at)] }])) };
}

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);
