/**
 * What a person reads of an agent's request, and what the agent reads of the answer: the same for every agent. The agent
 * wrote the request, so nothing in it may move a terminal or hide.
 */
import type { Reply } from "../ports.ts";

/** What is cut is said, so that nobody allows what they did not see. */
const MAX_PERMISSION_CHARS = 1_000;
const MAX_QUESTION_CHARS = 4_000;
const MAX_OPTION_CHARS = 200;

/** Where nobody is asked which way to go. */
export const DECIDE = "Nobody is asked: decide yourself, and say how you decided.";

export const permissionLine = (text: string): string => cut(oneLine(text), MAX_PERMISSION_CHARS);

export interface Offered {
  label: string;
  /** "": there is none. */
  description: string;
}

/** A question with the ways that it offers. `many`: several may be chosen. */
export function questionWords(
  question: string,
  { offered, many = false }: { offered: readonly Offered[]; many?: boolean },
): { text: string; options: string[] } {
  const note = many ? " (several may be chosen, joined by commas)" : "";
  const lines = offered.map(({ label, description }) =>
    oneLine(description === "" ? `- ${label}` : `- ${label}: ${description}`),
  );
  return {
    text: cut([`${oneLine(question)}${note}`, ...lines].join("\n"), MAX_QUESTION_CHARS),
    options: offered.map(({ label }) => oneLine(label).slice(0, MAX_OPTION_CHARS)),
  };
}

/** Why the agent may not. */
export const whyNot = (reply: Exclude<Reply, { is: "allow" }>): string =>
  reply.is === "text" ? `Not allowed. A person says: ${reply.text}` : `Not allowed: ${reply.reason}`;

/** The answer to a question. */
export function wordsOf(reply: Reply): string {
  switch (reply.is) {
    case "text":
      return reply.text;
    case "allow":
      return "Yes.";
    case "deny":
      return `No answer (${reply.reason}): decide yourself.`;
  }
}

/** Control and invisible characters are written out. */
function oneLine(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .trim()
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}… (${text.length - max} more characters)`;
}
