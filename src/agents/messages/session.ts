/** One conversation with the model over the bare API. What it remembers is its transcript; what it can do, its hands. */
import { UsageError } from "../../errors.ts";
import { priceOf } from "../../platform/prices.ts";
import type { AgentEvent, AgentSession, OpenRequest, TurnEnd } from "../../ports.ts";
import { meter } from "../api-meter.ts";
import { cannotBegin, emptyEnd, failed } from "../ending.ts";
import { brief } from "../outcome.ts";
import { waitingForPeople } from "../waiting.ts";
import type { Said } from "./blocks.ts";
import { connect, type Connection } from "./client.ts";
import { conversationOf, conversationUpTo } from "./conversation.ts";
import type { Extras } from "./extras.ts";
import { hands as openHands } from "./hands.ts";
import { messagesOptions, type MessagesOptions } from "./options.ts";
import { play } from "./play.ts";
import { openSandbox, type Sandbox } from "./sandbox.ts";
import { openSays, type Says } from "./says.ts";
import { systemPrompt } from "./system.ts";
import { DONE_TOOL, handTools, QUESTION_TOOL, SHELL, type Tool } from "./tools.ts";
import { openTranscript, readTranscript, type Transcript } from "./transcript.ts";
import { watch } from "./turn.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULT_MODEL = "claude-sonnet-5-5";

interface Live {
  options: MessagesOptions;
  connection: Connection;
  transcript: Transcript;
  said: Said[];
  sandbox: Sandbox | undefined;
  offered: readonly string[];
  tools: readonly Tool[];
}

export function messagesSession(request: OpenRequest, user: Environment, extras: Extras): AgentSession {
  const { home, session, agent, answer } = request;
  const waiting = waitingForPeople();
  const hands = openHands(request);
  const closing = new AbortController();
  let model = request.model ?? (user["ANTHROPIC_MODEL"] || DEFAULT_MODEL);
  let opening: Promise<Live> | undefined;
  let running: Says | undefined;
  let notice: string | undefined;

  async function open(): Promise<Live> {
    const options = messagesOptions(agent.options);
    const connection = await connect(user);
    const { said, missing } = beginning(request);
    notice = missing;
    const transcript = openTranscript(home, session.ref);
    if (session.mode === "rewind" && said.length > 0 && readTranscript(home, session.ref).length === 0)
      transcript.write({ is: "history", from: session.at ?? "", messages: said });
    const sandbox =
      options.executor === undefined ? undefined : openSandbox({ home, files: options.files, connection });
    // Where code is run elsewhere, a second shell would only confuse.
    const names = sandbox === undefined ? options.tools : options.tools.filter((name) => name !== SHELL);
    const offered = answer === undefined ? names : [];
    const more = [DONE_TOOL, ...(agent.ask.questions === "ask" ? [QUESTION_TOOL] : [])];
    const tools = answer === undefined ? [...handTools(offered), ...more] : [];
    return { options, connection, transcript, said, sandbox, offered, tools };
  }

  async function* turn(...[asked, limits, signal]: Parameters<AgentSession["turn"]>): AsyncGenerator<AgentEvent> {
    const not = cannotBegin({ signal, closed: closing.signal.aborted, running: running !== undefined });
    if (not !== undefined) return yield emptyEnd(not);
    const says = openSays();
    running = says;
    try {
      opening ??= open();
      const live = await opening;
      yield { type: "session-opened", ref: session.ref, model };
      if (notice !== undefined) yield { type: "notice", text: notice };
      notice = undefined;
      const spent = meter(priceOf);
      const { uuid } = asked;
      const events = watch({
        uuid,
        waiting,
        meter: spent,
        limits,
        signal,
        closing: closing.signal,
        notices: () => hands.limits().map((met) => `the fence: ${met}`),
        play: (stage) =>
          play(asked, {
            ...live,
            ...stage,
            turn: uuid,
            request,
            system: systemPrompt(request, live.sandbox !== undefined),
            hands,
            waiting,
            policy: agent.ask,
            meter: spent,
            says,
            model: () => model,
            extras,
          }),
      });
      for await (const event of events) {
        if (event.type === "turn-end") noteEnd(event, { turn: uuid, transcript: live.transcript });
        yield event;
      }
    } catch (error) {
      opening = undefined;
      yield emptyEnd(error instanceof UsageError ? failed(error.message) : { is: "cut", reason: brief(String(error)) });
    } finally {
      running = undefined;
      // What a tool left running would change files that no turn owns.
      await hands.end();
    }
  }

  return {
    turn,
    /** Loads the SDK, which takes longest. */
    warm() {
      opening ??= open();
      return opening.then(
        () => undefined,
        () => undefined,
      );
    },
    say: (directive, text) => Promise.resolve(running?.add(directive, text) === true ? "now" : "next-turn"),
    setModel(wanted) {
      model = wanted;
      return Promise.resolve("now");
    },
    reply: (question, reply) => Promise.resolve(waiting.reply(question, reply)),
    async close() {
      closing.abort();
      await hands.end();
      const live = await opening?.catch(() => undefined);
      opening = undefined;
      live?.connection.close();
    },
  };
}

/** Where it cannot be written a later driver finds the turn cut, with what it cost. */
function noteEnd(end: TurnEnd, { turn, transcript }: { turn: string; transcript: Transcript }): void {
  try {
    transcript.write({ is: "end", turn, end });
  } catch {
    // Told to the reader in any case.
  }
}

/** The conversation that a session begins with. */
function beginning({ home, session: { ref, mode, at = "" } }: OpenRequest): { said: Said[]; missing?: string } {
  const own = readTranscript(home, ref);
  if (mode !== "rewind" || own.length > 0) return { said: conversationOf(own) };
  const cut = at.lastIndexOf(":");
  const said = conversationUpTo(readTranscript(home, at.slice(0, cut)), at.slice(cut + 1));
  return said === undefined
    ? { said: [], missing: "the conversation to go back in is not there; it starts afresh" }
    : { said };
}
