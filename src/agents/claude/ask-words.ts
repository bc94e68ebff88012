/** What a person reads of an agent's request. The agent wrote it, so nothing in it may move a terminal or hide. */

export const QUESTION_TOOL = "AskUserQuestion";

/** What is cut is said, so that nobody allows what they did not see. */
const MAX_PERMISSION_CHARS = 1_000;
const MAX_QUESTION_CHARS = 4_000;
const MAX_OPTION_CHARS = 200;

export function permissionText(tool: string, input: Record<string, unknown>): string {
  const { command } = input;
  const what = tool === "Bash" && typeof command === "string" ? command : (JSON.stringify(input) ?? "");
  return cut(oneLine(`${tool}: ${what}`), MAX_PERMISSION_CHARS);
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
    const lines = offered.map(({ label, description }) =>
      oneLine(description === "" ? label : `${label}: ${description}`),
    );
    const many = one["multiSelect"] === true ? " (several may be chosen, joined by commas)" : "";
    return [
      {
        key,
        text: cut([`${oneLine(key)}${many}`, ...lines.map((line) => `- ${line}`)].join("\n"), MAX_QUESTION_CHARS),
        options: offered.map(({ label }) => oneLine(label).slice(0, MAX_OPTION_CHARS)),
      },
    ];
  });
}

function listOf(value: unknown): Record<string, unknown>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((one): one is Record<string, unknown> => typeof one === "object" && one !== null);
}

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
