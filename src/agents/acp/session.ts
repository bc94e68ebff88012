/**
 * One conversation with an ACP agent. Its program is started at the first turn, or ahead of it, and kept; when it dies
 * or had to be killed, the next turn starts another on the same session, where the agent can go on with one.
 */
import { UsageError } from "../../errors.ts";
import type { TurnOutcome, Usage } from "../../events.ts";
import type { AgentEvent, AgentSession, OpenRequest, TurnEnd } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { asks as newAsks, CANCELLED } from "./ask.ts";
import { AgentError } from "./connection.ts";
import { objectAt, textAt, type Json } from "./json.ts";
import { launch, type Launched } from "./launch.ts";
import { meter } from "./meter.ts";
import { modelWay } from "./model-way.ts";
import { acpOptions, answerOptions, type AcpOptions } from "./options.ts";
import { outcomeOf } from "./outcome.ts";
import { turnReader, type TurnReader } from "./reader.ts";
import { recordTurn } from "./record.ts";
import { currentModel, NotReady, setModel } from "./session-config.ts";
import { merged } from "./tools.ts";
import { hidden, told } from "./telling.ts";
import { failed, watch } from "./turn.ts";
import { waitingForPeople } from "./waiting.ts";

const NO_USAGE: Usage = {
  requests: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  usd: 0,
  estimated: false,
};
const STEERING = "_session/steering";

