/** What opencode asks, for people to read. */
import { permissionLine, questionWords } from "../ask-words.ts";
import { listAt, objectAt, textAt, type Json } from "./json.ts";

export function permissionText(request: Json): string {
  const metadata = objectAt(request, "metadata");
  const patterns = Array.isArray(request["patterns"]) ? request["patterns"].map(String) : [];
  const what = textAt(metadata, "command") || patterns.join(", ") || JSON.stringify(metadata);
  return permissionLine(`${textAt(request, "permission")}: ${what}`);
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
    return questionWords(textAt(one, "question"), { offered, many: one["multiple"] === true });
  });
}
