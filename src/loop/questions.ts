/** What waits for a person: asked by the agent inside a turn, or by the loop between two. Pure. */
import type { FactOf } from "../events.ts";
import type { Reply } from "../ports.ts";
import type { Action, Now } from "./actions.ts";
import { hookKey } from "./hooks.ts";
import type { DirectiveState, RunState } from "./state.ts";

const MAX_KEPT_QUESTIONS = 100;
/** What the loop offers where a person has to settle how it goes on. */
export const GO_ON = "go on";
export const STOP = "stop";

export type QuestionState = Pick<
  FactOf<"human-requested">,
  "question" | "kind" | "text" | "options" | "turn" | "untilElapsed" | "lane" | "seq" | "about"
> & { answer?: Pick<FactOf<"human-answered">, "text" | "by" | "directive"> };
export type Answer = NonNullable<QuestionState["answer"]>;

export function recordQuestion(state: RunState, fact: FactOf<"human-requested">): void {
  const { question, kind, text, options, turn, untilElapsed, lane, seq, about } = fact;
  state.asked += 1;
  const kept = { question, kind, text, options, turn, untilElapsed, lane, seq };
  state.questions.set(question, about === undefined ? kept : { ...kept, about });
  for (const [id, old] of state.questions) {
    if (state.questions.size <= MAX_KEPT_QUESTIONS) break;
    if (old.answer !== undefined) state.questions.delete(id);
  }
}

/** The effect of an answer on the loop is here, so that a driver that dies after it changes nothing. */
export function recordAnswer(state: RunState, fact: FactOf<"human-answered">): void {
  const { question, text, by, directive } = fact;
  const asked = state.questions.get(question);
  if (asked === undefined) return;
  asked.answer = directive === undefined ? { text, by } : { text, by, directive };
  const lane = state.lanes.get(asked.lane);
  if (asked.turn !== null || by !== "person" || wayOf(text) === "stop" || lane === undefined) return;
  switch (asked.kind) {
    case "errors":
      lane.errorsInRow = 0;
      // A person has been waited for: that was patience enough.
      state.lastWait = fact.seq;
      return;
    case "unverifiable":
      if (wayOf(text) === "go-on") lane.checksTried = new Map();
      return;
    case "hook": {
      const { trouble } = state.hooks;
      if (trouble !== undefined && hookKey(trouble) === asked.about) delete state.hooks.trouble;
      return;
    }
    case "ladder":
    case "permission":
    case "question":
      return;
  }
}

export const openQuestions = (state: RunState): QuestionState[] =>
  [...state.questions.values()].filter(({ answer }) => answer === undefined);

/** Those that an answer can still reach: without a driver, what was asked inside a turn ended with it. */
export const answerable = (state: RunState, { driven }: { driven: boolean }): QuestionState[] =>
  openQuestions(state).filter(({ turn }) => driven || turn === null);

/** Those that keep the run from going on. */
export const heldQuestions = (state: RunState): QuestionState[] =>
  openQuestions(state).filter(({ turn }) => turn === null);

/** The newest about this point. One that policy closed counts as never asked: what it gave way to is over. */
export function questionAbout(state: RunState, about: string): QuestionState | undefined {
  const found = [...state.questions.values()].findLast((question) => question.about === about);
  return found?.answer?.by === "policy" ? undefined : found;
}

/** What a person's words mean where the loop asked; anything else is for the agent. */
export function wayOf(text: string): "go-on" | "stop" | "words" {
  const word = text.trim().toLowerCase().replaceAll(/\s+/g, " ");
  if (["", GO_ON, "go-on", "continue", "retry", "resume", "yes", "ok"].includes(word)) return "go-on";
  return word === STOP ? "stop" : "words";
}

/** A permission is given only by a word that says so. */
export function permissionOf(text: string): Reply | undefined {
  const said = /^\s*(allow|yes|y|ok|deny|no|n)\b[\s:,.;-]*([^]*)$/i.exec(text);
  const [, word = "", reason = ""] = said ?? [];
  if (said === null) return undefined;
  if (/^(deny|no|n)$/i.test(word)) return { is: "deny", reason: reason.trim() || "a person said no" };
  return { is: "allow" };
}

/** For the agent: an option by its number or name, or the words themselves. */
export function replyTo({ kind, options }: Pick<QuestionState, "kind" | "options">, { text, by }: Answer): Reply {
  if (by !== "person") return { is: "deny", reason: text };
  if (kind === "permission") return permissionOf(text) ?? { is: "deny", reason: text };
  const word = text.trim();
  const chosen =
    (/^\d+$/.test(word) ? options[Number(word) - 1] : undefined) ??
    options.find((option) => option.toLowerCase() === word.toLowerCase());
  return { is: "text", text: chosen ?? text };
}

