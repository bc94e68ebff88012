/**
 * The agent of the simulated world. Its sessions are in the world, so they outlive a driver; what reaches the model in a
 * request is written down there, so that a law can say who was told what, and how often.
 */
import type { TurnOutcome, Usage } from "../../src/events.ts";
import { NO_USAGE } from "../../src/loop/budget.ts";
import type { Agent, AgentEvent, Reply, TurnEnd } from "../../src/ports.ts";
import type { World } from "./world.ts";

export interface Behaviour {
  /** Lines added to the workspace, one per model request. */
  lines: string[];
  claim: boolean;
  /** Ends of the first turns of this iteration, before one runs through. */
  faults: ("limited" | "limited-reset" | "crash" | "timeout")[];
  usd: number | null;
  /** The files are these lines and nothing else. */
  rewrites?: boolean;
  /** Written to NOTES.md at the end. */
  notes?: string;
  /** Waits for a person as often as this, after its first request. */
  asks?: ("permission" | "question")[];
  /** What it makes of text files; the same again makes no difference. */
  memos?: Readonly<Record<string, (text: string) => string>>;
  /** Its last words, instead of those that `claim` says. */
  says?: string;
  call?: TurnEnd["call"];
  /** Of a session that only answers. */
  answer?: (prompt: string) => unknown;
  /** What whoever reviews its change makes of it: lines added, and whether it lets it pass. */
  review?: { lines: string[]; rejects: boolean; says?: string };
}

export interface SimTurn {
  usage: Usage;
  ended?: TurnEnd;
  tools: [string, number][];
  messageId: string;
}

const IDLE: Behaviour = { lines: [], claim: true, faults: [], usd: 0 };

const reviewer = ({ review = { lines: [], rejects: false }, usd }: Behaviour): Behaviour => ({
  lines: review.lines,
  claim: false,
  faults: [],
  usd,
  says: review.says ?? (review.rejects ? "it is wrong\n<promise>REJECTED</promise>" : "fine"),
});

const plus = (u: Usage, usd: number | null): Usage => ({
  ...u,
  requests: u.requests + 1,
  toolCalls: u.toolCalls + 1,
  inputTokens: u.inputTokens + 100,
  outputTokens: u.outputTokens + 10,
  usd: u.usd === null || usd === null ? null : u.usd + usd,
});

/** What people say in a test carries a mark, by which it is found in what the model was sent. */
export const marked = (name: string): string => `[[${name}]]`;
const marksIn = (text: string): string[] => [...text.matchAll(/\[\[([^\]]+)\]\]/g)].map(([, name]) => name ?? "");

interface SimAgent {
  world: World;
  behaviours: readonly Behaviour[];
  /** One touch of the world by the driver that owns this agent. */
  touch<T>(effect: () => T): Promise<T>;
}

