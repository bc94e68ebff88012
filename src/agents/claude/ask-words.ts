/** What Claude Code asks, for people to read. */
import { permissionLine, questionWords } from "../ask-words.ts";

export const QUESTION_TOOL = "AskUserQuestion";

export function permissionText(tool: string, input: Record<string, unknown>): string {
  const { command } = input;
  const what = tool === "Bash" && typeof command === "string" ? command : (JSON.stringify(input) ?? "");
  return permissionLine(`${tool}: ${what}`);
}

export interface Choice {
  /** By which the tool finds its answer. */
  key: string;
  text: string;
  options: string[];
}

/** The questions of one call, as the tool's input has them; [] when it has none. */
export function choicesOf(input: Record<string, unknown>): Choice[] {
  return listOf(input["questions"]).flatMap((one): Choice[] => {
    const key = one["question"];
    if (typeof key !== "string") return [];
    const offered = listOf(one["options"]).flatMap(({ label, description }) =>
      typeof label === "string" ? [{ label, description: typeof description === "string" ? description : "" }] : [],
    );
    return [{ key, ...questionWords(key, { offered, many: one["multiSelect"] === true }) }];
  });
}

function listOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null);
}
