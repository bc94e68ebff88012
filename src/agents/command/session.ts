/** One conversation with a command: a process for every turn, tied together by the program's own name for it. */
import { dirname, join } from "node:path";
import { UsageError } from "../../errors.ts";
import type { TurnOutcome, Usage } from "../../events.ts";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";
import type { AgentEvent, AgentSession, OpenRequest, TurnEnd } from "../../ports.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { brief } from "../outcome.ts";
import { meter as newMeter, NO_TOKENS } from "./meter.ts";
import { modelWay } from "./model-way.ts";
import { commandOptions, type CommandOptions } from "./options.ts";
import { startTurnProcess, type TurnProcess } from "./process.ts";
import { programPath } from "./program.ts";
import { jsonlReader } from "./read-jsonl.ts";
import { textReader } from "./read-text.ts";
import {
  instructionsFile,
  keepConversation,
  programHome,
  promptFile,
  readConversation,
  turnRecord,
  type Conversation,
} from "./record.ts";
import { telling as newTelling } from "./telling.ts";
import { playTurn } from "./turn.ts";
import { wakesOf } from "./wakes.ts";
import { commandWords, filledText, hasPlaceholder } from "./words.ts";

/** Of one argument of a program, by Linux. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
const NO_USAGE: Usage = { ...NO_TOKENS, requests: 0, toolCalls: 0, usd: 0, estimated: false };

type Environment = Readonly<Record<string, string | undefined>>;

interface Setup {
  entry: CommandEntry;
  user: Environment;
}

export function commandSession(request: OpenRequest, { entry, user }: Setup): AgentSession {
  const { home, workspace, session, agent } = request;
  const { ref } = session;
  const way = modelWay(request, { gateway: entry.gateway, user });
  let { model } = request;
  let current: TurnProcess | undefined;
  let [running, closed, warned] = [false, false, false];

  async function launch(prompt: string, about: { options: CommandOptions; known: Conversation }): Promise<TurnProcess> {
    const { options, known } = about;
    const name = options.bin ?? String(entry.command[0]);
    const program = programPath(name, request.environment);
    if (program === undefined) throw new UsageError(`${name} is not a program here`);
    const reached = await way.reached();
    const own = programHome(home);
    const places = { home: own, workspace, url: reached?.url ?? "", key: reached?.token ?? "", model: model ?? "" };
    writeFiles(entry.files, { folder: own, places });
    if (entry.prompt === "file") writeDurably(promptFile(home), prompt);
    if (hasPlaceholder(entry, "instructions-file")) writeDurably(instructionsFile(home), request.instructions);
    const remembers = hasPlaceholder(entry, "session");
    const [, ...args] = commandWords(entry.command, {
      ...options.values,
      ...(model === undefined ? {} : { model }),
      ...(entry.prompt === "argument" ? { prompt } : {}),
      ...(remembers && known.session !== undefined ? { session: known.session } : {}),
      ...(remembers && known.session === undefined ? { "new-session": ref } : {}),
      ...(request.instructions === "" ? {} : { "instructions-file": instructionsFile(home) }),
      "prompt-file": promptFile(home),
      workspace,
      home: own,
    });
    const [command = program, ...words] = [...(reached?.before ?? []), program, ...args];
    return startTurnProcess({
      command,
      args: words,
      cwd: workspace,
      env: environmentOf(request, { entry, user, places, reached: reached?.environment ?? {} }),
      confine: request.confine,
      input: entry.prompt === "stdin" ? prompt : undefined,
    });
  }

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    if (signal.aborted) return yield emptyEnd({ is: "interrupted", by: String(signal.reason) });
    if (closed) return yield emptyEnd({ is: "cut", reason: "the session is closed" });
    if (running) return yield emptyEnd(failed("another turn of this session is running"));
    if (request.answer !== undefined) return yield emptyEnd(failed(NO_ANSWERS));
    running = true;
    try {
      const known = readConversation(home, ref);
      const options = commandOptions(entry, agent, workspace);
      const text = promptOf(prompt, { request, entry, known });
      if (entry.prompt === "argument") {
        if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES) return yield emptyEnd(failed(TOO_LONG));
        if (!warned) yield { type: "notice", text: ON_ARGV };
        warned = true;
      }
      const meter = newMeter(known.totals);
      const reader = entry.output.format === "text" ? textReader() : jsonlReader({ rules: entry.output.rules, meter });
      const record = turnRecord(home, uuid);
      let wake: (() => void) | undefined;
      way.begin({ limit: options.maxRequests, onRequest: () => record.note({ is: "request" }), wake: () => wake?.() });
      record.note({ is: "begun" });
      const child = await launch(text, { options, known });
      current = child;
      const wakes = wakesOf(child);
      wake = () => wakes.nudge();
      const opening = known.opening ?? text;
      const keep = (): void => {
        const { session: told } = reader.view;
        const named = told ?? (hasPlaceholder(entry, "new-session") ? ref : undefined) ?? known.session;
        const totals = meter.totals();
        keepConversation(home, ref, {
          ...(named === undefined ? {} : { session: named }),
          ...(hasPlaceholder(entry, "session") ? {} : { opening }),
          ...(totals === undefined ? {} : { totals }),
        });
      };
      const { view } = reader;
      const isModels = entry.output.format === "jsonl";
      const telling = newTelling({ ref, model, isModels, view, meter, way, record, onExists: keep });
      let end: TurnEnd | undefined;
      const events = playTurn({
        uuid,
        entry,
        process: child,
        wakes,
        reader,
        meter,
        way,
        telling,
        record,
        limits,
        signal,
      });
      for await (const event of events) {
        if (event.type === "turn-end") {
          end = event;
          settle(end, keep, known);
        }
        yield event;
      }
    } catch (error) {
      yield emptyEnd(error instanceof UsageError ? failed(error.message) : { is: "cut", reason: brief(String(error)) });
    } finally {
      running = false;
      await current?.end();
      current = undefined;
    }
  }

  /** What could not be gone on with, and never reached its model, is not tried a second time. */
  function settle({ usage, outcome }: TurnEnd, keep: () => void, known: Conversation): void {
    if (usage.requests > 0) return keep();
    const { session: lost, ...rest } = known;
    if (lost !== undefined && outcome.is === "failed") keepConversation(home, ref, rest);
  }

  return {
    turn,
    say: () => Promise.resolve("next-turn"),
    setModel(wanted) {
      model = wanted;
      return Promise.resolve(running ? "next-turn" : "now");
    },
    async close() {
      closed = true;
      await current?.end();
      await way.close();
    },
  };
}

