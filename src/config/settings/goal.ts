/** When a run is done: checks, claims, tasks, and what the prompt says. */
import { z } from "zod";
import { criterionOf } from "../criteria.ts";
import { bytes, count, duration } from "../units.ts";
import { anyCheck } from "./checks.ts";
import { file, glob, insideFile, listOf, of, promise, text, yes, type Setting } from "./kinds.ts";

/** Twice this and all other parts fit into one prompt. */
const MAX_MEMO_BYTES = 64 * 1024;

/** A text, which may end with the checks that prove it, or both said apart. */
const criterion = z.union(
  [
    text.transform(criterionOf),
    z
      .strictObject({ text, checks: listOf(text, /,/) })
      .transform((given) => ({ text: given.text, checks: given.checks })),
  ],
  {
    error: ({ input }) =>
      (typeof input === "string" ? text.safeParse(input).error?.issues[0]?.message : undefined) ??
      "must be a text, or have `text` and `checks`",
  },
);

export const GOAL_SETTINGS = {
  checks: of({
    schema: listOf(anyCheck, /\n/),
    argument: "[NAME=]COMMAND",
    repeated: true,
    flag: "check",
    group: "goal",
    about: "a command that must exit 0 (may be repeated); pawl.yaml knows other kinds (docs/checks.md)",
  }),
  "until-green": of({ schema: yes, group: "goal", about: "passing checks end the run, without the agent's claim" }),
  "trust-promise": of({ schema: yes, group: "goal", about: "exit 0 for `claimed` too" }),
  promise: of({
    schema: promise,
    argument: "TEXT",
    group: "goal",
    about: "the agent's word for done, asked for as <promise>TEXT</promise>",
  }),
  "min-iterations": of({
    schema: count,
    argument: "N",
    group: "goal",
    about: "iterations before a claim counts (1; without a check 2)",
  }),
  "check-timeout": of({
    schema: duration,
    argument: "TIME",
    group: "goal",
    about: "of one check; then it could not judge",
  }),

  protect: of({
    schema: listOf(glob, /\n/),
    argument: "GLOB",
    repeated: true,
    group: "goal",
    about: "files the agent may not change, beside tests, runner and CI configuration (may be repeated)",
  }),
  unprotect: of({
    schema: listOf(glob, /\n/),
    argument: "GLOB",
    repeated: true,
    group: "goal",
    about: "files it may change all the same (may be repeated)",
  }),
  "allow-test-changes": of({
    schema: yes,
    group: "goal",
    about: "tests may be changed: they are judged in their new form, and listed",
  }),

  "abort-promise": of({
    schema: promise,
    argument: "TEXT",
    group: "goal",
    about: "the agent's word for giving up; ends the run as failed",
  }),
  confirmations: of({ schema: count, argument: "N", group: "goal", about: "claims in a row before one counts" }),
  criteria: of({
    schema: listOf(criterion, /\n/),
    argument: "TEXT",
    repeated: true,
    flag: "criterion",
    group: "goal",
    about:
      "acceptance criterion, beside those listed in the goal; `… (check: NAME)` says what proves it (may be repeated)",
  }),
  tasks: of({
    schema: insideFile,
    argument: "FILE",
    bare: "TASKS.md",
    group: "goal",
    about: "work off the tasks of a markdown list, one after the other",
  }),
  "task-promise": of({ schema: promise, argument: "TEXT", group: "goal", about: "the agent's word for: next task" }),
  "task-min-iterations": of({
    schema: count,
    argument: "N",
    group: "goal",
    about: "iterations each task gets at least",
  }),

  notes: of({
    schema: insideFile,
    argument: "FILE",
    bare: "NOTES.md",
    group: "prompt",
    about: "notes the agent keeps from iteration to iteration",
  }),
  knowledge: of({
    schema: insideFile,
    argument: "FILE",
    bare: "KNOWLEDGE.md",
    group: "prompt",
    about: "durable knowledge of the project, kept across runs",
  }),
  "memo-size": of({
    schema: bytes.refine((size) => size <= MAX_MEMO_BYTES, "must be at most 64KB"),
    argument: "SIZE",
    flag: null,
    group: "prompt",
    about: "of notes or knowledge in a prompt",
  }),
  template: of({ schema: file, argument: "FILE", group: "prompt", about: "a prompt of your own (docs/prompts.md)" }),
  rules: of({
    schema: z.array(z.strictObject({ every: count, text }), "must be a list of `every` and `text`"),
    flag: null,
    group: "prompt",
    about: "words that stand in the prompt of every n-th iteration",
  }),
} as const satisfies Readonly<Record<string, Setting>>;
