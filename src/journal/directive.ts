/**
 * Is this a directive? Checked where it is queued, by hand, because views that queue must start fast and a bad row
 * would stop the driver later. At least as strict as the schema in events.ts, which a test holds it to.
 */
import type { Directive } from "../events.ts";

const MAX_TEXT_CHARS = 65_536;
const MAX_TASK_CHARS = 2_000;
/** Limits that are money; the others count. */
const MONEY: ReadonlySet<string> = new Set(["usd", "turnUsd"]);
const COUNTS: ReadonlySet<string> = new Set(["iterations", "turns", "toolCalls", "tokens", "drivenMs", "callsPerHour"]);

type Rule = (value: unknown) => boolean;
const text: Rule = (value) => typeof value === "string" && value.length > 0 && value.length <= MAX_TEXT_CHARS;
const taskText: Rule = (value) => text(value) && (value as string).length <= MAX_TASK_CHARS;
const maybeEmptyText: Rule = (value) => typeof value === "string" && value.length <= MAX_TEXT_CHARS;
const oneOf =
  (...words: string[]): Rule =>
  (value) =>
    words.includes(value as string);
const limits: Rule = (value) =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.entries(value).every(
    ([name, limit]) =>
      limit === undefined ||
      (typeof limit === "number" &&
        Number.isFinite(limit) &&
        limit > 0 &&
        (MONEY.has(name) || (COUNTS.has(name) && Number.isSafeInteger(limit)))),
  );

const SHAPES: { readonly [K in Directive["kind"]]: Readonly<Record<string, Rule>> } = {
  say: { text, when: oneOf("now", "next", "only-now") },
  cancel: { directive: text },
  interrupt: {},
  pause: {},
  resume: {},
  stop: { when: oneOf("now", "after") },
  model: { model: text },
  budget: { limits },
  memory: { op: oneOf("pin", "clear"), id: maybeEmptyText },
  answer: { question: maybeEmptyText, text: maybeEmptyText },
  "task-add": { text: taskText },
  "task-mark": { as: oneOf("done", "skipped", "todo", "removed"), task: (value) => value === undefined || text(value) },
};

/** What is wrong with it, in words; undefined when nothing is. */
export function complaint(directive: Directive): string | undefined {
  const { kind, ...fields } = directive as { kind: unknown } & Record<string, unknown>;
  if (typeof kind !== "string") return "it has no kind";
  if (!Object.hasOwn(SHAPES, kind)) return `there is no kind "${kind}"`;
  const shape: Readonly<Record<string, Rule>> = SHAPES[kind as Directive["kind"]];
  const extra = Object.keys(fields).find((name) => !Object.hasOwn(shape, name));
  if (extra !== undefined) return `${kind} has no "${extra}"`;
  const bad = Object.entries(shape).find(([name, rule]) => !rule(fields[name]));
  return bad === undefined ? undefined : `${kind} needs another "${bad[0]}"`;
}