export function acpSession(request: OpenRequest): AgentSession {
  const { agent, answer } = request;
  const waiting = waitingForPeople();
  const way = modelWay(request);
  const noticed = new Set<string>();
  let { model, session } = request;
  let current: Launched | undefined;
  let warming: Promise<Launched> | undefined;
  let running: { reader: TurnReader; signal: AbortSignal } | undefined;
  /** The model that the running program was told. */
  let applied: string | undefined;
  let costSoFar: number | undefined;
  let closed = false;

  const options = (): AcpOptions => (answer === undefined ? acpOptions(agent) : answerOptions(agent));

  async function steer(text: string): Promise<boolean> {
    if (current === undefined || !current.canSteer) return false;
    const { id: sessionId, connection } = current;
    const prompt = [{ type: "text", text }];
    const _meta = { steering: { idleBehavior: "promptRequired" } };
    try {
      return textAt(await connection.request(STEERING, { sessionId, prompt, _meta }), "outcome") === "injected";
    } catch {
      // The turn has just ended, or the program.
      return false;
    }
  }

  const asks = newAsks({
    policy: agent.ask,
    workspace: request.workspace,
    answersOnly: answer !== undefined,
    waiting,
    explain: steer,
  });
  const side = {
    permission(asked: Json): Promise<Json> {
      // Work between turns would change files that no iteration owns.
      if (running === undefined) return Promise.resolve(CANCELLED);
      const call = objectAt(asked, "toolCall");
      return asks.permission(asked, merged(running.reader.tool(textAt(call, "toolCallId")), call));
    },
    form: (asked: Json): Promise<Json> => asks.form(asked),
  };

  async function start(): Promise<Launched> {
    const wanted = model;
    const launched = await launch({ request, session, model: wanted, options: options(), way, side });
    applied = wanted;
    costSoFar = session.mode === "new" ? 0 : undefined;
    return launched;
  }

  async function drop(): Promise<void> {
    const dropped = current;
    current = undefined;
    await dropped?.connection.end();
  }

  /** undefined: it was aborted meanwhile. */
  async function ready(signal: AbortSignal): Promise<Launched | undefined> {
    if (current?.connection.isDead() === true) await drop();
    if (current === undefined) {
      const starting = warming ?? start();
      warming = undefined;
      current = await unlessAborted(starting, signal);
    }
    if (current === undefined || model === undefined || model === applied) return current;
    await way.during(setModel(current, model));
    applied = model;
    return current;
  }

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    if (signal.aborted) return yield emptyEnd({ is: "interrupted", by: String(signal.reason) });
    if (closed) return yield emptyEnd({ is: "cut", reason: "the session is closed" });
    if (running !== undefined) return yield emptyEnd(failed("another turn of this session is running"));
    let fit = false;
    try {
      const launched = await ready(signal);
      if (launched === undefined) return yield emptyEnd({ is: "interrupted", by: String(signal.reason) });
      for (const text of launched.notices) {
        if (!noticed.has(text)) yield { type: "notice", text };
        noticed.add(text);
      }
      yield { type: "session-opened", ref: session.ref, model: currentModel(launched) ?? model ?? null };
      const spent = meter({ isSeen: way.isSeen });
      const record = recordTurn({ home: request.home, session }, uuid);
      const reader = turnReader({ uuid, meter: spent, record, isSeen: way.isSeen });
      running = { reader, signal };
      const { preface } = launched;
      launched.preface = undefined;
      const events = watch({
        uuid,
        prompt: [preface, prompt].flatMap((text) => (text === undefined ? [] : [{ type: "text", text }])),
        launched,
        waiting,
        asks,
        reader,
        meter: spent,
        record,
        way,
        limits,
        maxRequests: options().maxTurns,
        signal,
        costBefore: costSoFar,
        answers: answer !== undefined,
      });
      const notices = (): string[] => [
        ...way.takeNotices(),
        ...launched.connection.limits().map((met) => `the fence: ${met}`),
      ];
      fit = yield* told(events, { notices, hide: (text) => way.hide(text) });
      costSoFar = reader.view.costUsd ?? costSoFar;
      // From now on there is a conversation.
      session = { ref: session.ref, mode: "continue" };
    } catch (error) {
      yield hidden(emptyEnd(notReady(error, way.refusal())), (text) => way.hide(text));
    } finally {
      running = undefined;
      if (!fit) await drop();
    }
  }

  return {
    turn,
    warm() {
      warming ??= start();
      warming.catch(() => undefined);
    },
    async say(directive, text) {
      // A receipt is true only where the requests are seen.
      if (running === undefined || running.signal.aborted || !way.isSeen) return "next-turn";
      way.expect(directive, text);
      if (await steer(text)) return "now";
      way.forget(directive);
      return "next-turn";
    },
    async setModel(wanted) {
      model = wanted;
      if (current === undefined || running !== undefined) return "next-turn";
      try {
        await way.during(setModel(current, wanted));
        applied = wanted;
        return "now";
      } catch {
        // The next turn tells why.
        return "next-turn";
      }
    },
    reply: (question, reply) => Promise.resolve(waiting.reply(question, reply)),
    async close() {
      closed = true;
      const ahead = await warming?.catch(() => undefined);
      warming = undefined;
      await ahead?.connection.end();
      await drop();
      await way.close();
    },
  };
}

/** undefined: it was aborted first, and what had been started is ended. */
async function unlessAborted(starting: Promise<Launched>, signal: AbortSignal): Promise<Launched | undefined> {
  const aborted = Promise.withResolvers<undefined>();
  const onAbort = (): void => aborted.resolve(undefined);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    const first = await Promise.race([starting, aborted.promise]);
    if (first !== undefined) return first;
    const late = await starting.catch(() => undefined);
    await late?.connection.end();
    return undefined;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** A person can do something about the one, a later try about the other. */
function notReady(error: unknown, refusal: Parameters<typeof outcomeOf>[0]["refusal"]): TurnOutcome {
  if (error instanceof UsageError) return failed(error.message);
  if (error instanceof NotReady && refusal === undefined) return error.outcome;
  if (error instanceof AgentError) return outcomeOf({ answered: error.answer, refusal, replies: 0 });
  if (refusal !== undefined) return outcomeOf({ answered: { is: "stopped", reason: "" }, refusal, replies: 0 });
  return { is: "cut", reason: brief(error instanceof Error ? error.message : String(error)) };
}

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
