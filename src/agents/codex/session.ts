/**
 * One conversation with Codex. Its app-server is started at the first turn, or ahead of it, and kept; when it dies or
 * had to be killed, the next turn starts another on the same thread.
 */
import { randomUUID } from "node:crypto";

import type { AgentEvent, AgentSession, OpenRequest } from "../../ports.ts";
import { cannotBegin, emptyEnd, failed, interrupted, unlessAborted, withNotices } from "../ending.ts";
import { brief } from "../outcome.ts";
import { waitingForPeople } from "../waiting.ts";
import { asks as newAsks } from "./ask.ts";
import { goalOf } from "./goal.ts";
import { recordedUsage } from "./inspect.ts";
import { isUsage, launch, type Launched } from "./launch.ts";
import type { CodexLogin } from "./login.ts";
import { meter } from "./meter.ts";
import { modelWay, type ModelWay } from "./model-way.ts";
import { answerOptions, codexOptions, type CodexOptions } from "./options.ts";
import { watchPlaceholders } from "./placeholders.ts";
import type { Json } from "./protocol.ts";
import { threadTokens, turnReader, USAGE_TOLD, type TurnReader } from "./reader.ts";
import { textInput, watch } from "./turn.ts";

interface Setup {
  login: CodexLogin | undefined;
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export const NO_LOGIN = "Codex has no login: no key in the environment and nothing that `codex login` stored";

export function codexSession(request: OpenRequest, { login, userEnvironment }: Setup): AgentSession {
  const waiting = waitingForPeople();
  const asks = newAsks({ policy: request.agent.ask, workspace: request.workspace, waiting });
  const told = new Set<string>();
  const way = login === undefined ? undefined : modelWay(request, login, userEnvironment);
  let { model, session } = request;
  let current: Launched | undefined;
  let warming: Promise<Launched> | undefined;
  let running: { reader: TurnReader } | undefined;
  let closed = false;
  /** Of the whole thread, as last told. */
  let toldTokens: number | undefined;

  /** Codex tells the same sum again when it goes on with a thread, and when a turn begins with a compaction. */
  const isNews = (tokens: number): boolean => {
    if (tokens === toldTokens) return false;
    toldTokens = tokens;
    return true;
  };

  const options = (): CodexOptions => {
    const fenced = request.confine !== undefined;
    return request.answer === undefined
      ? codexOptions(request.agent.options, { ask: request.agent.ask, fenced })
      : answerOptions(request.agent.options, { fenced });
  };

  const onUnheard = (method: string, params: Json): void => {
    const tokens = method === USAGE_TOLD ? threadTokens(params) : undefined;
    if (tokens !== undefined) isNews(tokens);
  };

  const start = async (through: ModelWay): Promise<Launched> =>
    await launch({ request, session, model, options: options(), way: through, onUnheard });

  async function drop(): Promise<void> {
    const dropped = current;
    current = undefined;
    await dropped?.live.end();
  }

  /** undefined: it was aborted meanwhile. */
  async function ready(through: ModelWay, signal: AbortSignal): Promise<Launched | undefined> {
    if (current?.live.isDead() === true) await drop();
    if (current !== undefined) return current;
    const starting = warming ?? start(through);
    warming = undefined;
    current = await unlessAborted(starting, signal);
    if (current === undefined) await starting.then(({ live }) => live.end()).catch(() => undefined);
    return current;
  }

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    const not = cannotBegin({ signal, closed, running: running !== undefined });
    if (not !== undefined) return yield emptyEnd(not);
    if (way === undefined) return yield emptyEnd({ is: "failed", kind: "login", message: NO_LOGIN });
    let fit = false;
    const spent = meter();
    try {
      const launched = await ready(way, signal);
      if (launched === undefined) return yield emptyEnd(interrupted(signal));
      const { live, thread, notice } = launched;
      if (notice !== undefined && !told.has(notice)) {
        told.add(notice);
        yield { type: "notice", text: notice };
      }
      const reader = turnReader({
        uuid,
        ref: session.ref,
        thread,
        // After a switch, each response is paid at the price of the model that it was asked of.
        model: (response) => (response === undefined ? undefined : way.model(response)) ?? model ?? launched.model,
        meter: spent,
        requests: () => way.requests(),
        isNews,
        told,
      });
      running = { reader };
      const { effort, maxTurns, sandbox, goal } = options();
      const events = watch({
        uuid,
        thread,
        start: startOf({ uuid, prompt, thread, model, effort, answer: request.answer }),
        live,
        waiting,
        asks,
        reader,
        meter: spent,
        way,
        goal: goal === undefined ? undefined : goalOf({ live, thread, objective: goal }),
        limits,
        maxRequests: maxTurns,
        signal,
        recorded: () => recordedUsage({ home: request.home, session }, uuid),
        answers: request.answer !== undefined,
        tidy: sandbox === "danger-full-access" ? () => undefined : watchPlaceholders(request.workspace),
      });
      fit = yield* withNotices(events, {
        notices: () => [...way.takeNotices(), ...live.limits().map((met) => `the fence: ${met}`)],
      });
    } catch (error) {
      yield emptyEnd(
        isUsage(error) ? failed(error.message) : { is: "cut", reason: way.hide(brief((error as Error).message)) },
      );
    } finally {
      // From now on there is a conversation; a rewind is not done twice.
      if (running?.reader.view.begun === true) session = { ref: session.ref, mode: "continue" };
      running = undefined;
      if (!fit) await drop();
    }
  }

  return {
    turn,
    warm() {
      if (way === undefined) return;
      warming ??= start(way);
      warming.catch(() => undefined);
    },
    async say(directive, text) {
      const { reader } = running ?? {};
      if (reader === undefined || current === undefined) return "next-turn";
      const id = randomUUID();
      if (!reader.expect(id, directive)) return "next-turn";
      way?.lookFor(id, text);
      try {
        await current.live.request("turn/steer", {
          threadId: current.thread,
          expectedTurnId: reader.view.turn,
          clientUserMessageId: id,
          input: textInput(text),
        });
        return "now";
      } catch {
        // The turn has just ended, or cannot be spoken to.
        reader.forget(id);
        return "next-turn";
      }
    },
    async setModel(wanted) {
      model = wanted;
      if (current === undefined) return "next-turn";
      // It goes with the start of a turn.
      if (running === undefined) return "now";
      const { turn: turnId } = running.reader.view;
      if (turnId === undefined) return "next-turn";
      const asked = { threadId: current.thread, turnId, model: wanted };
      const { status } = await current.live.request("turn/settings/update", asked).catch((): Json => ({}));
      return status === "applied" ? "now" : "next-turn";
    },
    reply: (question, reply) => Promise.resolve(waiting.reply(question, reply)),
    async close() {
      closed = true;
      const ahead = await warming?.catch(() => undefined);
      warming = undefined;
      await ahead?.live.end();
      await drop();
      await way?.close();
    },
  };
}

interface TurnStart {
  uuid: string;
  prompt: string;
  thread: string;
  model: string | undefined;
  effort: string | undefined;
  answer: OpenRequest["answer"];
}

function startOf({ uuid, prompt, thread, model, effort, answer }: TurnStart): Json {
  return {
    threadId: thread,
    clientUserMessageId: uuid,
    input: textInput(prompt),
    ...(model === undefined ? {} : { model }),
    ...(effort === undefined ? {} : { effort }),
    ...(answer === undefined ? {} : { outputSchema: answer }),
  };
}
