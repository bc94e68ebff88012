/** A turn: opens or goes on with the agent's session, meters the stream, and writes what came of it. */
import { createHash } from "node:crypto";
import type { FactOf, NewFact, Usage } from "../events.ts";
import type { Agent, AgentEvent, OpenRequest, TurnEnd } from "../ports.ts";
import type { Action, TurnAction } from "./actions.ts";
import { capOf, NO_USAGE, overCap } from "./budget.ts";
import { claimOf } from "./claim.ts";
import { openRequest, type Hands, type LiveSession, type RunningTurn } from "./hands.ts";
import { hashesOf, readMemos } from "./perform-memos.ts";
import { composePrompt } from "./compose-prompt.ts";
import { notWhole, promptBlob } from "./prompt.ts";
import { requested } from "./perform-people.ts";
import { MAIN_LANE, pendingSays, type RunState } from "./state.ts";

const MAX_TEXT_BYTES = 4 * 1024;
const MAX_COUNTED_CALLS = 1_000;

export async function takeTurn(action: TurnAction, hands: Hands, signal: AbortSignal): Promise<void> {
  const { run, ports } = hands;
  const { state } = run;
  const { lane, iteration, attempt } = action;
  const { live, session } = await sessionFor(action, hands);
  const context = await readMemos(state.spec, ports.workspace);
  const prompt = composePrompt(hands.recipe, { state, turn: action, context });
  const directives = pendingSays(state).map(({ id }) => id);
  const cap = capOf(state, 1);
  const { hash } = await ports.blobs.put(promptBlob(prompt));
  // A pause or a stop came while the agent started, or words in the prompt were taken back: nothing has begun yet, and
  // the prompt is made again without them.
  const isWanted = (): boolean =>
    !signal.aborted && directives.every((id) => state.directives.get(id)?.delivered === undefined);
  if (!isWanted()) return;
  const turn = state.turns + 1;
  const uuid = ports.uuid();
  const start: NewFact = {
    type: "turn-start",
    lane,
    turn,
    uuid,
    iteration,
    attempt,
    session,
    model: state.model ?? null,
    prompt: { blob: hash, bytes: Buffer.byteLength(prompt.text), cut: notWhole(prompt.parts) },
    reserve: { usd: cap.usd, tokens: cap.tokens },
    directives,
  };
  const first: NewFact[] = attempt === 1 ? [{ type: "iteration-start", lane, n: iteration, why: action.why }] : [];
  const { begin, finish } = announce(hands, lane, { session: live.session, turn });
  try {
    if (!(await run.appendIf(isWanted, [...first, start]))) return;
    await stream({ hands, live, lane, turn, uuid, directives, text: prompt.text, signal, begin, finish });
  } finally {
    finish();
  }
}

/** From before its start is a fact until before its end is: whoever has something to tell finds it here. */
function announce(
  { running }: Hands,
  lane: string,
  { session, turn }: Pick<RunningTurn, "session" | "turn">,
): Pick<Streamed, "begin" | "finish"> {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const mine: RunningTurn = {
    session,
    turn,
    delivered: new Map(),
    asked: new Map(),
    begun: begun.promise,
    ended: ended.promise,
  };
  running.set(lane, mine);
  return {
    begin: begun.resolve,
    finish() {
      if (running.get(lane) === mine) running.delete(lane);
      ended.resolve();
    },
  };
}

interface Streamed {
  hands: Hands;
  live: LiveSession;
  lane: string;
  turn: number;
  uuid: string;
  directives: readonly string[];
  text: string;
  signal: AbortSignal;
  begin: () => void;
  finish: () => void;
}

async function stream(it: Streamed): Promise<void> {
  const { hands, live, lane, signal } = it;
  const { run, ports } = hands;
  const { spec } = run.state;
  const halt = new AbortController();
  const onAbort = (): void => halt.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const seen = makeTally(it);
  const startedMono = ports.clock.mono();
  let end: TurnEnd | undefined;
  try {
    const { idleTimeoutMs, turnTimeoutMs, completionGraceMs } = spec.agent;
    const limits = { idleTimeoutMs, turnTimeoutMs, completionGraceMs };
    for await (const event of live.session.turn({ uuid: it.uuid, prompt: it.text }, limits, halt.signal)) {
      it.begin();
      const facts = seen.take(event, halt);
      if (event.type === "turn-end") end = event;
      if (facts.length > 0) await run.append(facts);
      if (event.type === "delivered") hands.running.get(lane)?.delivered.get(event.directive)?.();
    }
  } finally {
    // Before the end is a fact: the next turn may start as soon as it is.
    signal.removeEventListener("abort", onAbort);
    it.finish();
    if (end === undefined || end.outcome.is === "cut" || end.outcome.is === "timeout") await drop(hands, lane);
  }
  const durationMs = Math.ceil(ports.clock.mono() - startedMono);
  const memos = hashesOf(await readMemos(spec, ports.workspace));
  const about = { durationMs, repeatedCalls: seen.repeated(), foundOut: false, ...memos };
  await run.append([turnEnd(it, seen.tools(), end ?? lost(), about)]);
}

