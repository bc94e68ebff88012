/** A turn: opens or goes on with the agent's session, meters the stream, and writes what came of it. */
import { createHash } from "node:crypto";
import type { FactOf, NewFact, Usage } from "../events.ts";
import type { AgentEvent, Ports, TurnEnd } from "../ports.ts";
import type { OwnExecution } from "../ports/executor.ts";
import type { Action, PromptContext, TurnAction } from "./actions.ts";
import { capOf, NO_USAGE, overCap, type UnderWay } from "./budget.ts";
import { saidAt } from "./claim.ts";
import { openRequest, type Hands, type LiveSession, type RunningTurn } from "./hands.ts";
import { hashesOf, readMemos } from "./perform-memos.ts";
import { composePrompt } from "./compose-prompt.ts";
import { notWhole, promptBlob } from "./prompt.ts";
import { requested } from "./perform-people.ts";
import { agentOf, dropSession, seatOfTurn, sessionFor } from "./perform-session.ts";
import { executed, proposed } from "./perform-solve.ts";
import { rosterOf } from "./seats.ts";
import { solveOf } from "./solve-state.ts";
import { laneOf, MAIN_LANE, pendingSays, type RunState } from "./state.ts";

const MAX_TEXT_BYTES = 4 * 1024;
const MAX_COUNTED_CALLS = 1_000;

export async function takeTurn(wanted: TurnAction, hands: Hands, signal: AbortSignal): Promise<void> {
  const { run, ports } = hands;
  const { state } = run;
  const { lane, iteration, attempt, role } = wanted;
  const { seat, action, live, session } = await sessionFor(wanted, hands);
  const context = { ...(await readMemos(state.spec, ports.workspace)), ...(await readDiff(action, hands)) };
  const prompt = composePrompt(hands.recipe, { state, turn: action, context });
  // What people say is for those who work.
  const directives = role === "review" || lane !== MAIN_LANE ? [] : pendingSays(state).map(({ id }) => id);
  const cap = capOf(state, underWay(hands, lane, NO_USAGE));
  const { hash } = await ports.blobs.put(promptBlob(prompt));
  // A pause or a stop came while the agent started, or words in the prompt were taken back: nothing has begun yet, and
  // the prompt is made again without them.
  const isWanted = (): boolean =>
    !signal.aborted && directives.every((id) => state.directives.get(id)?.delivered === undefined);
  if (!isWanted()) return;
  const turn = hands.nextTurn();
  const uuid = ports.uuid();
  const start: NewFact = {
    type: "turn-start",
    lane,
    turn,
    uuid,
    iteration,
    attempt,
    session,
    agent: seat.agent,
    ...(rosterOf(state.spec).length === 1 ? {} : { seat: seat.name }),
    ...(role === undefined ? {} : { role }),
    model: live.model ?? null,
    prompt: { blob: hash, bytes: Buffer.byteLength(prompt.text), cut: notWhole(prompt.parts) },
    reserve: { usd: cap.usd, tokens: cap.tokens },
    directives,
  };
  const first: NewFact[] =
    attempt === 1 && role === undefined ? [{ type: "iteration-start", lane, n: iteration, why: action.why }] : [];
  const { begin, finish } = announce(hands, lane, { session: live.session, turn });
  try {
    if (!(await run.appendIf(isWanted, [...first, start]))) return;
    const { text, breaks } = prompt;
    await stream({ hands, live, lane, turn, uuid, directives, text, breaks, signal, begin, finish, role });
  } finally {
    finish();
    // Nobody goes on with a review.
    if (role === "review") await dropSession(hands, { lane, role });
  }
}

const MAX_REVIEWED_BYTES = 128 * 1024;

/** The change that a review is about. */
async function readDiff({ role, lane }: TurnAction, { run, ports }: Hands): Promise<Pick<PromptContext, "diff">> {
  const change = role === "review" ? laneOf(run.state, lane).change : undefined;
  if (change === undefined) return {};
  return { diff: await ports.workspace.diff(change.before.judged, change.judged, MAX_REVIEWED_BYTES) };
}

/** From before its start is a fact until before its end is: whoever has something to tell finds it here. */
function announce(
  { running, starting }: Hands,
  lane: string,
  { session, turn }: Pick<RunningTurn, "session" | "turn">,
): Pick<Streamed, "begin" | "finish"> {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const mine: RunningTurn = {
    session,
    turn,
    usage: NO_USAGE,
    delivered: new Map(),
    asked: new Map(),
    begun: begun.promise,
    ended: ended.promise,
  };
  running.set(lane, mine);
  return {
    begin() {
      begun.resolve();
      starting.get(lane)?.resolve();
    },
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
  breaks: readonly number[];
  signal: AbortSignal;
  begin: () => void;
  finish: () => void;
  role: TurnAction["role"];
}

async function stream(it: Streamed): Promise<void> {
  const { hands, live, lane, signal, role } = it;
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
    const { uuid, text: prompt, breaks } = it;
    const request = { uuid, prompt, ...(breaks.length === 0 ? {} : { breaks }) };
    const turn = live.session.turn(request, limits, halt.signal);
    for await (const said of turn) {
      const event = priced(said, { ports, live });
      it.begin();
      const facts = seen.take(event, halt);
      if (event.type === "turn-end") end = event;
      if (event.type === "execution") facts.push(...(await ranItself(it, event)));
      if (facts.length > 0) await run.append(facts);
      if (event.type === "delivered") hands.running.get(lane)?.delivered.get(event.directive)?.();
    }
  } finally {
    // Before the end is a fact: the next turn may start as soon as it is.
    signal.removeEventListener("abort", onAbort);
    it.finish();
    if (end === undefined || end.outcome.is === "cut" || end.outcome.is === "timeout")
      await dropSession(hands, { lane, role });
  }
  const durationMs = Math.ceil(ports.clock.mono() - startedMono);
  const memos = hashesOf(await readMemos(spec, ports.workspace));
  const about = { durationMs, repeatedCalls: seen.repeated(), foundOut: false, ...memos };
  const last = end ?? lost();
  await run.append([
    turnEnd(it, seen.tools(), last, about),
    ...(await proposed(hands, { lane, turn: it.turn, end: last })),
  ]);
}

