/** A question that waits for a person, in words, with the command that answers it. Pure. */
import { deadlineOf, type QuestionState } from "../loop/questions.ts";
import type { RunState } from "../loop/state.ts";
import { duration } from "./cli/format.ts";
import { oneLine } from "./plain.ts";

const MAX_TEXT_CHARS = 300;
const MAX_OPTION_CHARS = 80;

export type Asked = Pick<QuestionState, "question" | "kind" | "text" | "options" | "turn">;

/** What is to be typed after the name of the question. */
export function answerForms({ kind, options }: Pick<Asked, "kind" | "options">): string {
  switch (kind) {
    case "permission":
      return "allow | deny [WHY]";
    case "question":
      return options.length === 0 ? "TEXT" : `${options.map((_, at) => at + 1).join(" | ")} | TEXT`;
    case "unverifiable":
      return "retry | stop | TEXT for the agent";
    case "ladder":
    case "errors":
    case "hook":
      return '"go on" | stop | TEXT for the agent';
  }
}

/** As short as it can be pasted: the first thing that is offered. */
export function answerCommand(run: string, { question, kind, options }: Asked): string {
  const first = { permission: "allow", unverifiable: "retry", ladder: '"go on"', errors: '"go on"', hook: '"go on"' };
  return `pawl answer ${run} ${question} ${kind === "question" ? (options.length === 0 ? '"…"' : "1") : first[kind]}`;
}

/** Milliseconds until policy answers, at this moment of driven time; null: it waits. */
export function leftMs(state: RunState, open: QuestionState, elapsed: number): number | null {
  const deadline = deadlineOf(state, open);
  return Number.isFinite(deadline) ? Math.max(0, deadline - elapsed) : null;
}

function leftWords({ kind, turn }: Pick<Asked, "kind" | "turn">, left: number | null): string {
  if (left === null) return "it waits";
  const then = turn === null ? "the run ends" : kind === "permission" ? "it is denied" : "the agent decides itself";
  return `${duration(left)} left, then ${then}`;
}

const TITLES = {
  permission: "the agent asks for a permission",
  question: "the agent asks",
  unverifiable: "a check cannot judge",
  ladder: "it is stuck",
  errors: "its turns fail",
  hook: "a hook failed",
} as const;

/** For a terminal: the question, what is offered, and the command. */
export function questionText(run: string, asked: Asked, { left }: { left: number | null }): string {
  const options = asked.kind === "question" ? asked.options : [];
  return [
    `${asked.question}: ${TITLES[asked.kind]}: ${oneLine(asked.text, { max: MAX_TEXT_CHARS })}`,
    ...options.map((option, at) => `  ${at + 1}  ${oneLine(option, { max: MAX_OPTION_CHARS })}`),
    `  answer: pawl answer ${run} ${asked.question} ${answerForms(asked)}   (${leftWords(asked, left)})`,
  ].join("\n");
}
