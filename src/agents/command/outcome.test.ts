/** The table of ways in which a turn of a command ends. */
import { expect, it } from "vitest";
import type { TurnOutcome } from "../../events.ts";
import { presetEntry } from "./preset-entry.ts";
import { outcomeOf, type Signals } from "./outcome.ts";

const JSONL = {
  output: presetEntry("claude-p").output,
  exit: { "53": "max-turns", "7": "usage", "9": "done" },
} as const;
const TEXT = { output: { format: "text" }, exit: { "7": "usage", "9": "done" } } as const;
const PLAIN: Signals = {
  exit: { is: "code", code: 0 },
  view: { error: undefined, ended: false },
  refusal: undefined,
  overLimit: false,
  words: "",
};
const code = (n: number): Pick<Signals, "exit"> => ({ exit: { is: "code", code: n } });
const ended = { view: { error: undefined, ended: true } };
const said = (status: number | null, kind?: "rate" | "context", resetAt?: number) => ({
  refusal: { status, kind, resetAt },
});
const printed = (error: Partial<NonNullable<Signals["view"]["error"]>>) => ({
  view: { ended: false, error: { kind: undefined, status: undefined, text: "words", resetAt: undefined, ...error } },
});

const CASES: [string, Partial<Signals>, typeof JSONL | typeof TEXT, Partial<TurnOutcome>][] = [
  ["words and exit 0", {}, TEXT, { is: "done" }],
  ["an exit code that means done", code(9), TEXT, { is: "done" }],
  ["a result", ended, JSONL, { is: "done" }],
  ["a result, and a killed process", { ...ended, exit: { is: "died", why: "SIGKILL" } }, JSONL, { is: "done" }],
  ["exit 0 without the line that ends a turn", {}, JSONL, { is: "cut" }],
  ["exit 1 without it", { ...code(1), words: "oops" }, JSONL, { is: "cut" }],
  ["a signal", { exit: { is: "died", why: "SIGKILL" } }, TEXT, { is: "cut" }],
  [
    "exit 1 of one that prints words",
    { ...code(1), words: "no such option" },
    TEXT,
    { is: "failed", kind: "agent", message: "no such option" },
  ],
  ["a mapped exit code", code(53), JSONL, { is: "failed", kind: "max-turns" }],
  ["a mapped limit", code(7), TEXT, { is: "limited", kind: "usage" }],
  ["a model that said 401 last", { ...code(1), ...said(401) }, TEXT, { is: "failed", kind: "login" }],
  ["a model that said 429 last, and exit 0", said(429, "rate", 5), TEXT, { is: "limited", kind: "rate", resetAt: 5 }],
  ["a model that said 529", { ...code(1), ...said(529) }, JSONL, { is: "limited", kind: "overloaded" }],
  ["a model that does not exist", { ...code(1), ...said(404) }, JSONL, { is: "failed", kind: "model" }],
  ["a context that is full", { ...code(1), ...said(400, "context") }, JSONL, { is: "failed", kind: "context" }],
  ["a connection that broke", { ...code(1), ...said(null) }, JSONL, { is: "cut" }],
  ["a refusal that the program got over", { ...said(500), ...ended }, JSONL, { is: "done" }],
  ["a printed kind", printed({ kind: "usage", resetAt: 9 }), JSONL, { is: "limited", kind: "usage", resetAt: 9 }],
  ["a printed status", printed({ status: 403 }), JSONL, { is: "failed", kind: "login" }],
  [
    "printed words, and what the model said",
    { ...printed({}), ...said(429, "rate", 7) },
    JSONL,
    { is: "limited", kind: "rate", resetAt: 7 },
  ],
  [
    "printed words alone, whatever they say",
    printed({ text: "429 rate limit" }),
    JSONL,
    { is: "failed", kind: "agent" },
  ],
  ["more requests than allowed", { ...code(1), overLimit: true }, JSONL, { is: "failed", kind: "max-turns" }],
];

it.each(CASES)("%s", (_, signals, entry, outcome) => {
  expect(outcomeOf({ ...PLAIN, ...signals }, entry)).toMatchObject(outcome);
});