const NO_ANSWERS = "a command cannot be asked for an answer in a given form, without tools";
const TOO_LONG = "the prompt is longer than an argument can be; let the agent read it from stdin or a file";
const ON_ARGV = "the prompt stands on the agent's command line, where every user of this machine can read it";

interface Prompting {
  request: OpenRequest;
  entry: CommandEntry;
  known: Conversation;
}

/** Instruction files of the base stand before a first prompt; a program without memory is told that prompt again. */
function promptOf(prompt: string, { request, entry, known }: Prompting): string {
  const told = entry.instructions === "prompt" && !hasPlaceholder(entry, "instructions-file");
  const isFirst = known.session === undefined && known.opening === undefined;
  const first = told && isFirst && request.instructions !== "" ? `${request.instructions}\n\n${prompt}` : prompt;
  if (known.opening === undefined || request.session.mode === "new") return first;
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

interface Surroundings extends Setup {
  places: Readonly<Record<string, string>>;
  reached: Readonly<Record<string, string>>;
}

/** The user's proxy is the gateway's to use, not the way to the gateway. */
function environmentOf(
  { environment }: Pick<OpenRequest, "environment">,
  { entry, user, places, reached }: Surroundings,
): Record<string, string> {
  const passed = entry.pass.flatMap((name) => (user[name] === undefined ? [] : [[name, user[name]]]));
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

const failed = (message: string): TurnOutcome => ({ is: "failed", kind: "agent", message: brief(message) });

/** The end of a turn that never reached the model. */
function emptyEnd(outcome: TurnOutcome): TurnEnd {
  return {
    type: "turn-end",
    outcome,
    usage: NO_USAGE,
    finalText: "",
    call: null,
    messageId: null,
    contextTokens: null,
  };
}
