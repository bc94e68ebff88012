/**
 * One conversation with opencode. Its server is started at the first turn, or ahead of it, and kept; when it dies or had
 * to be killed, the next turn starts another on the same conversation.
 */
import { UsageError } from "../../errors.ts";
import type { TurnOutcome, Usage } from "../../events.ts";
import type { AgentEvent, AgentSession, OpenRequest, TurnEnd } from "../../ports.ts";
import { brief } from "../outcome.ts";
import { asks as newAsks } from "./ask.ts";
import { launch, type Launched } from "./launch.ts";
import type { Environment, Login } from "./login.ts";
import { meter } from "./meter.ts";
import { modelNamed, type ModelName } from "./model.ts";
import { modelWay } from "./model-way.ts";
import { answerOptions, opencodeOptions, type OpencodeOptions } from "./options.ts";
import { MARK, turnReader, type TurnReader } from "./reader.ts";
import { failed, watch } from "./turn.ts";

interface Setup {
  logins: readonly Login[];
  userEnvironment: Environment;
}

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
export const NO_LOGIN = "opencode has no login: no key in the environment and none that `opencode auth login` stored";

interface Running {
  uuid: string;
  reader: TurnReader;
  pending: { count: number };
  said: number;
}

export function opencodeSession(request: OpenRequest, { logins, userEnvironment }: Setup): AgentSession {
  const attached = typeof request.agent.options["server"] === "string";
  const asks = newAsks(request.agent.ask);
  const way = attached || logins.length === 0 ? undefined : modelWay(request, { logins, user: userEnvironment });
  const told = new Set<string>();
  let { model, session } = request;
  let current: Launched | undefined;
  let warming: Promise<Launched> | undefined;
  let running: Running | undefined;
  let closed = false;

  const named = (name: string): ModelName => modelNamed(name, { logins, any: attached });

  const options = (): OpencodeOptions =>
    request.answer === undefined
      ? opencodeOptions(request.agent.options, request.agent.ask)
      : answerOptions(request.agent.options);

  async function start(): Promise<Launched> {
    const names = [model, request.agent.fallbackModel].filter((name) => name !== undefined);
    const models = names.map(named);
    const [first] = logins;
    const providers = new Set(models.map(({ providerID }) => providerID));
    if (providers.size === 0 && first !== undefined) providers.add(first.provider);
    const login = {
      user: userEnvironment["OPENCODE_SERVER_USERNAME"] || "opencode",
      password: userEnvironment["OPENCODE_SERVER_PASSWORD"] ?? "",
    };
    return await launch({ request, session, models, providers: [...providers], options: options(), way, login });
  }

  async function drop(): Promise<void> {
    const dropped = current;
    current = undefined;
    await dropped?.live.end();
  }

  /** undefined: it was aborted meanwhile. */
  async function ready(signal: AbortSignal): Promise<Launched | undefined> {
    const isFit = (one: Launched): boolean =>
      !one.live.isDead() && (attached || model === undefined || one.knows(named(model)));
    if (current !== undefined && !isFit(current)) await drop();
    if (current !== undefined) return current;
    const starting = warming ?? start();
    warming = undefined;
    const aborted = Promise.withResolvers<undefined>();
    const onAbort = (): void => aborted.resolve(undefined);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      const first = await Promise.race([starting, aborted.promise]);
      if (first === undefined) {
        const late = await starting.catch(() => undefined);
        await late?.live.end();
      }
      current = first;
      return first;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  const promptOf = (opencode: string, mark: string, text: string) => {
    const { agent, effort } = options();
    const { answer, instructions } = request;
    return {
      sessionID: opencode,
      agent,
      ...(model === undefined ? {} : { model: named(model) }),
      ...(effort === undefined ? {} : { variant: effort }),
      ...(instructions === "" ? {} : { system: instructions }),
      ...(answer === undefined ? {} : { format: { type: "json_schema" as const, schema: { ...answer } } }),
      parts: [{ type: "text" as const, text, metadata: { [MARK]: mark } }],
    };
  };

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    if (signal.aborted) return yield emptyEnd({ is: "interrupted", by: String(signal.reason) });
    if (closed) return yield emptyEnd({ is: "cut", reason: "the session is closed" });
    if (running !== undefined) return yield emptyEnd(failed("another turn of this session is running"));
    if (way === undefined && !attached) return yield emptyEnd({ is: "failed", kind: "login", message: NO_LOGIN });
    let fit = false;
    try {
      const launched = await ready(signal);
      if (launched === undefined) return yield emptyEnd({ is: "interrupted", by: String(signal.reason) });
      const { live, session: opencode, notice } = launched;
      if (notice !== undefined && !told.has(notice)) {
        told.add(notice);
        yield { type: "notice", text: notice };
      }
      const spent = meter();
      const reader = turnReader({
        uuid,
        ref: session.ref,
        session: opencode,
        model,
        meter: spent,
        requests: () => way?.requests() ?? 0,
        status: () => way?.refusal()?.status ?? null,
      });
      const pending = { count: 0 };
      running = { uuid, reader, pending, said: 0 };
      const events = watch(
        {
          uuid,
          session: opencode,
          live,
          asks,
          reader,
          meter: spent,
          way,
          limits,
          maxRequests: options().maxTurns,
          signal,
          pending,
          answers: request.answer !== undefined,
        },
        () => live.prompt(promptOf(opencode, uuid, prompt)),
      );
      fit = yield* withNotices(events, () => [
        ...(way?.takeNotices() ?? []),
        ...live.limits().map((met) => `the fence: ${met}`),
      ]);
    } catch (error) {
      yield emptyEnd(error instanceof UsageError ? failed(error.message) : { is: "cut", reason: brief(String(error)) });
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
      if (way === undefined && !attached) return;
      warming ??= start();
      warming.catch(() => undefined);
    },
    say(directive, text) {
      if (running === undefined || current === undefined) return Promise.resolve("next-turn");
      running.said += 1;
      const mark = `${running.uuid}/${running.said}`;
      if (!running.reader.expect(mark, directive)) return Promise.resolve("next-turn");
      // Joins the turn that runs: it is in the next request; the turn is over when this, too, is answered.
      running.pending.count += 1;
      current.live.prompt(promptOf(current.session, mark, text));
      return Promise.resolve("now");
    },
    setModel(wanted) {
      model = wanted;
      // It goes with a prompt: a turn that runs keeps its own.
      return Promise.resolve(current === undefined || running !== undefined ? "next-turn" : "now");
    },
    reply: (question, reply) => Promise.resolve(asks.reply(question, reply)),
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

/** What is known of the connection and the limits is told before the turn ends. */
async function* withNotices(
  events: AsyncGenerator<AgentEvent, boolean>,
  takeNotices: () => string[],
): AsyncGenerator<AgentEvent, boolean> {
  try {
    for (;;) {
      const next = await events.next();
      if (next.done === true) return next.value;
      if (next.value.type === "turn-end") for (const text of takeNotices()) yield { type: "notice", text };
      yield next.value;
    }
  } finally {
    await events.return(false);
  }
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
