/** What an ACP agent asks, for people to read, and their answers in the form it wants. */
import { permissionLine, questionWords } from "../ask-words.ts";
import { isObject, listAt, objectAt, textAt, type Json } from "./json.ts";
import { nameOf } from "./tools.ts";

/** `tool`: the call as it is known so far. */
export function permissionText(tool: Json): string {
  const input = objectAt(tool, "rawInput");
  const command = textAt(input, "command") || textAt(input, "cmd");
  const title = textAt(tool, "title");
  const what = command === "" ? [title, jsonOf(input)].filter((part) => part !== "").join(" ") : command;
  return permissionLine(`${nameOf(tool)}: ${what}`);
}

const jsonOf = (input: Json): string => (Object.keys(input).length === 0 ? "" : JSON.stringify(input));

export interface Choice {
  /** Of the form's field that takes the answer. */
  field: string;
  /** Of the field beside it that takes an answer in other words, where one may leave the first one empty. */
  other: string | undefined;
  /** Several may be chosen. */
  many: boolean;
  text: string;
  options: string[];
  /** What the form wants for an option. */
  values: string[];
}

/** The questions of a form; a field for an answer in other words belongs to the one before it. */
export function choicesOf({ message, requestedSchema }: Json): Choice[] {
  const schema = isObject(requestedSchema) ? requestedSchema : {};
  const fields = Object.entries(objectAt(schema, "properties"));
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const choices: Choice[] = [];
  for (const [field, about] of fields) {
    if (!isObject(about)) continue;
    const offered = optionsOf(about);
    const before = choices.at(-1);
    if (offered.length === 0 && before?.other === undefined && before !== undefined && field.startsWith(before.field)) {
      if (!required.includes(before.field)) before.other = field;
      continue;
    }
    const many = about["type"] === "array";
    const said = [message, about["title"], about["description"]].filter(
      (part) => typeof part === "string" && part !== "",
    );
    const question = [...new Set(said)].join(" · ");
    choices.push({
      field,
      other: undefined,
      many,
      ...questionWords(question, { offered, many }),
      values: offered.map(({ value }) => value),
    });
  }
  return choices;
}

function optionsOf(about: Json): { value: string; label: string; description: string }[] {
  const items = objectAt(about, "items");
  const titled = [...listAt(about, "oneOf"), ...listAt(items, "anyOf"), ...listAt(items, "oneOf")];
  const plain = [about["enum"], items["enum"]].flatMap((list) => (Array.isArray(list) ? list : []));
  return [
    ...titled.map((one) => ({
      value: textAt(one, "const"),
      label: textAt(one, "title") || textAt(one, "const"),
      description: textAt(one, "description"),
    })),
    ...plain.filter((one) => typeof one === "string").map((value) => ({ value, label: value, description: "" })),
  ];
}

/** In the form that was asked for. */
export function answersOf(choices: readonly Choice[], words: (at: number) => string | undefined): Json {
  const content = new Map<string, unknown>();
  for (const [at, { field, other, many, options, values }] of choices.entries()) {
    const said = words(at);
    if (said === undefined) continue;
    const picked = (many ? said.split(",") : [said]).map((one) => options.indexOf(one.trim()));
    const chosen = picked.flatMap((index) => values[index] ?? []);
    if (options.length > 0 && chosen.length === picked.length) content.set(field, many ? chosen : chosen[0]);
    else content.set(options.length === 0 ? field : (other ?? field), said);
  }
  return Object.fromEntries(content);
}
