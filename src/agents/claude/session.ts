/**
 * One conversation with Claude Code. Its process is started at the first turn, or ahead of it, and kept; when it dies
 * or had to be killed, the next turn starts another on the same conversation.
 */
import { join } from "node:path";
import type { SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { UsageError } from "../../errors.ts";
import { makePrivateDir, writeDurably } from "../../platform/files.ts";
import { priceOf } from "../../platform/prices.ts";
import type { AgentEvent, AgentSession, OpenRequest } from "../../ports.ts";
import { cannotBegin, emptyEnd, failed, withNotices } from "../ending.ts";
import { brief } from "../outcome.ts";
import { waitingForPeople } from "../waiting.ts";
import { asks as newAsks } from "./ask.ts";
import { commandLine, commandOf } from "./command-line.ts";
import { claudeEnvironment, configDirectory, temporaryDirectory } from "./environment.ts";
import { live } from "./live.ts";
import type { Live } from "./live.ts";
import { meter } from "../api-meter.ts";
import { modelWay } from "./model-way.ts";
import { answerOptions, claudeOptions, type ClaudeOptions } from "./options.ts";
import { claudeProgram } from "./program.ts";
import { turnReader } from "./reader.ts";
import type { TurnReader } from "./reader.ts";
import { NO_TOTALS } from "./settle.ts";
import { findStart, savedTotals } from "./start.ts";
import { watch } from "./turn.ts";
import { readUserSettings } from "./user-settings.ts";
import { uuidWithin } from "./uuid.ts";

interface Launched {
  live: Live;
  notice: string | undefined;
}

interface Setup {
  login: Record<string, string>;
  /** The user's own environment. */
  user: Readonly<Record<string, string | undefined>>;
  /** Hears which Claude Code it is; what people should know of that, if anything. */
  onVersion: (version: string) => string | undefined;
}

export function claudeSession(request: OpenRequest, { login, user, onVersion }: Setup): AgentSession {
  const way = modelWay(request, { login, user });
  const waiting = waitingForPeople();
  const asks = newAsks({ policy: request.agent.ask, waiting });
  let running: { uuid: string; reader: TurnReader } | undefined;
  let current: Live | undefined;
  let dropping: Promise<void> | undefined;
  let { model, session } = request;
  /** The running process refused the model; the next one is started with it. */
  let stale = false;
  /** Requests made to try a model, not yet part of a turn's usage. */
  let probes = 0;
  let closed = false;
  /** A start ahead of the first turn. */
  let warming: Promise<Launched> | undefined;

  async function launch(): Promise<Launched> {
    const options =
      request.answer === undefined
        ? claudeOptions(request.agent.options, request.agent.ask)
        : answerOptions(request.agent.options);
    const config = configDirectory(request.home);
    makePrivateDir(config);
    makePrivateDir(temporaryDirectory(request.home));
    const { start, notice } = await findStart(config, session);
    const saved = start.is === "new" ? undefined : await savedTotals(config, start);
    const reached = await way.reached();
    const env = claudeEnvironment(request, { login, reached, options, isRoot: process.getuid?.() === 0 });
    const { args, initialize } = commandLine(request, { start, options, model, user: userParts(options) });
    const [command, ...script] = commandOf(claudeProgram(options, user) ?? options.bin ?? "claude");
    const wanted = { command, args: [...script, ...args], cwd: request.workspace, env, confine: request.confine };
    const baselines = saved === undefined ? [NO_TOTALS] : [saved, NO_TOTALS];
    return { live: live({ wanted, initialize, asks, baselines }), notice };
  }

  function userParts({ userSettings }: ClaudeOptions): Parameters<typeof commandLine>[1]["user"] {
    if (!userSettings) return undefined;
    const { settings, servers } = readUserSettings(user, { project: request.workspace });
    const file = join(request.home, "user-settings.json");
    writeDurably(file, JSON.stringify(settings));
    return { file, servers };
  }

  /** Whoever asks again waits for the same end. */
  async function drop(): Promise<void> {
    if (current !== undefined) dropping = current.end();
    current = undefined;
    stale = false;
    await dropping;
  }

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    const not = cannotBegin({ signal, closed, running: running !== undefined });
    if (not !== undefined) return yield emptyEnd(not);
    const spent = meter(priceOf);
    const reader = turnReader({ uuid, meter: spent, onVersion });
    running = { uuid, reader };
    for (; probes > 0; probes -= 1) spent.bareRequest();
    let fit = false;
    try {
      if (stale || current?.isDead() === true) await drop();
      if (current === undefined) {
        const ahead = warming;
        warming = undefined;
        const started = await (ahead ?? launch());
        current = started.live;
        if (started.notice !== undefined) yield { type: "notice", text: started.notice };
      }
      current.say(userMessage(uuid, prompt));
      const events = watch({ uuid, live: current, waiting, reader, meter: spent, limits, signal });
      const held = current;
      fit = yield* withNotices(events, {
        notices: () => [...way.takeNotices(), ...held.limits().map((met) => `the fence: ${met}`)],
      });
    } catch (error) {
      yield emptyEnd(error instanceof UsageError ? failed(error.message) : { is: "cut", reason: brief(String(error)) });
    } finally {
      running = undefined;
      // From now on there is a conversation; a rewind is not done twice.
      if (reader.view.begun) session = { ref: session.ref, mode: "continue" };
      if (!fit) await drop();
    }
  }

  return {
    turn,
    async warm() {
      warming ??= launch();
      await warming.catch(() => undefined);
    },
    async say(directive, text) {
      if (running === undefined || current === undefined) return "next-turn";
      const uuid = uuidWithin(running.uuid);
      if (!running.reader.expect(uuid, directive)) return "next-turn";
      // "now" would throw away the answer under way; "next" joins the next request.
      current.say({ ...userMessage(uuid, text), priority: "next" });
      return "now";
    },
    async setModel(wanted) {
      model = wanted;
      if (current === undefined) return "next-turn";
      probes += 1;
      try {
        await current.setModel(wanted);
        return "now";
      } catch {
        stale = true;
        return "next-turn";
      }
    },
    reply: (question, reply) => Promise.resolve(waiting.reply(question, reply)),
    async close() {
      closed = true;
      const ahead = await warming?.catch(() => undefined);
      await ahead?.live.end();
      await drop();
      await way.close();
    },
  };
}

function userMessage(uuid: string, text: string): SDKUserMessage {
  return {
    type: "user",
    message: { role: "user", content: text },
    parent_tool_use_id: null,
    uuid: uuid as NonNullable<SDKUserMessage["uuid"]>,
  };
}
