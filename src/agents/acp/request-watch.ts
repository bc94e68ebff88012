/** What is known of the requests to a model: how many, what they cost, what was said in them, what was refused. */
import type { HeldRequest, RequestWatcher } from "../../platform/gateway.ts";
import { listAt, objectAt, parsed, textAt } from "./json.ts";
import { NO_TOKENS, type Meter, type Tokens } from "./meter.ts";
import type { Said } from "../refusal.ts";
import { refusalOf } from "./refusal.ts";
import { usageStream, type UsageStream } from "./usage-stream.ts";

const FIRST_REFUSAL = 400;
/** Of a refusal's body that is looked at; it is a few lines. */
const MAX_REFUSAL_BYTES = 64 * 1024;
/** Requests that ask a model nothing. */
export const FREE_PATH = /count_?tokens|embed/i;

/** The agent's own loop offers most tools, not always the same; a title is asked for with few or none. */
const isAside = (tools: number, most: number): boolean => tools < most / 2;

/** What a turn hears of its model, in the order in which it happened. */
export type ModelNews =
  /** The model has begun to answer a request that held what these directives say. */
  { is: "answering"; heard: string[] } | { is: "metered" } | { is: "said-no"; said: Said };

export interface TurnWay {
  meter: Meter;
  /** The request after so many is held until it is given up. */
  limit: number | undefined;
  onLimit: () => void;
  /** A request leaves now. */
  onLeave: () => void;
  news: (news: ModelNews) => void;
}

interface RequestWatch {
  begin(turn: TurnWay): void;
  end(ms: number): Promise<void>;
  expect(directive: string, text: string): void;
  forget(directive: string): void;
  refusal(): Said | undefined;
  /** The same, also where it was answered after that. */
  earlierRefusal(): Said | undefined;
  mayLeave(request: HeldRequest): Promise<void>;
  leaves(request: HeldRequest): RequestWatcher | undefined;
  /** The connection broke, of the request that has just ended. */
  failed(): void;
  /** Requests may leave while this is done, though no turn runs. */
  during<T>(work: Promise<T>): Promise<T>;
}

