/** A directive and its receipt in words. */
import type { Directive } from "../events.ts";
import { sayLimits } from "./cli/header.ts";
import { oneLine } from "./plain.ts";

const MAX_TEXT_CHARS = 100;

/** Which task it is, an id does not tell a person; the receipt does. */
const MARKINGS = { done: "tick", skipped: "skip", todo: "put back", removed: "remove" } as const;

export type ReceiptState = "queued" | "delivered" | "acknowledged";

export function directiveWords(directive: Directive): string {
  switch (directive.kind) {
    case "say":
      return `say ${directive.when} "${oneLine(directive.text, { max: MAX_TEXT_CHARS })}"`;
    case "cancel":
      return `take back ${oneLine(directive.directive, { max: MAX_TEXT_CHARS })}`;
    case "task-add":
      return `add task "${oneLine(directive.text, { max: MAX_TEXT_CHARS })}"`;
    case "task-mark":
      return `${MARKINGS[directive.as]} ${directive.task === undefined ? "the current task" : "a task"}`;
    case "interrupt":
    case "pause":
    case "resume":
      return directive.kind;
    case "stop":
      return directive.when === "now" ? "stop now" : "stop after this iteration";
    case "model":
      return `model ${oneLine(directive.model, { max: MAX_TEXT_CHARS })}`;
    case "budget":
      return `budget: ${sayLimits(directive.limits)}`;
    case "memory":
      return `memory ${directive.op} ${oneLine(directive.id, { max: MAX_TEXT_CHARS })}`;
    case "answer":
      return `answer to ${oneLine(directive.question, { max: MAX_TEXT_CHARS })}: "${oneLine(directive.text, { max: MAX_TEXT_CHARS })}"`;
  }
}

/** The last state a directive of this kind comes to: only words for the agent are answered by it. Most answers are not. */
export function finalReceipt(directive: Directive): ReceiptState {
  return directive.kind === "say" ? "acknowledged" : "delivered";
}
