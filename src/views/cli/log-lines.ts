/** Facts and trace of a run as one stream in the order of time: what there is, then what comes. */
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

export interface Past {
  lines: LogLine[];
  /** Where the future begins. */
  after: { seq: number; n: number };
  ended: boolean;
}

export async function pastLines({ journal, trace }: State, request: LogRequest): Promise<Past> {
  const { run, turn } = request;
  const facts = await journal.read(run);
  const lines = request.trace ? await trace.read(run, turn === undefined ? {} : { turn }) : [];
  const last = facts.findLast(({ type }) => type === "run-end" || type === "run-reopened");
  return {
    lines: merged(request.facts ? ofTurn(facts.map(ofFact), turn) : [], lines.map(ofTrace)),
    after: { seq: facts.at(-1)?.seq ?? -1, n: lines.at(-1)?.n ?? 0 },
    ended: last?.type === "run-end",
  };
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
      for (const line of waiting.splice(0)) if (turn === undefined || line.turn === turn) yield line;
      if (pumps.open > 0 && waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
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
function merged(facts: readonly LogLine[], trace: readonly LogLine[]): LogLine[] {
  const lines: LogLine[] = [];
  let at = 0;
  for (const fact of facts) {
    for (; at < trace.length; at += 1) {
      const line = trace[at];
      if (line === undefined || line.at >= fact.at) break;
      lines.push(line);
    }
    lines.push(fact);
  }
  return [...lines, ...trace.slice(at)];
}
