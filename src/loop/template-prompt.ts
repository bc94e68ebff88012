/**
 * A prompt from a person's template: each part stands where its variable does. What a template has no place for is
 * left out and listed, but never the words of people or what was done to the files: these stand above it.
 */
import type { PromptPart } from "./actions.ts";
import { capText, MAX_PROMPT_BYTES, whyNot, type ComposedPrompt, type Manifest } from "./prompt.ts";
import { fill, usesOf } from "./template.ts";

/** A part's name as a variable. */
export const variableOf = (part: string): string => part.replaceAll("-", "_");

interface Filling {
  template: string;
  /** Words beside the parts; one with the name of a part stands for it. */
  variables: Readonly<Record<string, string>>;
  maxBytes?: number;
}

type Entry = Manifest[number];

export function fillParts(
  parts: readonly PromptPart[],
  { template, variables, maxBytes = MAX_PROMPT_BYTES }: Filling,
): ComposedPrompt {
  const uses = new Map<string, number>();
  for (const { name } of usesOf(template)) uses.set(name, (uses.get(name) ?? 0) + 1);
  const places = new Set(parts.map(({ name }) => variableOf(name)));
  const bare = Buffer.byteLength(fill(template, (name) => (places.has(name) ? "" : (variables[name] ?? ""))));
  let left = maxBytes - bare;
  const values = new Map(Object.entries(variables));
  const above: string[] = [];
  const entries = new Map<string, Entry>();
  // Those that must not be lost take their room first.
  for (const part of parts.toSorted((a, b) => Number(b.always ?? false) - Number(a.always ?? false))) {
    const variable = variableOf(part.name);
    const times = uses.get(variable) ?? 0;
    const whole = (variables[variable] ?? part.text).trim();
    const { text, cut } = capText(whole, part.capBytes);
    const bytes = Buffer.byteLength(text);
    const needed = (bytes + 2) * Math.max(1, times);
    const isPlaced = times > 0 || part.always === true;
    const included = whole !== "" && isPlaced && needed <= left;
    const why = whole === "" ? part.silent : isPlaced ? "no room" : "not in the template";
    entries.set(part.name, {
      name: part.name,
      bytes: included ? bytes : 0,
      cut: included ? cut : Buffer.byteLength(whole),
      included,
      ...whyNot(included ? undefined : why),
    });
    values.set(variable, included ? text : "");
    if (!included) continue;
    if (times === 0) above.push(text);
    left -= needed;
  }
  const filled = fill(template, (name) => values.get(name) ?? "").trim();
  const { text, cut } = capText([...above, filled].join("\n\n"), maxBytes);
  return {
    text,
    parts: [{ name: "template", bytes: bare, cut, included: true }, ...inOrder(parts, entries)],
    breaks: [],
  };
}

const inOrder = (parts: readonly PromptPart[], entries: ReadonlyMap<string, Entry>): Entry[] =>
  parts.flatMap(({ name }) => entries.get(name) ?? []);
