/**
 * One conversation with opencode. Its server is started at the first turn, or ahead of it, and kept; when it dies or had
 * to be killed, the next turn starts another on the same conversation.
 */
import { UsageError } from "../../errors.ts";

import type { AgentEvent, AgentSession, OpenRequest } from "../../ports.ts";
import { cannotBegin, emptyEnd, failed, interrupted, unlessAborted, withNotices } from "../ending.ts";
import { brief } from "../outcome.ts";
import { waitingForPeople } from "../waiting.ts";
import { asks as newAsks } from "./ask.ts";
import { launch, type Launched } from "./launch.ts";
import type { Environment, Login } from "./login.ts";
import { meter } from "./meter.ts";
import { modelNamed, type ModelName } from "./model.ts";
import { answerOptions, opencodeOptions, type OpencodeOptions } from "./options.ts";
import { MARK, turnReader, type TurnReader } from "./reader.ts";
import { attachedClient } from "./sdk.ts";
import type { Servers } from "./server.ts";
import { watch } from "./turn.ts";

interface Setup {
  logins: readonly Login[];
  servers: Servers;
  userEnvironment: Environment;
}

/** Of a turn whose session is closed. */
const ABORT_LIMIT_MS = 1_000;

export const NO_LOGIN = "opencode has no login: no key in the environment and none that `opencode auth login` stored";

interface Said {
  sessionID: string;
  mark: string;
  text: string;
  /** The model that is to answer; undefined: opencode's own choice. */
  by: string | undefined;
}

interface Running {
  uuid: string;
  /** It began with; what is said into the turn does not change it. */
  model: string | undefined;
  reader: TurnReader;
  pending: { count: number };
  said: number;
}

export function opencodeSession(request: OpenRequest, { logins, servers, userEnvironment }: Setup): AgentSession {
  const { server } = request.agent.options;
  /** Of a server that runs already. */
  const url = typeof server === "string" ? server : undefined;
  const attached = url !== undefined;
  const waiting = waitingForPeople();
  const asks = newAsks({ policy: request.agent.ask, waiting });
  const seat = attached || logins.length === 0 ? undefined : servers.join(request);
  const way = seat?.way;
  const told = new Set<string>();
  let { model, session } = request;
  let current: Launched | undefined;
  let starting: Promise<Launched> | undefined;
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
    const wanted = { request, session, options: options(), model: models[0] };
    if (url !== undefined) {
      const client = await attachedClient(url, { user: userEnvironment, directory: request.workspace });
      return await launch({ client, process: undefined }, wanted);
    }
    if (seat === undefined) throw new UsageError(NO_LOGIN);
    const [first] = logins;
    const providers = new Set(models.map(({ providerID }) => providerID));
    if (providers.size === 0 && first !== undefined) providers.add(first.provider);
    return await launch(await seat.server({ ...wanted, models, providers: [...providers] }), wanted);
  }

  const isFit = (one: Launched): boolean =>
    !one.live.isDead() && (attached || model === undefined || one.knows(named(model)));

  /** undefined: it was aborted meanwhile. */
  async function ready(signal: AbortSignal): Promise<Launched | undefined> {
    if (current !== undefined && !isFit(current)) leaveServer();
    if (current !== undefined) return current;
    starting ??= start();
    try {
      current = await unlessAborted(starting, signal);
      // What was begun is there for the next turn.
      if (current !== undefined) starting = undefined;
      return current;
    } catch (error) {
      starting = undefined;
      throw error;
    }
  }

  function leaveServer(): void {
    current?.live.end();
    current = undefined;
  }

  const promptOf = ({ sessionID, mark, text, by }: Said) => {
    const { agent, effort } = options();
    const { answer, instructions } = request;
    return {
      sessionID,
      agent,
      ...(by === undefined ? {} : { model: named(by) }),
      ...(effort === undefined ? {} : { variant: effort }),
      ...(instructions === "" ? {} : { system: instructions }),
      ...(answer === undefined ? {} : { format: { type: "json_schema" as const, schema: { ...answer } } }),
      parts: [{ type: "text" as const, text, metadata: { [MARK]: mark } }],
    };
  };

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    const not = cannotBegin({ signal, closed, running: running !== undefined });
    if (not !== undefined) return yield emptyEnd(not);
    if (seat === undefined && !attached) return yield emptyEnd({ is: "failed", kind: "login", message: NO_LOGIN });
    let fit = false;
    try {
      const launched = await ready(signal);
      if (launched === undefined) return yield emptyEnd(interrupted(signal));
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
        requests: () => way?.requests(opencode) ?? 0,
        status: () => way?.refusal(opencode)?.status ?? null,
      });
      const pending = { count: 0 };
      running = { uuid, model, reader, pending, said: 0 };
      const events = watch(
        {
          uuid,
          session: opencode,
          live,
          waiting,
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
        () => live.prompt(promptOf({ sessionID: opencode, mark: uuid, text: prompt, by: model }), "prompt"),
      );
      fit = yield* withNotices(events, {
        notices: () => [...(way?.takeNotices() ?? []), ...live.limits().map((met) => `the fence: ${met}`)],
      });
    } catch (error) {
      yield emptyEnd(error instanceof UsageError ? failed(error.message) : { is: "cut", reason: brief(String(error)) });
    } finally {
      // From now on there is a conversation; a rewind is not done twice.
      if (running?.reader.view.begun === true) session = { ref: session.ref, mode: "continue" };
      running = undefined;
      if (!fit && current !== undefined) {
        leaveServer();
        await seat?.kill();
      }
    }
  }

  return {
    turn,
    warm() {
      if (seat === undefined && !attached) return;
      starting ??= start();
      starting.catch(() => undefined);
    },
    say(directive, text) {
      if (running === undefined || current === undefined) return Promise.resolve("next-turn");
      running.said += 1;
      const mark = `${running.uuid}/${running.said}`;
      if (!running.reader.expect(mark, directive)) return Promise.resolve("next-turn");
      // Joins the turn that runs: it is in the next request; the turn is over when this, too, is answered.
      running.pending.count += 1;
      current.live.prompt(promptOf({ sessionID: current.session, mark, text, by: running.model }), "say");
      return Promise.resolve("now");
    },
    setModel(wanted) {
      model = wanted;
      // It goes with a prompt: a turn that runs keeps its own.
      return Promise.resolve(current === undefined || running !== undefined ? "next-turn" : "now");
    },
    reply: (question, reply) => Promise.resolve(waiting.reply(question, reply)),
    async close() {
      closed = true;
      // The server may be others', too.
      if (running !== undefined && current !== undefined) await abortOn(current);
      leaveServer();
      starting?.then(({ live }) => live.end()).catch(() => undefined);
      await seat?.leave();
    },
  };
}

async function abortOn({ live, session }: Launched): Promise<void> {
  const signal = AbortSignal.timeout(ABORT_LIMIT_MS);
  await live.client.session.abort({ sessionID: session }, { signal }).catch(() => undefined);
}
