/**
 * One request to the stand-in model, whatever protocol it came in, and what can be read from its conversation: the
 * prompt, the step number, whether it is a side request. Everything here is a pure function of the request, which is
 * why any number of conversations can run at once and a resumed one goes on where it was.
 */
import { createHash } from "node:crypto";

export type ProtocolName = "messages" | "responses" | "chat";

/**
 * One message of the conversation, in the order sent. Tool results are turns of the user; agent programs also put
 * messages of the role `system` between them.
 */
export interface Turn {
  role: "user" | "assistant" | "system";
  texts: readonly string[];
  toolResults: readonly string[];
  /** How many tools the model called in it. */
  toolCalls: number;
  /** How many tools its provider ran for it. */
  serverCalls?: number;
}

export interface StandinRequest {
  protocol: ProtocolName;
  model: string;
  stream: boolean;
  /** null: not given. */
  maxTokens: number | null;
  system: string;
  turns: readonly Turn[];
  /** Names of the tools offered, with how the protocol wants them called. */
  tools: ReadonlyMap<string, "function" | "custom">;
  /** What the client itself calls the conversation, if anything. */
  sessionHint: string;
  /** As received. */
  body: Readonly<Record<string, unknown>>;
}

/** Put in by agent programs when a conversation is resumed or cut: neither prompts nor answers of the model. */
const FILLERS = new Set(["Continue from where you left off.", "No response requested.", "(no content)"]);

/** Put in by agent programs as the result of a tool that was running when they were killed or interrupted. */
const LOST_RESULT = /^\[Tool (call|execution was) interrupted|^(Wall time: [\d.]+ seconds\n)?aborted( by user)?$/;

const TITLE_REQUEST =
  /\btitle generator\b|\b(?:generate|write|create|output|produce|give|summari[sz]e)\b[^\n]{0,80}\btitle\b/i;

/** Of an agent program that makes its conversation shorter. */
const SUMMARY_REQUEST = /^You are performing a CONTEXT CHECKPOINT COMPACTION\b/;

/** A turn's own words: without the reminders that agent programs add. */
export function wordsOf(turn: Turn): string {
  return turn.texts
    .map((text) => text.replaceAll(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "").trim())
    .filter((text) => text !== "")
    .join("\n");
}

function isPrompt(turn: Turn): boolean {
  const words = turn.role === "user" ? wordsOf(turn) : "";
  return words !== "" && !FILLERS.has(words);
}

/**
 * What the model said after a turn, oldest first. Left out are fillers, and calls whose results were lost in a crash: a
 * model would make them again, and so does a script.
 */
function answersAfter(request: StandinRequest, index: number): Turn[] {
  return request.turns.filter((turn, at) => {
    if (at <= index || turn.role !== "assistant" || FILLERS.has(wordsOf(turn))) return false;
    const results = request.turns[at + 1]?.toolResults ?? [];
    return !results.some((result) => LOST_RESULT.test(result));
  });
}

/** Text of the last prompt: a message of the user that says something and is not only tool results. */
export function promptOf(request: StandinRequest): string {
  const prompt = request.turns.findLast(isPrompt);
  return prompt === undefined ? "" : wordsOf(prompt);
}

/** What was said since the model last answered: by the user, by tools, by the agent program. */
export function unseenOf(request: StandinRequest): { texts: string[]; toolResults: string[] } {
  const unseen = request.turns.slice(request.turns.findLastIndex((turn) => turn.role === "assistant") + 1);
  return {
    texts: unseen.flatMap((turn) => turn.texts),
    toolResults: unseen.flatMap((turn) => turn.toolResults),
  };
}

/** Answers of the model since the last prompt. */
export function answersSincePrompt(request: StandinRequest): Turn[] {
  return answersAfter(request, request.turns.findLastIndex(isPrompt));
}

/**
 * Answers of the model since the first prompt that is like this; since the start of the conversation if none is. For
 * prompts that are sent again after a crash: the steps before it still count.
 */
export function answersSince(request: StandinRequest, isFirst: (words: string) => boolean): Turn[] {
  return answersAfter(
    request,
    request.turns.findIndex((turn) => isPrompt(turn) && isFirst(wordsOf(turn))),
  );
}

/** The step number for a script function whose prompts carry a marker. */
export const stepsSince = (request: StandinRequest, marker: string): number =>
  answersSince(request, (words) => words.includes(marker)).length;

/** The newest prompt that a pattern matches, e.g. `Iteration 3`, and what it matched. */
export function lastMarked(request: StandinRequest, pattern: RegExp): { marker: string; prompt: string } | undefined {
  for (const turn of request.turns.toReversed()) {
    const marker = isPrompt(turn) ? pattern.exec(wordsOf(turn))?.[0] : undefined;
    if (marker !== undefined) return { marker, prompt: wordsOf(turn) };
  }
  return undefined;
}

/** Titles, summaries and probes of a model: they are no part of the work and get a short answer of their own. */
export function isSideRequest(request: StandinRequest): boolean {
  if (request.tools.size > 0) return false;
  if (request.maxTokens !== null && request.maxTokens <= 1) return true;
  const prompt = promptOf(request);
  return TITLE_REQUEST.test(request.system) || TITLE_REQUEST.test(prompt) || SUMMARY_REQUEST.test(prompt);
}

/** The same for every request of one conversation, also after a restart of agent or server. */
export function conversationOf(request: StandinRequest): string {
  const first = request.turns.find(isPrompt);
  return createHash("sha256")
    .update(`${request.protocol}\0${request.sessionHint}\0${first === undefined ? "" : wordsOf(first)}`)
    .digest("hex")
    .slice(0, 16);
}