export function requestWatch(): RequestWatch {
  let turn: TurnWay | undefined;
  /** Before the first turn everything may leave. */
  let isOpen = true;
  let left = 0;
  /** What was said no with last, and how many tools that request offered. */
  let said: { now: Said; tools: number } | undefined;
  /** The same, answered since or not. */
  let saidOnce: typeof said;
  /** That a request of this turn offered. */
  let mostTools = 0;
  /** Of the request that ended before its answer did. */
  let broke: ((now: Said) => void) | undefined;
  let underWay = 0;
  let toolsSeen = false;
  let onQuiet: (() => void) | undefined;
  const waiting = new Set<() => void>();
  /** What was spent while no turn ran; the next one has it. */
  const owed: ((meter: Meter) => void)[] = [];
  const expected = new Map<string, string>();

  const count = (take: (meter: Meter) => void): void => {
    if (turn === undefined) owed.push(take);
    else take(turn.meter);
  };
  /** Counts a request before it leaves, so that one which a crash hides is counted too. Returns what takes it back. */
  function counted(): () => void {
    const at = turn;
    let isUnsent = false;
    count((meter) => (isUnsent ? undefined : meter.request()));
    return () => {
      isUnsent = true;
      // A turn that has ended has told its sum.
      if (at === undefined || at !== turn) return;
      left -= 1;
      at.meter.unsent();
      at.news({ is: "metered" });
    };
  }
  const isAsked = ({ method, path }: HeldRequest): boolean => method === "POST" && !FREE_PATH.test(path);

  function heardIn({ body }: HeldRequest): string[] {
    if (expected.size === 0) return [];
    const texts = textsOf(body);
    return [...expected].flatMap(([directive, text]) => (texts.some((one) => one.includes(text)) ? [directive] : []));
  }

  const ofMain = (one: typeof said): Said | undefined =>
    one !== undefined && !isAside(one.tools, mostTools) ? one.now : undefined;

  function refused(now: Said, tools: number): void {
    said = { now, tools };
    saidOnce = said;
    turn?.news({ is: "said-no", said: now });
  }

  function watcherOf(request: HeldRequest, takeBack: () => void): RequestWatcher {
    const heard = heardIn(request);
    const { tools, hasForm } = shapeOf(request.body);
    toolsSeen ||= tools > 0;
    mostTools = Math.max(mostTools, tools);
    const isMain = tools > 0 || (!toolsSeen && !hasForm);
    const refuse = (now: Said): void => (isMain ? refused(now, tools) : undefined);
    let isRefused = false;
    let stream: UsageStream | undefined;
    let told: Tokens | undefined;
    let passes: { take(chunk: Buffer): void; end(): void } | undefined;
    const onUsage = (model: string, so: Tokens): void => {
      const first = told === undefined;
      const more = minus(so, told ?? NO_TOKENS);
      told = so;
      count((meter) => meter.spent(model, { ...more, first }));
      turn?.news({ is: "metered" });
    };
    return {
      answer({ status, headers }) {
        if (status >= FIRST_REFUSAL) {
          isRefused = true;
          passes = bodyOf((body) => refuse(refusalOf({ status, headers, body })));
          return;
        }
        count((meter) => meter.reply());
        if (isMain && !isAside(tools, said?.tools ?? 0)) said = undefined;
        for (const directive of heard) expected.delete(directive);
        if (isMain || heard.length > 0) turn?.news({ is: "answering", heard });
        stream = usageStream({ headers }, { onUsage, onRefusal: refuse });
        passes = stream;
      },
      data: (chunk) => passes?.take(chunk),
      end(how) {
        passes?.end();
        if (how === "unsent") takeBack();
        broke = how === "whole" || isRefused || stream?.isWhole() === true ? undefined : refuse;
        underWay -= 1;
        if (underWay === 0) onQuiet?.();
      },
    };
  }

  function open(): void {
    isOpen = true;
    for (const go of waiting) go();
    waiting.clear();
  }

  return {
    begin(next) {
      turn = next;
      left = 0;
      said = undefined;
      saidOnce = undefined;
      mostTools = 0;
      expected.clear();
      for (const take of owed.splice(0)) take(next.meter);
      open();
    },
    async end(ms) {
      isOpen = false;
      if (underWay > 0) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, ms);
          onQuiet = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        onQuiet = undefined;
      }
      turn = undefined;
    },
    expect: (directive, text) => void expected.set(directive, text),
    forget: (directive) => void expected.delete(directive),
    refusal: () => ofMain(said),
    earlierRefusal: () => ofMain(saidOnce),
    async mayLeave(request) {
      if (!isAsked(request)) return;
      const { signal } = request;
      if (!isOpen) await given(signal, (go) => waiting.add(go));
      if (signal.aborted || turn?.limit === undefined || left < turn.limit) return;
      turn.onLimit();
      await given(signal);
    },
    leaves(request) {
      if (!isAsked(request)) return undefined;
      left += 1;
      underWay += 1;
      const takeBack = counted();
      turn?.onLeave();
      return watcherOf(request, takeBack);
    },
    failed() {
      broke?.({ kind: "connection", status: null, resetAt: undefined });
      broke = undefined;
    },
    async during(work) {
      open();
      try {
        return await work;
      } finally {
        isOpen = turn !== undefined;
      }
    },
  };
}

/** Until the request is given up, or `hold` lets it go. */
async function given(signal: AbortSignal, hold: (go: () => void) => void = () => undefined): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
    hold(resolve);
  });
}

function bodyOf(onBody: (body: string) => void): { take(chunk: Buffer): void; end(): void } {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    take(chunk) {
      bytes += chunk.length;
      if (bytes <= MAX_REFUSAL_BYTES) chunks.push(chunk);
    },
    end: () => onBody(Buffer.concat(chunks).toString("utf8")),
  };
}

function minus(a: Tokens, b: Tokens): Tokens {
  return {
    inputTokens: a.inputTokens - b.inputTokens,
    outputTokens: a.outputTokens - b.outputTokens,
    cacheReadTokens: a.cacheReadTokens - b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens - b.cacheWriteTokens,
  };
}

/** An agent's own loop offers tools; titles and suggestions are asked for without, often in a form, and of any model. */
function shapeOf(body: Buffer): { tools: number; hasForm: boolean } {
  const asked = parsed(body.toString("utf8")) ?? {};
  const forms = [objectAt(asked, "text"), objectAt(asked, "output_config")].map((one) => objectAt(one, "format"));
  const form = [...forms, objectAt(asked, "response_format"), objectAt(asked, "output_format")];
  return {
    tools: listAt(asked, "tools").length,
    hasForm: form.some((one) => textAt(one, "type") === "json_schema"),
  };
}

/** Every text in a body, however it was escaped. */
function textsOf(body: Buffer): string[] {
  const texts: string[] = [];
  try {
    JSON.parse(body.toString("utf8"), (_, value: unknown) => {
      if (typeof value === "string") texts.push(value);
      return value;
    });
  } catch {
    // No JSON: then nobody can be sure of what was said.
  }
  return texts;
}
