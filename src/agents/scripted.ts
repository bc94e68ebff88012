/**
 * An agent that follows a function or a list instead of a model, for tests, benchmarks and library users. It keeps its
 * sessions on disk like a real one, so that a killed driver finds out what became of its turn.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { randomUUID } from "node:crypto";
import type { TurnOutcome, Usage } from "../events.ts";
import type { Agent, AgentEvent, AgentSession, OpenRequest, Reply, TurnEnd } from "../ports.ts";
import { cannotBegin, NO_USAGE } from "./ending.ts";
import { brief } from "./outcome.ts";
import { asking } from "./scripted/ask.ts";
import type { AskedAbout, Asking } from "./scripted/ask.ts";
import { inspectScripted, openRecord } from "./scripted/record.ts";
import { stage } from "./scripted/stage.ts";

export interface ScriptedTurn {
  /** The n-th prompt of this run and lane, from 1, also across sessions and processes. */
  n: number;
  prompt: string;
  workspace: string;
  session: OpenRequest["session"];
  model: string | undefined;
}

/** What a function may do while its turn runs. */
export interface Tell {
  text(text: string): void;
  tool(name: string, input: unknown, output?: string): void;
  /** Adds to the usage of this turn. */
  spend(usage: Partial<Usage>): void;
  /** What was said into the turn so far. */
  heard(): readonly string[];
  /** Ends early when the turn does. */
  sleep(ms: number): Promise<void>;
  /** By the policy of the agent's spec: answered at once, or by a person. Denied when the turn ends meanwhile. */
  ask(text: string, about?: AskedAbout): Promise<Reply>;
  /** Aborted when the turn must end: a directive, a limit, a timeout. */
  readonly signal: AbortSignal;
}

export interface ScriptedAnswer {
  /** The final text. */
  text?: string;
  /** As if the agent had called the tool that says how its work stands. */
  call?: NonNullable<TurnEnd["call"]>;
  /** Of a session that only answers. */
  answer?: unknown;
  outcome?: TurnOutcome;
  usage?: Partial<Usage>;
  contextTokens?: number;
  /** What a rewind will name; a fresh one if not given. */
  messageId?: string;
}

export interface ScriptedStep extends ScriptedAnswer {
  /** Written into the workspace, by path. */
  files?: Readonly<Record<string, string>>;
  delayMs?: number;
  /** Never answers; ends when the turn is ended. */
  hang?: boolean;
  /** Dies with these words. */
  crash?: string;
}

export type ScriptedFunction = (turn: ScriptedTurn, tell: Tell) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** Of the turn's uuid, as the beginning of its questions' ids. */
const QUESTION_PREFIX_CHARS = 8;

/** A list gives the n-th turn its n-th step; the last one repeats. */
export function scripted(script: readonly ScriptedStep[] | ScriptedFunction, { name = "scripted" } = {}): Agent {
  const play: ScriptedFunction =
    typeof script === "function"
      ? script
      : (turn, tell) => playStep(script[Math.min(turn.n, script.length) - 1] ?? {}, { turn, tell });
  return {
    name,
    gaps: [],
    open: (request) => Promise.resolve(scriptedSession(request, play)),
    inspect: (request, { uuid }) => Promise.resolve(inspectScripted(request, uuid)),
  };
}

function playStep(
  step: ScriptedStep,
  { turn, tell }: { turn: ScriptedTurn; tell: Tell },
): ScriptedAnswer | Promise<ScriptedAnswer> {
  const act = (): ScriptedAnswer => {
    if (step.crash !== undefined) throw new Error(step.crash);
    for (const [path, content] of Object.entries(step.files ?? {})) {
      const file = resolve(turn.workspace, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content);
      tell.tool("Write", { file_path: path });
    }
    return step;
  };
  if (step.hang === true) return new Promise(() => {});
  if (step.delayMs !== undefined) return tell.sleep(step.delayMs).then(act);
  return act();
}