/** A stream that broke its contract is treated as a crash of the agent. */
const lost = (): TurnEnd => ({
  type: "turn-end",
  outcome: { is: "cut", reason: "the agent's stream ended without a result" },
  usage: { ...NO_USAGE, usd: null },
  finalText: "",
  call: null,
  messageId: null,
  contextTokens: null,
});

/** A session whose process died or hangs is closed; the next turn resumes it in a new one. */
async function drop(hands: Hands, lane: string): Promise<void> {
  const live = hands.sessions.get(lane);
  hands.sessions.delete(lane);
  await live?.session.close();
}

export async function closeSessions(hands: Hands): Promise<void> {
  const open = [...hands.sessions.values()];
  hands.sessions.clear();
  await Promise.all(open.map(({ session }) => session.close()));
}

interface About {
  durationMs: number;
  repeatedCalls: number;
  foundOut: boolean;
  memos?: Record<string, string>;
}
function turnEnd(
  { hands, lane, turn }: Pick<Streamed, "hands" | "lane" | "turn">,
  tools: [string, number][],
  end: TurnEnd,
  about: About,
): NewFact {
  const { outcome, usage, finalText, messageId, contextTokens } = end;
  const claim = outcome.is === "done" ? claimOf(end, hands.run.state.spec) : null;
  const bytes = Buffer.from(finalText);
  const text = bytes.length <= MAX_TEXT_BYTES ? finalText : bytes.subarray(-MAX_TEXT_BYTES).toString();
  return { type: "turn-end", lane, turn, outcome, usage, text, claim, tools, messageId, contextTokens, ...about };
}

/** Watches the stream: trace, receipts, budget, tool counts. */
function makeTally({ hands, live, lane, turn, directives }: Streamed): {
  take(event: AgentEvent, halt: AbortController): NewFact[];
  tools(): [string, number][];
  repeated(): number;
} {
  const { run, ports } = hands;
  const names = new Map<string, number>();
  const calls = new Map<string, number>();
  const unacknowledged = new Set<string>();
  let promptDelivered = directives.length === 0;
  return {
    tools: () => [...names],
    repeated: () => Math.max(0, ...calls.values()),
    take(event, halt) {
      ports.trace.write(run.state.run, { at: ports.clock.wall(), turn, kind: event.type, data: event });
      switch (event.type) {
        case "session-opened":
          // Said by some agents at every turn; a fact once per session and driver.
          if (live.announced) return [];
          live.announced = true;
          return [{ type: "session-opened", lane, turn, ref: event.ref, model: event.model }];
        case "request": {
          if (promptDelivered) return [];
          promptDelivered = true;
          for (const id of directives) unacknowledged.add(id);
          return directives.map((id) => ({
            type: "directive-delivered",
            lane,
            id,
            how: `in the prompt of turn ${turn}`,
            turn,
          }));
        }
        case "delivered":
          unacknowledged.add(event.directive);
          return [
            { type: "directive-delivered", lane, id: event.directive, how: `into the running turn ${turn}`, turn },
          ];
        case "message": {
          const ids = [...unacknowledged];
          unacknowledged.clear();
          return ids.map((id) => ({ type: "directive-acknowledged", lane, id, turn }));
        }
        case "tool-start": {
          names.set(event.name, (names.get(event.name) ?? 0) + 1);
          const call = callHash(event.name, event.input);
          if (calls.has(call) || calls.size < MAX_COUNTED_CALLS) calls.set(call, (calls.get(call) ?? 0) + 1);
          return [];
        }
        case "usage": {
          // By the limits of this moment: they may have been changed since the turn began.
          const over = overCap(capOf(run.state, 1), event.usage);
          if (over !== undefined && !halt.signal.aborted) halt.abort(over);
          return [];
        }
        case "asked":
          return [heard(hands, { lane, turn, event })];
        case "text":
        case "thinking":
        case "tool-end":
        case "retry":
        case "notice":
        case "turn-end":
          return [];
      }
    },
  };
}

/** The agent waits for a person. */
function heard(
  hands: Hands,
  { lane, turn, event }: { lane: string; turn: number; event: Extract<AgentEvent, { type: "asked" }> },
): NewFact {
  const { run, running } = hands;
  const { kind, text, options } = event;
  const untilElapsed = run.now().elapsed + run.state.spec.agent.ask.timeoutMs;
  const fact = requested(hands, { lane, kind, text, options, turn, untilElapsed });
  running.get(lane)?.asked.set(fact.question, { question: event.question, options });
  return fact;
}

