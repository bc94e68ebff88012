/** Facts and trace of a run as one stream in the order of time: what there is, then what comes. */
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import type { State } from "../../compose.ts";
import type { Fact } from "../../events.ts";
import type { TraceLine } from "../../ports.ts";

export type LogLine =
  | { is: "fact"; at: number; turn: number | null; fact: Fact }
  | { is: "trace"; at: number; turn: number; n: number; line: TraceLine };

export interface LogRequest {
  run: string;
  facts: boolean;
  trace: boolean;
  /** Only what belongs to this turn. */
  turn: number | undefined;
}

/** How long the stream's last lines may come after the fact that ended the run: it is committed in groups. */
const LAST_LINES_MS = 300;

/** Facts and trace are written by two hands: so long is waited for the other before lines are put in order. */
const REORDER_MS = 100;

const LINES_AT_ONCE = 200;

export interface Past {
  /** Read piece by piece while they are shown. */
  lines: AsyncIterable<LogLine>;
  /** Where the future begins. */
  after: { seq: number; n: number };
  ended: boolean;
}

/** `from`: the first fact that is wanted, with what the agent said since. */
export function pastLines(
  { trace }: State,
  { request, facts, from = 0 }: { request: LogRequest; facts: readonly Fact[]; from?: number },
): Past {
  const { run, turn } = request;
  const last = facts.findLast(({ type }) => type === "run-end" || type === "run-reopened");
  const newest = trace.newest(run);
  const since = facts.find(({ seq }) => seq >= from)?.at ?? Number.POSITIVE_INFINITY;
  const wanted = facts.filter((fact) => fact.seq >= from);
  return {
    lines: paced(
      merged(
        request.facts ? ofTurn(wanted.map(ofFact), turn) : [],
        request.trace && wanted.length > 0 ? traced(trace.scan(run, { turn }), { newest, since }) : [],
      ),
    ),
    after: { seq: facts.at(-1)?.seq ?? -1, n: newest },
    ended: last?.type === "run-end",
  };
}

/** So that a reader who has left (`| head`) is noticed before the last line. */
async function* paced(lines: Iterable<LogLine>): AsyncIterable<LogLine> {
  let n = 0;
  for (const line of lines) {
    yield line;
    n += 1;
    if (n % LINES_AT_ONCE === 0) await immediate();
  }
}

function* traced(
  lines: ReturnType<State["trace"]["scan"]>,
  { newest, since }: { newest: number; since: number },
): Iterable<LogLine> {
  for (const line of lines) if (line.n <= newest && line.line.at >= since) yield ofTrace(line);
}

/** Yields from `after` on until the run ends or the signal is aborted. */
export async function* comingLines(
  state: State,
  { request, after, signal }: { request: LogRequest; after: Past["after"]; signal: AbortSignal },
): AsyncIterable<LogLine> {
  const { run, turn } = request;
  const over = new AbortController();
  signal.addEventListener("abort", () => over.abort(), { once: true });
  const waiting: LogLine[] = [];
  let wake = (): void => undefined;
  const pumps = { open: 0 };
  const pump = async (lines: AsyncIterable<LogLine>): Promise<void> => {
    pumps.open += 1;
    try {
      for await (const line of lines) {
        waiting.push(line);
        wake();
      }
    } finally {
      pumps.open -= 1;
      wake();
    }
  };
  const facts = pump(followFacts(state, { run, from: after.seq + 1, over, shown: request.facts }));
  const trace = request.trace ? pump(followTrace(state, { run, from: after.n + 1, signal: over.signal })) : undefined;
  try {
    while (pumps.open > 0 || waiting.length > 0) {
      const some = waiting.splice(0);
      const inOrder = merged(
        some.filter((line) => line.is === "fact"),
        some.filter((line) => line.is === "trace"),
      );
      for (const line of inOrder) if (turn === undefined || line.turn === turn) yield line;
      if (pumps.open > 0 && waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      if (pumps.open > 0) await sleep(REORDER_MS, undefined, { signal: over.signal }).catch(() => undefined);
    }
    await Promise.all([facts, trace]);
  } finally {
    over.abort();
  }
}

/** The facts tell when it is over, also to who does not want to see them. */
async function* followFacts(
  { journal }: State,
  { run, from, over, shown }: { run: string; from: number; over: AbortController; shown: boolean },
): AsyncIterable<LogLine> {
  for await (const fact of journal.follow(run, { from, signal: over.signal })) {
    if (shown) yield ofFact(fact);
    if (fact.type !== "run-end") continue;
    setTimeout(() => over.abort(), LAST_LINES_MS).unref();
    return;
  }
}

async function* followTrace(
  { trace }: State,
  { run, from, signal }: { run: string; from: number; signal: AbortSignal },
): AsyncIterable<LogLine> {
  for await (const numbered of trace.tail(run, { from, signal })) yield ofTrace(numbered);
}

function ofFact(fact: Fact): LogLine {
  return { is: "fact", at: fact.at, turn: "turn" in fact ? fact.turn : null, fact };
}

function ofTrace({ n, line }: { n: number; line: TraceLine }): LogLine {
  return { is: "trace", at: line.at, turn: line.turn, n, line };
}

const ofTurn = (lines: LogLine[], turn: number | undefined): LogLine[] =>
  turn === undefined ? lines : lines.filter((line) => line.turn === turn);

/** Both are in order already; at the same moment the fact comes first. */
function* merged(facts: readonly LogLine[], trace: Iterable<LogLine>): Iterable<LogLine> {
  let at = 0;
  for (const line of trace) {
    for (let fact = facts[at]; fact !== undefined && fact.at <= line.at; fact = facts[at]) {
      yield fact;
      at += 1;
    }
    yield line;
  }
  yield* facts.slice(at);
}