export function simAgent({ world, behaviours, touch }: SimAgent): Agent {
  let told: { directive: string; text: string }[] | undefined;
  const waiting = new Map<string, (reply: Reply | undefined) => void>();

  async function replied(question: string, signal: AbortSignal): Promise<void> {
    const reply = await new Promise<Reply | undefined>((resolve) => {
      waiting.set(question, resolve);
      signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    waiting.delete(question);
    if (reply !== undefined) await touch(() => world.replies.push({ question, reply }));
  }

  async function* turn(ref: string, uuid: string, prompt: string, signal: AbortSignal): AsyncGenerator<AgentEvent> {
    const isReview = prompt.startsWith("Review of iteration ");
    const step = /^Step (\S+), attempt (\d+)/m.exec(prompt)?.[0];
    const n = step === undefined ? Number(/^(?:Iteration|Review of iteration) (\d+)/m.exec(prompt)?.[1]) : 1;
    const worker = behaviours[Math.min(n, behaviours.length) - 1] ?? IDLE;
    const behaviour = isReview ? reviewer(worker) : worker;
    const record: SimTurn = { usage: NO_USAGE, tools: [], messageId: `${uuid}-0` };
    const end = (outcome: TurnOutcome, finalText: string): TurnEnd => ({
      type: "turn-end",
      outcome,
      usage: record.usage,
      finalText,
      call: outcome.is === "done" ? (behaviour.call ?? null) : null,
      messageId: record.usage.requests === 0 ? null : record.messageId,
      contextTokens: 10,
      ...(behaviour.answer === undefined || outcome.is !== "done" ? {} : { answer: behaviour.answer(prompt) }),
    });
    if (signal.aborted) return yield end({ is: "interrupted", by: String(signal.reason) }, "");
    world.prompts.push(prompt);
    const faults = world.faulted.get(n) ?? 0;
    const fault = behaviour.faults[faults];
    if (fault !== undefined) {
      world.faulted.set(n, faults + 1);
      await touch(() => undefined);
      return yield end(faultOutcome(fault, world.wall), "");
    }
    const todo = behaviour.rewrites === true ? [] : behaviour.lines.filter((line) => !world.content.includes(line));
    told = [];
    let news = marksIn(prompt);
    const asks = [...(behaviour.asks ?? [])];
    try {
      for (const line of [...todo, undefined]) {
        if (signal.aborted) return yield end({ is: "interrupted", by: String(signal.reason) }, "");
        const heard = told.splice(0);
        await touch(() => {
          world.requests += 1;
          world.billed += behaviour.usd ?? 0;
          world.shown.push(...news, ...heard.flatMap(({ text }) => marksIn(text)));
        });
        news = [];
        await touch(() => {
          const session = world.sessions.get(ref) ?? new Map<string, SimTurn>();
          world.sessions.set(ref, session.set(uuid, record));
          record.usage = plus(record.usage, behaviour.usd);
          record.messageId = `${uuid}-${record.usage.requests}`;
          if (line !== undefined) return void world.content.push(line);
          if (behaviour.notes !== undefined) world.memos.set("NOTES.md", behaviour.notes);
          if (behaviour.rewrites === true) world.content = [...behaviour.lines];
          for (const [path, edit] of Object.entries(behaviour.memos ?? {}))
            world.memos.set(path, edit(world.memos.get(path) ?? ""));
          const words = behaviour.claim ? "done\n<promise>COMPLETE</promise>" : "not yet";
          record.ended = end({ is: "done" }, behaviour.says ?? words);
          const what = step ?? (isReview ? `review of ${n}` : `${n}`);
          if (world.finished.includes(what)) world.boughtTwice.push(what);
          world.finished.push(what);
        });
        yield { type: "request" };
        for (const { directive } of heard) yield { type: "delivered", directive };
        for (const kind of asks.splice(0)) {
          const question = `${uuid}-ask-${asks.length}-${(world.ids += 1)}`;
          yield { type: "asked", question, kind, text: `may ${n} it?`, options: ["left", "right"] };
          if (!signal.aborted) await replied(question, signal);
        }
        yield { type: "usage", usage: record.usage };
        yield { type: "message", id: record.messageId };
        if (record.ended !== undefined) yield record.ended;
      }
    } finally {
      told = undefined;
    }
  }

  return {
    name: "sim",
    gaps: [],
    async open({ session: { ref, mode, at } }) {
      const [from, message] = at?.split(":") ?? [];
      if (mode === "continue" && !world.sessions.has(ref)) throw new Error(`continued what does not exist: ${ref}`);
      const point = [...(world.sessions.get(from ?? "")?.values() ?? [])].some((t) => t.messageId === message);
      if (mode === "rewind" && !point) throw new Error(`rewound to what does not exist: ${at}`);
      return {
        turn: (request, _limits, signal) => turn(ref, request.uuid, request.prompt, signal),
        async say(directive, text) {
          if (told === undefined) return "next-turn";
          told.push({ directive, text });
          return "now";
        },
        setModel: async () => "now",
        async reply(question, reply) {
          const resolve = waiting.get(question);
          resolve?.(reply);
          return resolve !== undefined;
        },
        // Processes take time to end; whoever spins meanwhile keeps them from it.
        close: async () => await new Promise((resolve) => setImmediate(resolve)),
      };
    },
    async inspect({ session: { ref } }, { uuid }) {
      return await touch(() => {
        const found = world.sessions.get(ref)?.get(uuid);
        if (found === undefined) return { is: "unknown" as const };
        const { usage, tools, messageId, ended } = found;
        if (ended !== undefined) return { is: "ended" as const, end: ended, tools };
        return { is: "cut" as const, usage, tools, messageId };
      });
    },
  };
}

function faultOutcome(fault: Behaviour["faults"][number], wall: number): TurnOutcome {
  switch (fault) {
    case "limited":
      return { is: "limited", kind: "overloaded", message: "529" };
    case "limited-reset":
      return { is: "limited", kind: "usage", resetAt: wall + 3_600_000, message: "limit" };
    case "crash":
      return { is: "cut", reason: "crashed" };
    case "timeout":
      return { is: "timeout", which: "idle", afterMs: 1_000 };
  }
}
