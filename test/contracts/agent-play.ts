/** Playing turns of an agent in a test: what every part of the agent's contract is written with. */
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { turnOutcomeSchema, usageSchema } from "../../src/events.ts";
import type { Agent, AgentEvent, AgentSession, Gap, OpenRequest, TurnEnd, TurnLimits } from "../../src/ports.ts";

/** What a prompt makes the agent do. */
export type Behaviour =
  | { is: "answer"; text: string }
  /** Writes a file, then answers: two requests. */
  | { is: "write"; path: string; content: string; text: string }
  /** A tool that runs until there is such a file, then the answer: what is said meanwhile is in the second request. */
  | { is: "work"; until: string; text: string }
  /** The model never answers. */
  | { is: "hang" }
  /** The agent dies in the middle. */
  | { is: "crash" }
  /** The provider says no for now. */
  | { is: "limit" }
  /** Says by a call how its work stands, then answers. */
  | { is: "call"; call: NonNullable<TurnEnd["call"]>; text: string }
  /** Makes a file with a tool that needs a permission, then answers. */
  | { is: "need"; path: string; text: string }
  /** Asks a person, then answers. */
  | { is: "question"; question: string; options: string[]; text: string };

/** A command that ends when there is such a file. */
export const untilThere = (path: string): string =>
  `node -e "const t=setInterval(()=>{if(fs.existsSync('${path}'))clearInterval(t)},20)"`;

export const LIMITS: TurnLimits = { idleTimeoutMs: 90_000, turnTimeoutMs: 150_000, completionGraceMs: 5_000 };

/** A workspace, a home and sessions in them, for one test. */
export interface AgentWorld {
  agent: Agent;
  prompt(behaviour: Behaviour): string;
  workspace: string;
  run: string;
  open(session?: OpenRequest["session"]): Promise<{ session: AgentSession; asked: OpenRequest }>;
}
/** A test that is skipped, visibly and with the reason, where the agent has the gap. */
export type Needs = (cannot: Gap["cannot"], title: string, body: () => Promise<void>) => void;

export interface PlayOptions {
  uuid?: string;
  signal?: AbortSignal;
  limits?: TurnLimits;
  onEvent?: (event: AgentEvent) => void;
}

/** Plays a turn to its end and checks what holds for every turn: it does not throw and ends exactly once. */
export async function play(
  session: AgentSession,
  prompt: string,
  { uuid = randomUUID(), signal = new AbortController().signal, limits = LIMITS, onEvent }: PlayOptions = {},
): Promise<{ events: AgentEvent[]; end: TurnEnd }> {
  const events: AgentEvent[] = [];
  for await (const event of session.turn({ uuid, prompt }, limits, signal)) {
    events.push(event);
    onEvent?.(event);
  }
  const ends = events.filter((event) => event.type === "turn-end");
  expect(ends).toHaveLength(1);
  const end = events.at(-1) as TurnEnd;
  expect(end.type).toBe("turn-end");
  turnOutcomeSchema.parse(end.outcome);
  usageSchema.parse(end.usage);
  return { events, end };
}
