/** What a person reads of an agent's request. The agent wrote it, so nothing in it may move a terminal or hide. */
import { listAt, objectAt, textAt, type Json } from "./json.ts";

/** What is cut is said, so that nobody allows what they did not see. */
const MAX_PERMISSION_CHARS = 1_000;
const MAX_QUESTION_CHARS = 4_000;
const MAX_OPTION_CHARS = 200;

export function permissionText(request: Json): string {
  const metadata = objectAt(request, "metadata");
  const patterns = Array.isArray(request["patterns"]) ? request["patterns"].map(String) : [];
  const what = textAt(metadata, "command") || patterns.join(", ") || JSON.stringify(metadata);
  return cut(oneLine(`${textAt(request, "permission")}: ${what}`), MAX_PERMISSION_CHARS);
}

export interface Choice {
  text: string;
  options: string[];
}

export function choicesOf(request: Json): Choice[] {
  return listAt(request, "questions").map((one) => {
    const offered = listAt(one, "options").map((option) => ({
      label: textAt(option, "label"),
      description: textAt(option, "description"),
    }));
    const lines = offered.map(({ label, description }) =>
      oneLine(description === "" ? `- ${label}` : `- ${label}: ${description}`),
    );
    const many = one["multiple"] === true ? " (several may be chosen, joined by commas)" : "";
    return {
      text: cut([`${oneLine(textAt(one, "question"))}${many}`, ...lines].join("\n"), MAX_QUESTION_CHARS),
      options: offered.map(({ label }) => oneLine(label).slice(0, MAX_OPTION_CHARS)),
    };
  });
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
