/** What was asked and answered: the newest in memory, all of it as JSON lines, whole bodies on request. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Billing } from "./billing.ts";
import { addBilling, NOTHING_BILLED } from "./billing.ts";
import type { Plan } from "./plan.ts";
import type { ProtocolName, StandinRequest } from "./request.ts";
import { promptOf, unseenOf } from "./request.ts";

/** How a request was met. `side`: a title or a probe, no step of the script. */
type Answered = "answer" | "side" | "silent" | "cut" | "refused" | "hang" | "count";

export interface LoggedRequest {
  /** Starting with 1. */
  n: number;
  /** ISO 8601. */
  at: string;
  protocol: ProtocolName | null;
  path: string;
  model: string;
  stream: boolean;
  /** null: the script was not asked. */
  step: number | null;
  conversation: string | null;
  /** The prompt being worked on, bounded. */
  prompt: string;
  /** All texts since the model last answered, with everything agent programs add, bounded. */
  lastUserText: string;
  /** Since the model last answered, each bounded. */
  toolResults: readonly string[];
  toolsOffered: number;
  messages: number;
  answered: Answered;
  /** 0: no response was sent. */
  status: number;
  /** Names of the tools called. */
  tools: readonly string[];
  billing: Billing;
}

const MAX_KEPT = 10_000;
const MAX_TEXT_CHARS = 4096;
const MAX_TOOL_RESULTS = 16;

/** Keeps the beginning and the end: agent programs put their reminders on either side. */
function bounded(text: string): string {
  if (text.length <= MAX_TEXT_CHARS) return text;
  const part = MAX_TEXT_CHARS / 2;
  return `${text.slice(0, part)}\n… ${text.length - MAX_TEXT_CHARS} characters …\n${text.slice(-part)}`;
}

/** The part of a line that is known from the request alone. */
export function described(request: StandinRequest) {
  const unseen = unseenOf(request);
  return {
    protocol: request.protocol,
    model: request.model,
    stream: request.stream,
    prompt: bounded(promptOf(request)),
    lastUserText: bounded(unseen.texts.join("\n")),
    toolResults: unseen.toolResults.slice(-MAX_TOOL_RESULTS).map(bounded),
    toolsOffered: request.tools.size,
    messages: request.turns.length,
  };
}

type OutcomeFields = Pick<LoggedRequest, "answered" | "status" | "tools" | "billing">;

/** Errors are free; an answer that is cut costs its input and what is sent of it. */
export function outcomeOf(plan: Plan): OutcomeFields {
  switch (plan.do) {
    case "answer":
      return {
        answered: plan.ending === "whole" ? "answer" : plan.ending,
        status: 200,
        tools: plan.answer.blocks.flatMap((block) => (block.type === "tool" ? [block.name] : [])),
        billing: plan.answer.billing,
      };
    case "refuse":
      return { answered: "refused", status: plan.refusal.status, tools: [], billing: NOTHING_BILLED };
    case "cut":
    case "hang":
      return { answered: plan.do, status: 0, tools: [], billing: NOTHING_BILLED };
  }
}

export interface RequestLog {
  /** Oldest first; the newest MAX_KEPT. */
  readonly kept: readonly LoggedRequest[];
  readonly billing: Billing & { requests: number };
  next(): number;
  add(entry: LoggedRequest): void;
  dump(n: number, body: string): void;
}

export function openRequestLog({
  logFile,
  dumpDir,
}: {
  logFile?: string | undefined;
  dumpDir?: string | undefined;
}): RequestLog {
  if (dumpDir !== undefined) mkdirSync(dumpDir, { recursive: true, mode: 0o700 });
  if (logFile !== undefined) appendFileSync(logFile, "", { mode: 0o600 });
  const kept: LoggedRequest[] = [];
  let counter = 0;
  let requests = 0;
  let sum = NOTHING_BILLED;
  return {
    kept,
    get billing() {
      return { ...sum, requests };
    },
    next: () => (counter += 1),
    add(entry) {
      kept.push(entry);
      if (kept.length > MAX_KEPT) kept.shift();
      requests += 1;
      sum = addBilling(sum, entry.billing);
      if (logFile !== undefined) appendFileSync(logFile, `${JSON.stringify(entry)}\n`);
    },
    dump(n, body) {
      if (dumpDir !== undefined)
        writeFileSync(join(dumpDir, `${String(n).padStart(6, "0")}.json`), body, { mode: 0o600 });
    },
  };
}
