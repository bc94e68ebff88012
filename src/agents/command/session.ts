/** One conversation with a command: a process for every turn, tied together by the program's own name for it. */
import { randomUUID } from "node:crypto";
import { UsageError } from "../../errors.ts";
import type { AgentEvent, AgentSession, OpenRequest, TurnEnd } from "../../ports.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { cannotBegin, emptyEnd, failed } from "../ending.ts";
import { brief } from "../outcome.ts";
import type { Piped } from "../piped.ts";
import { hearing as newHearing } from "./hearing.ts";
import { launch, promptOf } from "./launch.ts";
import { meter as newMeter } from "./meter.ts";
import { modelWay } from "./model-way.ts";
import { commandOptions } from "./options.ts";
import { jsonlReader } from "./read-jsonl.ts";
import { textReader } from "./read-text.ts";
import { folderOf, keepConversation, readConversation, turnRecord, type Conversation } from "./record.ts";
import { telling as newTelling } from "./telling.ts";
import { playTurn } from "./turn.ts";
import { hasPlaceholder } from "./words.ts";

/** Of one argument of a program, by Linux. */
const MAX_ARGUMENT_BYTES = 128 * 1024 - 1;
/** Tries to go on with a conversation that never reached the model, before a new one is begun. */
const MAX_MISSES = 2;

type Environment = Readonly<Record<string, string | undefined>>;

interface Setup {
  entry: CommandEntry;
  user: Environment;
}

export function commandSession(request: OpenRequest, { entry, user }: Setup): AgentSession {
  const { workspace, session, agent } = request;
  const folder = folderOf(request.home, agent.name);
  const { ref } = session;
  const way = modelWay(request, { gateway: entry.gateway, user });
  let { model } = request;
  let current: Piped | undefined;
  let [running, closed, warned] = [false, false, false];

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    const refused = cannotBegin({ signal, closed, running });
    if (refused !== undefined) return yield emptyEnd(refused);
    if (request.answer !== undefined) return yield emptyEnd(failed(NO_ANSWERS));
    running = true;
    try {
      const known = readConversation(folder, ref);
      const options = commandOptions(entry, agent, workspace);
      const text = promptOf(prompt, { request, entry, known });
      if (entry.prompt === "argument") {
        if (Buffer.byteLength(text) > MAX_ARGUMENT_BYTES) return yield emptyEnd(failed(TOO_LONG));
        if (!warned) yield { type: "notice", text: ON_ARGV };
        warned = true;
      }
      const meter = newMeter(known);
      const reader = entry.output.format === "text" ? textReader() : jsonlReader({ rules: entry.output.rules, meter });
      const record = turnRecord(folder, uuid);
      let wake: (() => void) | undefined;
      let spent: (() => void) | undefined;
      let answered: (() => void) | undefined;
      way.begin({
        limit: options.maxRequests,
        onRequest: () => record.note({ is: "request" }),
        onUnsent() {
          record.note({ is: "unsent" });
          spent?.();
        },
        onSpent(asked, of, tokens) {
          meter.seen(asked, of, tokens);
          spent?.();
          // Also for who comes after a crash.
          answered?.();
          wake?.();
        },
        wake: () => wake?.(),
      });
      record.note({ is: "begun" });
      // Never the same twice: a program that was ended early may have taken the name already.
      const fresh = randomUUID();
      const child = await launch(text, { request, folder, entry, user, way, model, options, known, fresh });
      current = child;
      const hearing = newHearing(child);
      wake = () => hearing.nudge();
      const opening = known.opening ?? text;
      const keep = (): void => {
        const { session: told } = reader.view;
        const named = told ?? known.session ?? (hasPlaceholder(entry, "new-session") ? fresh : undefined);
        keepConversation(folder, ref, {
          ...(named === undefined ? {} : { session: named }),
          ...(hasPlaceholder(entry, "session") ? {} : { opening }),
          ...meter.conversation(),
        });
      };
      const { view } = reader;
      const isModels = entry.output.format === "jsonl";
      const telling = newTelling({ ref, model, isModels, view, meter, way, record, onExists: keep });
      spent = () => telling.spent();
      answered = keep;
      let end: TurnEnd | undefined;
      const events = playTurn({
        uuid,
        entry,
        process: child,
        hearing,
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

  /** What cannot be gone on with, since it never reaches its model, is not tried for ever. */
  function settle({ usage, outcome }: TurnEnd, keep: () => void, known: Conversation): void {
    if (usage.requests > 0) return keep();
    if (known.session === undefined || !["failed", "cut"].includes(outcome.is)) return;
    const misses = (known.misses ?? 0) + 1;
    const { session: _, ...rest } = known;
    keepConversation(folder, ref, misses < MAX_MISSES ? { ...known, misses } : rest);
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
