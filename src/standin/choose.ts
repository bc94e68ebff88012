/** Which step answers a request. Stateless but for the count that makes a fault end. */
import { createHash } from "node:crypto";
import type { StandinRequest, Turn } from "./request.ts";
import {
  answersSince,
  answersSincePrompt,
  conversationOf,
  lastMarked,
  promptOf,
  unseenOf,
  wordsOf,
} from "./request.ts";
import type { Rule, Script, ScriptFile, Step } from "./script.ts";
import { isFault, stepsInside } from "./script.ts";

const DEFAULT_STEP: Step = { text: "ok" };

/** Requests served so far, by conversation, prompt and step: what makes a fault end. */
export type Tally = Map<string, number>;
/** Beyond this many the oldest are forgotten. */
const MAX_TALLIES = 100_000;

export interface Choice {
  step: Step;
  /** Answers of the model before this one, since the prompt. */
  number: number;
}

export async function choose(script: Script, request: StandinRequest, tally: Tally): Promise<Choice> {
  const inside = scriptInside(request);
  if (inside !== undefined) return follow(inside.steps, { ...inside, request, tally });
  if (typeof script === "function") {
    const number = answersSincePrompt(request).length;
    const attempt = raise(tally, keyOf(request, ["function", promptOf(request), number])) - 1;
    return { step: await script(request, number, attempt), number };
  }
  const pattern = script.marker === undefined ? undefined : new RegExp(script.marker, "m");
  const marked = pattern === undefined ? undefined : lastMarked(request, pattern);
  const answers =
    marked === undefined
      ? answersSincePrompt(request)
      : answersSince(request, (words) => pattern?.exec(words)?.[0] === marked.marker);
  const prompt = marked?.prompt ?? promptOf(request);
  const rule = (script.rules ?? []).findIndex(({ when }) => holds(when, { request, prompt }));
  const steps = script.rules?.[rule]?.steps ?? script.steps ?? [];
  return follow(steps, { answers, scope: [rule, marked?.marker ?? prompt], request, tally });
}

interface Progress {
  answers: readonly Turn[];
  scope: readonly (string | number)[];
}

/** A script in a prompt stays in force until a later prompt brings another. */
function scriptInside(request: StandinRequest): (Progress & { steps: Step[] }) | undefined {
  const turn = request.turns.findLast((turn) => turn.role === "user" && wordsOf(turn).includes("<<SCRIPT"));
  if (turn === undefined) return undefined;
  const text = wordsOf(turn);
  const steps = stepsInside(text);
  return steps === undefined
    ? undefined
    : { steps, answers: answersSince(request, (words) => words === text), scope: ["inside", text] };
}

interface Position extends Progress {
  request: StandinRequest;
  tally: Tally;
}

function follow(steps: readonly Step[], { answers, scope, request, tally }: Position): Choice {
  const number = request.tools.size === 0 ? answers.length : answeredSteps(steps, answers);
  const stillDue = (at: number, times: number): boolean => take(tally, { key: keyOf(request, [...scope, at]), times });
  return { step: pick(steps, number, stillDue), number };
}

/** An agent killed in mid-answer keeps the blocks it had; such a part of a step does not count as the step. */
function answeredSteps(steps: readonly Step[], answers: readonly Turn[]): number {
  const wanted = steps.filter((step) => !isFault(step));
  return answers.reduce((number, answer) => number + (isPartOf(answer, wanted[number]) ? 0 : 1), 0);
}

function isPartOf(answer: Turn, step: Step | undefined): boolean {
  if (answer.toolCalls < (step?.tools?.length ?? 0)) return true;
  return answer.toolCalls === 0 && answer.texts.length === 0 && (answer.serverCalls ?? 0) === 0;
}

/** `stillDue` counts a request against the fault at an index and says whether it is one of its `times`. */
function pick(steps: readonly Step[], number: number, stillDue: (at: number, times: number) => boolean): Step {
  let answers = 0;
  for (const [at, step] of steps.entries()) {
    if (!isFault(step)) {
      if (answers === number) return step;
      answers += 1;
    } else if (answers === number && stillDue(at, step.times ?? Number.POSITIVE_INFINITY)) {
      return step;
    }
  }
  const last = steps.at(-1);
  return last?.repeat === true ? last : DEFAULT_STEP;
}

const keyOf = (request: StandinRequest, place: readonly (string | number)[]): string =>
  createHash("sha256")
    .update([conversationOf(request), ...place].join("\0"))
    .digest("base64");

function raise(tally: Tally, key: string): number {
  const next = (tally.get(key) ?? 0) + 1;
  tally.delete(key);
  tally.set(key, next);
  for (const oldest of tally.keys()) {
    if (tally.size <= MAX_TALLIES) break;
    tally.delete(oldest);
  }
  return next;
}

function take(tally: Tally, { key, times }: { key: string; times: number }): boolean {
  return (tally.get(key) ?? 0) < times && raise(tally, key) <= times;
}

function holds(when: Rule["when"], { request, prompt }: { request: StandinRequest; prompt: string }): boolean {
  const first = request.turns.find((turn) => turn.role === "user");
  const unseen = unseenOf(request);
  const includes = (text: string, part: string | undefined): boolean => part === undefined || text.includes(part);
  if (!includes(prompt, when.promptIncludes)) return false;
  if (!includes(first?.texts.join("\n") ?? "", when.firstUserIncludes)) return false;
  if (!includes([...unseen.texts, ...unseen.toolResults].join("\n"), when.lastUserIncludes)) return false;
  if (when.model !== undefined && when.model !== request.model) return false;
  if (when.toolsOffered === undefined) return true;
  if (when.toolsOffered.length === 0) return request.tools.size === 0;
  return when.toolsOffered.every((name) => request.tools.has(name));
}

export function knowsModel(script: Script, model: string): boolean {
  const models: ScriptFile["models"] = typeof script === "function" ? undefined : script.models;
  return models === undefined || models.includes(model);
}