const callHash = (name: string, input: unknown): string =>
  createHash("sha256")
    .update(name)
    .update(JSON.stringify(input) ?? "")
    .digest("hex")
    .slice(0, 16);

async function sessionFor(
  action: TurnAction,
  hands: Hands,
): Promise<{ live: LiveSession; session: FactOf<"turn-start">["session"] }> {
  const { run, ports, sessions } = hands;
  const { model } = run.state;
  const agent = agentOf(hands);
  const live = sessions.get(action.lane);
  const plan = action.session;
  if (live !== undefined && plan.mode === "continue" && live.ref === plan.ref) {
    if (live.model !== model && model !== undefined) {
      await live.session.setModel(model);
      live.model = model;
    }
    return { live, session: { ref: live.ref, mode: "continue" } };
  }
  if (live?.unused === true && plan.mode === "new" && live.model === model) {
    live.unused = false;
    return { live, session: { ref: live.ref, mode: "new" } };
  }
  await drop(hands, action.lane);
  const cannotRewind = plan.mode === "rewind" && agent.gaps.some((gap) => gap.cannot === "rewind");
  const session =
    plan.mode === "continue"
      ? { ref: plan.ref, mode: "continue" as const }
      : plan.mode === "rewind" && !cannotRewind
        ? { ref: ports.uuid(), mode: "rewind" as const, at: `${plan.ref}:${plan.at}` }
        : { ref: ports.uuid(), mode: "new" as const };
  return { live: await openSession(hands, action.lane, session), session };
}

async function openSession(hands: Hands, lane: string, session: OpenRequest["session"]): Promise<LiveSession> {
  const { sessions } = hands;
  const opened = await agentOf(hands).open(openRequest(hands, lane, session));
  const live = { ref: session.ref, model: hands.run.state.model, session: opened, announced: false, unused: false };
  sessions.set(lane, live);
  return live;
}

/** The agent starts beside the first effects of a run; the first turn then finds it ready. */
export async function warmUp(hands: Hands, lane: string): Promise<void> {
  const { ahead } = hands.ports;
  if (ahead !== undefined && lane === MAIN_LANE) {
    const { model } = hands.run.state.spec.agent;
    hands.sessions.set(lane, { ...ahead, model, announced: false, unused: true });
    return;
  }
  const live = await openSession(hands, lane, { ref: hands.ports.uuid(), mode: "new" });
  live.unused = true;
  live.session.warm?.();
}

function agentOf({ run, ports }: Hands): Agent {
  const { name } = run.state.spec.agent;
  const agent = ports.agents[name];
  if (agent === undefined) throw new Error(`no agent named ${name}`);
  return agent;
}

/** Reads what became of a turn whose driver is gone, and writes its end. */
export async function findOut(action: Extract<Action, { do: "find-out" }>, hands: Hands): Promise<void> {
  const { run } = hands;
  const { turn: start, lane } = action;
  const found = await agentOf(hands).inspect(openRequest(hands, lane, { ...start.session, mode: "continue" }), {
    uuid: start.uuid,
  });
  const about = { durationMs: 0, repeatedCalls: 0, foundOut: true };
  const target = { hands, lane, turn: start.turn };
  const cut = (reason: string, usage: Usage, messageId: string | null): TurnEnd => ({
    type: "turn-end",
    outcome: { is: "cut", reason },
    usage,
    finalText: "",
    call: null,
    messageId,
    contextTokens: null,
  });
  switch (found.is) {
    case "unknown":
      return await run.append([turnEnd(target, [], cut("the prompt never reached the model", NO_USAGE, null), about)]);
    case "cut":
      return await run.append([
        ...receipts(start, found.usage, run.state),
        turnEnd(target, found.tools, cut("the driver died during the turn", found.usage, found.messageId), about),
      ]);
    case "ended":
      return await run.append([
        ...receipts(start, found.end.usage, run.state),
        turnEnd(target, found.tools, found.end, about),
      ]);
  }
}

/** Directives in the prompt of a turn that reached the model were delivered, whoever saw it; each is said once. */
function receipts({ turn, lane, directives }: FactOf<"turn-start">, usage: Usage, state: RunState): NewFact[] {
  if (usage.requests === 0) return [];
  return directives.flatMap((id): NewFact[] => {
    const known = state.directives.get(id);
    const how = `in the prompt of turn ${turn}`;
    return [
      ...(known?.delivered === undefined ? [{ type: "directive-delivered" as const, lane, id, how, turn }] : []),
      ...(known?.acknowledged === true ? [] : [{ type: "directive-acknowledged" as const, lane, id, turn }]),
    ];
  });
}
