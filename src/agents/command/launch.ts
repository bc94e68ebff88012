/** Starts the program for one turn: its words, its files, its environment and the way to its model. */
import { dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";
import type { OpenRequest } from "../../ports.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { startPiped, type Piped } from "../piped.ts";
import type { ModelWay } from "./model-way.ts";
import type { CommandOptions } from "./options.ts";
import { programPath } from "../programs.ts";
import { instructionsFile, programHome, promptFile, type Conversation } from "./record.ts";
import { commandWords, filledText, hasPlaceholder } from "./words.ts";
import { lookUp } from "../../platform/look-up.ts";

type Environment = Readonly<Record<string, string | undefined>>;

interface Launching {
  request: OpenRequest;
  /** Of this agent, in the home of the run. */
  folder: string;
  entry: CommandEntry;
  user: Environment;
  way: ModelWay;
  model: string | undefined;
  options: CommandOptions;
  known: Conversation;
  /** A name for a new conversation. */
  fresh: string;
}

/** Throws when it cannot be started. */
export async function launch(
  prompt: string,
  { request, folder, entry, user, way, model, options, known, fresh }: Launching,
): Promise<Piped> {
  const { workspace } = request;
  const name = options.bin ?? String(entry.command[0]);
  const program = programPath(name, request.environment);
  if (program === undefined) throw new UsageError(`${name} is not a program here`);
  const reached = await way.reached();
  const own = programHome(folder);
  const places = { home: own, workspace, url: reached?.url ?? "", key: reached?.token ?? "", model: model ?? "" };
  writeFiles(entry.files, { folder: own, places });
  if (entry.prompt === "file") writeDurably(promptFile(folder), prompt);
  if (hasPlaceholder(entry, "instructions-file")) writeDurably(instructionsFile(folder), request.instructions);
  const remembers = hasPlaceholder(entry, "session");
  const [, ...args] = commandWords(entry.command, {
    ...options.values,
    ...(model === undefined ? {} : { model }),
    ...(entry.prompt === "argument" ? { prompt } : {}),
    ...(remembers && known.session !== undefined ? { session: known.session } : {}),
    ...(remembers && known.session === undefined ? { "new-session": fresh } : {}),
    ...(request.instructions === "" ? {} : { "instructions-file": instructionsFile(folder) }),
    "prompt-file": promptFile(folder),
    workspace,
    home: own,
  });
  const [command = program, ...words] = [...(reached?.before ?? []), program, ...args];
  const process = startPiped({
    command,
    args: words,
    cwd: workspace,
    env: environmentOf(request, { entry, user, places, reached: reached?.environment ?? {} }),
    confine: request.confine,
  });
  process.stdin.end(entry.prompt === "stdin" ? prompt : "");
  return process;
}

interface Prompting {
  request: OpenRequest;
  entry: CommandEntry;
  known: Conversation;
}

/** Instruction files of the base stand before a first prompt; a program without memory is told that prompt again. */
export function promptOf(prompt: string, { request, entry, known }: Prompting): string {
  const told = entry.instructions === "prompt" && !hasPlaceholder(entry, "instructions-file");
  const isFirst = known.session === undefined && known.opening === undefined;
  const first = told && isFirst && request.instructions !== "" ? `${request.instructions}\n\n${prompt}` : prompt;
  if (known.opening === undefined) return first;
  return `${known.opening}\n\n---\n\nThat was told to you before, in a conversation you do not remember. Now:\n\n${prompt}`;
}

function writeFiles(
  files: CommandEntry["files"],
  { folder, places }: { folder: string; places: Readonly<Record<string, string>> },
): void {
  makePrivateDir(folder);
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    makePrivateDir(dirname(file));
    writeDurably(file, filledText(text, places));
  }
}

interface Surroundings {
  entry: CommandEntry;
  user: Environment;
  places: Readonly<Record<string, string>>;
  reached: Readonly<Record<string, string>>;
}

/** The user's proxy is the gateway's to use, not the way to the gateway. */
function environmentOf(
  { environment }: Pick<OpenRequest, "environment">,
  { entry, user, places, reached }: Surroundings,
): Record<string, string> {
  const passed = entry.pass.flatMap((name) => (lookUp(user, name) === undefined ? [] : [[name, user[name]]]));
  const own = Object.entries(entry.environment).map(([name, text]) => [name, filledText(text, places)]);
  const listed = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  const direct = listed === "" ? "127.0.0.1" : `${listed},127.0.0.1`;
  const isReached = Object.keys(reached).length > 0;
  return {
    ...Object.fromEntries(passed),
    ...environment,
    ...(isReached ? { no_proxy: direct, NO_PROXY: direct } : {}),
    ...Object.fromEntries(own),
    ...reached,
  };
}