/** Code that the model ran by its provider, in the same words as what pawl runs. */
async function ranItself(
  { hands, lane, turn }: Pick<Streamed, "hands" | "lane" | "turn">,
  own: OwnExecution,
): Promise<NewFact[]> {
  const { solve } = hands.run.state.spec;
  return solve === undefined ? [] : await executed(hands, { lane, turn, by: solve.executor, own });
}

/** What its driver did not live to write down. */
async function ranUnseen(
  target: Pick<Streamed, "hands" | "lane" | "turn">,
  executions: readonly OwnExecution[] = [],
): Promise<NewFact[]> {
  const known = solveOf(target.hands.run.state).attempts.findLast(({ turn }) => turn === target.turn);
  const facts: NewFact[] = [];
  for (const own of executions.slice(known?.executions ?? 0)) facts.push(...(await ranItself(target, own)));
  return facts;
}

/** Those that take turns now share what is left. */
const underWay = ({ running }: Hands, lane: string, own: Usage): UnderWay => ({
  own,
  others: [...running].flatMap(([other, { usage }]) => (other === lane ? [] : [usage])),
});

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

/** What nobody has a price for costs what a person said it does. */
function priced<E extends AgentEvent>(
  event: E,
  { ports, live }: { ports: Ports; live: Pick<LiveSession, "model" | "said"> },
): E {
  if (event.type === "session-opened" && event.model !== null) live.said = event.model;
  if (event.type !== "usage" && event.type !== "turn-end") return event;
  const usage = pricedUsage(event.usage, { ports, model: live.model ?? live.said });
  return usage === event.usage ? event : { ...event, usage };
}

function pricedUsage(usage: Usage, { ports, model }: { ports: Ports; model: string | undefined }): Usage {
  if (usage.usd !== null || model === undefined || ports.price === undefined) return usage;
  const usd = ports.price(model, usage);
  return usd === null ? usage : { ...usage, usd, estimated: true };
}

interface About {
  durationMs: number;
  repeatedCalls: number;
  foundOut: boolean;
  memos?: Record<string, string>;
}
function turnEnd(
  { hands, lane, turn, role }: Pick<Streamed, "hands" | "lane" | "turn" | "role">,
  tools: [string, number][],
  end: TurnEnd,
  about: About,
): NewFact {
  const { outcome, usage, finalText, messageId, contextTokens } = end;
  const { spec } = hands.run.state;
  const said = outcome.is === "done" ? saidAt(end, { spec, isReview: role === "review" }) : { claim: null };
  const bytes = Buffer.from(finalText);
  const text = bytes.length <= MAX_TEXT_BYTES ? finalText : bytes.subarray(-MAX_TEXT_BYTES).toString();
  return { type: "turn-end", lane, turn, outcome, usage, text, ...said, tools, messageId, contextTokens, ...about };
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
          const mine = hands.running.get(lane);
          if (mine !== undefined) mine.usage = event.usage;
          const over = overCap(capOf(run.state, underWay(hands, lane, event.usage)), event.usage);
          if (over !== undefined && !halt.signal.aborted) halt.abort(over);
          return [];
        }
        case "asked":
          return [heard(hands, { lane, turn, event })];
        case "text":
        case "thinking":
        case "execution":
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

/** Reads what became of a turn whose driver is gone, and writes its end. */
export async function findOut(action: Extract<Action, { do: "find-out" }>, hands: Hands): Promise<void> {
  const { run } = hands;
  const { turn: start, lane } = action;
  const seat = seatOfTurn(run.state, start);
  const session = { ...start.session, mode: "continue" as const };
  const request = openRequest(hands, { lane, role: start.role, session, seat });
  const found = await agentOf(hands, seat).inspect(request, { uuid: start.uuid });
  const about = { durationMs: 0, repeatedCalls: 0, foundOut: true };
  const target = { hands, lane, turn: start.turn, role: start.role };
  const live = { model: start.model ?? undefined, said: laneOf(run.state, lane).open?.said };
  const cut = (reason: string, usage: Usage, messageId: string | null): TurnEnd => ({
    type: "turn-end",
    outcome: { is: "cut", reason },
    usage: pricedUsage(usage, { ports: hands.ports, model: live.model ?? live.said }),
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
        ...(await ranUnseen(target, found.executions)),
        turnEnd(target, found.tools, cut("the driver died during the turn", found.usage, found.messageId), about),
      ]);
    case "ended":
      return await run.append([
        ...receipts(start, found.end.usage, run.state),
        ...(await ranUnseen(target, found.executions)),
        turnEnd(target, found.tools, priced(found.end, { ports: hands.ports, live }), about),
        ...(await proposed(hands, { lane, turn: start.turn, end: found.end })),
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
