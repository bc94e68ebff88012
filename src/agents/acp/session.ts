/**
 * One conversation with an ACP agent. Its program is started at the first turn, or ahead of it, and kept; when it dies
 * or had to be killed, the next turn starts another on the same session, where the agent can go on with one.
 */
import { UsageError } from "../../errors.ts";
import type { TurnOutcome } from "../../events.ts";
import type { AgentEvent, AgentSession, OpenRequest } from "../../ports.ts";
import { cannotBegin, emptyEnd, failed, interrupted, unlessAborted, withNotices } from "../ending.ts";
import { brief } from "../outcome.ts";
import { waitingForPeople } from "../waiting.ts";
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
import { hidden } from "./telling.ts";
import { watch } from "./turn.ts";

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
      if (current === undefined) await starting.then(({ connection }) => connection.end()).catch(() => undefined);
    }
    if (current === undefined || model === undefined || model === applied) return current;
    await way.during(setModel(current, model));
    applied = model;
    return current;
  }

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    const not = cannotBegin({ signal, closed, running: running !== undefined });
    if (not !== undefined) return yield emptyEnd(not);
    let fit = false;
    try {
      const launched = await ready(signal);
      if (launched === undefined) return yield emptyEnd(interrupted(signal));
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
      fit = yield* withNotices(events, { notices, as: (event) => hidden(event, way) });
      costSoFar = reader.view.costUsd ?? costSoFar;
      // From now on there is a conversation.
      session = { ref: session.ref, mode: "continue" };
    } catch (error) {
      yield hidden(emptyEnd(notReady(error, way.refusal())), way);
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

/** A person can do something about the one, a later try about the other. */
function notReady(error: unknown, refusal: Parameters<typeof outcomeOf>[0]["refusal"]): TurnOutcome {
  if (error instanceof UsageError) return failed(error.message);
  if (error instanceof NotReady && refusal === undefined) return error.outcome;
  if (error instanceof AgentError) return outcomeOf({ answered: error.answer, refusal });
  if (refusal !== undefined) return outcomeOf({ answered: { is: "stopped", reason: "" }, refusal });
  return { is: "cut", reason: brief(error instanceof Error ? error.message : String(error)) };
}
