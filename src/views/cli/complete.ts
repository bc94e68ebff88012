/**
 * What may come next on a command line: asked by the scripts of `pawl completion`. The last word is the one that is being
 * typed, perhaps empty. An empty answer lets the shell offer files.
 */
import type { Command, Option } from "commander";
import { openState } from "../../compose.ts";
import { commandNamed, isCommand } from "./command.ts";
import { runsHere } from "./run-id.ts";
import { COMMANDS } from "./table.ts";

const MAX_RUNS = 50;
/** Values that are told by a word of the help, where no setting knows them. */
const SHELLS = ["bash", "zsh", "fish"];

export async function completions(words: readonly string[]): Promise<string[]> {
  const { typed, isSplit } = unsplit(words);
  const [name, ...rest] = typed;
  if (name === undefined || rest.length === 0)
    return starting([...Object.keys(COMMANDS), "help", "--help", "--version"], name ?? "");
  if (name === "help") return rest.length === 1 ? starting(Object.keys(COMMANDS), rest[0] ?? "") : [];
  if (!isCommand(name)) return [];
  const command = await commandNamed(name, () => undefined);
  const [first] = rest;
  const sub = command.commands.find((one) => one.name() === first);
  if (sub !== undefined && rest.length > 1) return within(sub, { words: rest.slice(1), name, isSplit });
  // Its own: a command may do something by itself and have subcommands.
  const own = [...command.commands.map((one) => one.name()), ...flagsOf(command, [])];
  if (command.commands.length > 0 && rest.length === 1) return starting(own, first ?? "");
  return within(command, { words: rest, name, isSplit });
}

/** bash splits `--context=fresh` into three words. */
function unsplit(words: readonly string[]): { typed: string[]; isSplit: boolean } {
  const joined: string[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    if (last !== undefined && /^--[\w-]+=$/.test(last)) joined[joined.length - 1] = last + word;
    else if (word === "=" && last !== undefined && /^--[\w-]+$/.test(last)) joined[joined.length - 1] = `${last}=`;
    else joined.push(word);
  }
  return { typed: joined, isSplit: joined.length < words.length };
}

interface Typed {
  words: readonly string[];
  name: string;
  isSplit: boolean;
}

async function within(command: Command, { words, name, isSplit }: Typed): Promise<string[]> {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  if (before.includes("--")) return [];
  const glued = /^(--[\w-]+)=(.*)$/.exec(current);
  // A shell that keeps such a word whole wants it whole; bash, which splits it, wants the value alone.
  if (glued !== null) {
    const values = starting(await valuesOf(option(command, glued[1])), glued[2] ?? "");
    return isSplit ? values : values.map((value) => `${glued[1]}=${value}`);
  }
  const previous = option(command, before.at(-1));
  if (previous?.required === true) return starting(await valuesOf(previous), current);
  if (current.startsWith("-")) return starting(flagsOf(command, before), current);
  const optional = previous?.optional === true ? await valuesOf(previous) : [];
  const taken = positionals(command, before);
  if (name === "completion") return taken === 0 ? starting(SHELLS, current) : [];
  return starting([...optional, ...(taken === 0 && takesRun(command) ? await runs(current) : [])], current);
}

const starting = (candidates: readonly string[], word: string): string[] =>
  candidates.filter((candidate) => candidate.startsWith(word));

const option = (command: Command, flag: string | undefined): Option | undefined =>
  flag === undefined ? undefined : command.options.find(({ long, short }) => long === flag || short === flag);

function flagsOf(command: Command, before: readonly string[]): string[] {
  const free = command.options.filter(({ long, parseArg }) => parseArg !== undefined || !before.includes(long ?? ""));
  return [...free.flatMap(({ long }) => long ?? []), "--help"];
}

/** Of a setting with a fixed set of words. The table is loaded only here: it takes longer than the rest. */
async function valuesOf(asked: Option | undefined): Promise<string[]> {
  if (asked?.long === undefined) return [];
  const { choicesOf } = await import("./setting-options.ts");
  return choicesOf(asked.long.slice(2));
}

function positionals(command: Command, before: readonly string[]): number {
  return before.filter((word, at) => !word.startsWith("-") && option(command, before[at - 1])?.required !== true)
    .length;
}

const takesRun = (command: Command): boolean =>
  command.registeredArguments.some(
    (argument) => ["run", "runs"].includes(argument.name()) || /\[RUN\]/.test(argument.description),
  );

/** Of this repository first, the newest first; with or without the leading `r-`. */
async function runs(word: string): Promise<string[]> {
  const state = openState(process.env);
  try {
    const rows = await state.journal.runs();
    const here = runsHere(rows, process.cwd());
    const others = rows.filter((row) => !here.includes(row));
    const names = [...others, ...here].map(({ run }) => run).toReversed();
    const bare = word !== "" && !word.startsWith("r");
    return (bare ? names.map((run) => run.slice(2)) : names).filter((run) => run.startsWith(word)).slice(0, MAX_RUNS);
  } finally {
    state.close();
  }
}