/** A bare number that is neither the number nor the name of an option, where there are options. */
export function isNoOption({ kind, options }: Pick<QuestionState, "kind" | "options">, text: string): boolean {
  const word = text.trim();
  if (kind !== "question" || options.length === 0 || !/^[-+]?\d+$/.test(word)) return false;
  return options[Number(word) - 1] === undefined && !options.includes(word);
}

/** Words for the agent that answer what the loop asked, and so stand in its next prompt. */
export function isForPrompt(state: RunState, { id, directive }: Pick<DirectiveState, "id" | "directive">): boolean {
  if (directive.kind !== "answer") return false;
  const asked = state.questions.get(directive.question);
  return asked?.turn === null && asked.answer?.directive === id && wayOf(directive.text) === "words";
}

/** One key for all that may answer a question and for the receipt of what did: so it is answered once. */
const answerKey = (question: string): string => `answer/${question}`;

export function questionActions(state: RunState, now: Now): Action[] {
  return openQuestions(state).flatMap((open) => {
    const answer = answerFor(state, open, now);
    const { question, lane } = open;
    return answer === undefined
      ? []
      : [{ do: "answer" as const, key: answerKey(question), lane, why: answer.by, question, answer }];
  });
}

function answerFor(state: RunState, open: QuestionState, now: Now): Answer | undefined {
  const { turn, lane, seq, question, about } = open;
  if (turn !== null && state.lanes.get(lane)?.open?.fact.turn !== turn) {
    return { text: "its turn is over", by: "turn-ended" };
  }
  for (const { id, directive, delivered } of state.directives.values()) {
    if (delivered === undefined && directive.kind === "answer" && directive.question === question)
      return { text: directive.text, by: "person", directive: id };
  }
  if (turn === null && state.stop !== undefined) return { text: "the run was stopped", by: "policy" };
  const { trouble } = state.hooks;
  // A hook's trouble comes first; what was asked before is asked again if the run goes on after it.
  if (turn === null && trouble !== undefined && about !== hookKey(trouble))
    return { text: "a hook holds the run", by: "policy" };
  const resumed = ({ directive, receivedSeq }: DirectiveState): boolean =>
    directive.kind === "resume" && receivedSeq > seq;
  if (turn === null && [...state.directives.values()].some(resumed)) return { text: GO_ON, by: "person" };
  return now.elapsed < deadlineOf(state, open) ? undefined : { text: tooLate(open), by: "timeout" };
}

/** Driven time. What the loop asked must be settled before the run's own time is over. */
export function deadlineOf({ limits }: RunState, { turn, untilElapsed }: QuestionState): number {
  const end = turn === null ? limits.drivenMs : undefined;
  return Math.min(untilElapsed ?? Number.POSITIVE_INFINITY, end ?? Number.POSITIVE_INFINITY);
}

function tooLate({ kind, turn }: QuestionState): string {
  if (turn === null) return "nobody answered in time";
  return kind === "permission"
    ? "nobody answered in time, so it is not allowed; find another way"
    : "nobody answered in time; decide yourself and go on";
}

/** What became of an answer that nobody waited for any more. */
export const TURN_OVER = "its turn had ended";

/** What has been done about an answer; undefined while that is not known. */
export function answerReceipt(
  state: RunState,
  { id, directive, lane }: Pick<DirectiveState, "id" | "directive"> & { lane: string },
): Action | undefined {
  if (directive.kind !== "answer") return undefined;
  const asked = state.questions.get(directive.question);
  const deliver = (how: string, key = `deliver/${id}`): Extract<Action, { do: "deliver" }> => ({
    do: "deliver",
    key,
    lane: asked?.lane ?? lane,
    why: "answer",
    directive: id,
    how,
  });
  if (asked === undefined) return { ...deliver(`there is no question ${directive.question}`), refused: true };
  if (asked.answer === undefined || isForPrompt(state, { id, directive })) return undefined;
  if (asked.answer.directive !== id) return { ...deliver(`too late: ${directive.question} is closed`), refused: true };
  // Whoever gave it to the agent writes the receipt, under this very key; this is for when that driver died.
  const key = answerKey(asked.question);
  return asked.turn === null ? deliver(settled(asked.answer.text), key) : { ...deliver(TURN_OVER, key), refused: true };
}

export const settled = (text: string): string => (wayOf(text) === "stop" ? "stopping" : "going on");
