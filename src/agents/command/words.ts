/** The words of a call, from an entry's command and the values of its placeholders. Pure. */
import { UsageError } from "../../errors.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { lookUp } from "../../platform/look-up.ts";

/** What may stand in braces in a command. Lists repeat their group. */
const PLACEHOLDERS = [
  "prompt",
  "prompt-file",
  "instructions-file",
  "model",
  "session",
  "new-session",
  "workspace",
  "home",
  "tools",
  "max-turns",
  "permissions",
  "effort",
  "mcp",
  "plugin",
  "args",
] as const;
export type Placeholder = (typeof PLACEHOLDERS)[number];
export type Values = Readonly<Partial<Record<Placeholder, string | readonly string[]>>>;

const NAMED = /\{([a-z][a-z-]*)\}/g;
const ARGS = "{args}";

const groupsOf = (command: CommandEntry["command"]): readonly string[][] =>
  command.map((one) => (typeof one === "string" ? [one] : one));
const namesIn = (words: readonly string[]): string[] =>
  words.flatMap((word) => [...word.matchAll(NAMED)].map((match) => match[1] ?? ""));

export const hasPlaceholder = ({ command }: Pick<CommandEntry, "command">, name: Placeholder): boolean =>
  namesIn(groupsOf(command).flat()).includes(name);

/** Throws UsageError for braces that mean nothing. */
export function refuseUnknownPlaceholders(agent: string, { command }: CommandEntry): void {
  const known: readonly string[] = PLACEHOLDERS;
  const unknown = namesIn(groupsOf(command).flat()).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new UsageError(`agent ${agent}: {${unknown}} in its command means nothing`, {
    hint: `one of: ${known.map((name) => `{${name}}`).join(" ")}`,
  });
}

/** What is left out for want of a value is left out with its whole group. Arguments of the user's come last, or at {args}. */
export function commandWords(command: CommandEntry["command"], values: Values): string[] {
  const args = [values.args ?? []].flat();
  const words = groupsOf(command).flatMap((group) =>
    group.length === 1 && group[0] === ARGS ? args : groupWords(group, values),
  );
  return groupsOf(command).flat().includes(ARGS) ? words : [...words, ...args];
}

function groupWords(group: readonly string[], values: Values): string[] {
  const names = namesIn(group).filter((name): name is Placeholder => Object.hasOwn(values, name) || isKnown(name));
  if (names.some((name) => values[name] === undefined)) return [];
  const list = names.find((name) => typeof values[name] === "object");
  if (list === undefined) return group.map((word) => filled(word, values));
  return [values[list] ?? []].flat().flatMap((one) => group.map((word) => filled(word, { ...values, [list]: one })));
}

const isKnown = (name: string): boolean => (PLACEHOLDERS as readonly string[]).includes(name);

function filled(word: string, values: Readonly<Record<string, string | readonly string[] | undefined>>): string {
  return word.replaceAll(NAMED, (whole, name: string) => {
    const value = lookUp(values, name);
    return typeof value === "string" ? value : whole;
  });
}

/** Of an environment or a file: every name that has a value is put in. */
export const filledText = (text: string, values: Readonly<Record<string, string>>): string => filled(text, values);