function add(usage: Usage, { usd, estimated, ...counts }: Partial<Usage>): void {
  for (const [field, value] of Object.entries(counts)) usage[field as keyof typeof counts] += value;
  if (usd !== undefined) usage.usd = usd === null || usage.usd === null ? null : usage.usd + usd;
  usage.estimated ||= estimated ?? false;
}

function scriptedSession(request: OpenRequest, play: ScriptedFunction): AgentSession {
  const record = openRecord(request);
  let model = request.model;
  let closed = false;
  let saying: ((directive: string, text: string) => void) | undefined;
  let leave: (() => void) | undefined;
  let questions: Asking | undefined;

  async function* turn(
    ...[{ uuid, prompt }, limits, signal]: Parameters<AgentSession["turn"]>
  ): AsyncGenerator<AgentEvent> {
    const usage = { ...NO_USAGE };
    const ended = (outcome: TurnOutcome, answer: ScriptedAnswer = {}): TurnEnd => ({
      type: "turn-end",
      outcome,
      usage,
      finalText: answer.text ?? "",
      call: answer.call ?? null,
      ...(answer.answer === undefined ? {} : { answer: answer.answer }),
      messageId: outcome.is === "done" ? (answer.messageId ?? randomUUID()) : null,
      contextTokens: answer.contextTokens ?? null,
    });
    const not = cannotBegin({ signal, closed, running: saying !== undefined });
    if (not !== undefined) return yield ended(not);
    const spend = (more: Partial<Usage>): void => {
      add(usage, more);
      record.spent(uuid, usage);
    };
    const on = stage(limits, signal);
    leave = () => on.force({ is: "cut", reason: "the session was closed" });
    const asks = asking({ prefix: uuid.slice(0, QUESTION_PREFIX_CHARS), policy: request.agent.ask, on });
    questions = asks;
    const heard: string[] = [];
    saying = (directive, text) => {
      heard.push(text);
      on.emit({ type: "delivered", directive });
    };
    let tools = 0;
    const tell: Tell = {
      text: (text) => on.emit({ type: "text", text }),
      tool(name, input, output = "") {
        tools += 1;
        const id = `${uuid}-${tools}`;
        on.emit({ type: "tool-start", id, name, input });
        on.emit({ type: "tool-end", id, ok: true, output });
        record.tool(uuid, name);
        spend({ toolCalls: 1 });
      },
      spend,
      heard: () => heard,
      sleep: (ms) => on.sleep(ms),
      ask: (text, about) => asks.ask(text, about),
      signal: on.signal,
    };
    try {
      add(usage, { requests: 1 });
      const n = record.prompt(uuid, usage);
      yield { type: "session-opened", ref: request.session.ref, model: model ?? null };
      yield { type: "request" };
      const { workspace, session } = request;
      const answer = on.run(() => play({ n, prompt, workspace, session, model }, tell));
      const end = yield* on.events(answer, (fate) => {
        if ("outcome" in fate) return ended(fate.outcome);
        if ("error" in fate) return ended({ is: "cut", reason: brief(String(fate.error)) });
        add(usage, fate.value.usage ?? {});
        return ended(fate.value.outcome ?? { is: "done" }, fate.value);
      });
      if (end.messageId !== null) yield { type: "message", id: end.messageId };
      if (end.finalText !== "") yield { type: "text", text: end.finalText };
      yield { type: "usage", usage: { ...usage } };
      record.end(uuid, end);
      yield end;
    } finally {
      saying = undefined;
      leave = undefined;
      questions = undefined;
      on.close();
    }
  }

  return {
    turn,
    say(directive, text) {
      if (saying === undefined) return Promise.resolve("next-turn");
      saying(directive, text);
      return Promise.resolve("now");
    },
    setModel(wanted) {
      model = wanted;
      return Promise.resolve("now");
    },
    reply: (question, reply) => Promise.resolve(questions?.reply(question, reply) ?? false),
    close() {
      closed = true;
      leave?.();
      return Promise.resolve();
    },
  };
}
