/** Of `pawl solve`: where generated code runs and what it may use, what a request may hold, when an answer is one. */
import { LANGUAGE_NAMES } from "../../spec/solve-names.ts";
import { bytes, count, duration } from "../units.ts";
import { choice, of, type Setting } from "./kinds.ts";

export const SOLVE_SETTINGS = {
  executor: of({
    schema: choice(["local", "claude"]),
    argument: "WHERE",
    group: "solve",
    about: "what runs the code: local (pawl's fence) or claude (the API's own container)",
  }),
  language: of({
    schema: choice(LANGUAGE_NAMES),
    argument: "NAME",
    group: "solve",
    about: "what the code is written in; without it as the model likes",
  }),
  history: of({
    schema: choice(["pruned", "full"]),
    argument: "HOW",
    group: "solve",
    about: "pruned: each request is made anew of the attempts so far; full: one conversation",
  }),
  "request-tokens": of({
    schema: count,
    argument: "N",
    group: "solve",
    about: "pawl puts at most so many tokens into one request",
  }),
  repeats: of({
    schema: count,
    argument: "N",
    group: "solve",
    about: "so many identical outputs in a row are the answer, where no check judges it",
  }),
  parallel: of({ schema: count, argument: "N", group: "solve", about: "steps of a plan that run at the same time" }),
  "step-tries": of({ schema: count, argument: "N", group: "solve", about: "attempts that a step of a plan has" }),
  "code-time": of({ schema: duration, argument: "TIME", group: "solve", about: "ends a program after so long" }),
  "code-memory": of({ schema: bytes, argument: "SIZE", group: "solve", about: "of a program and all it starts" }),
  "code-processes": of({ schema: count, argument: "N", group: "solve", about: "that a program may have at one time" }),
  "code-disk": of({ schema: bytes, argument: "SIZE", group: "solve", about: "that a program may write" }),
  "code-output": of({ schema: bytes, argument: "SIZE", group: "solve", about: "that a program may print" }),
} as const satisfies Readonly<Record<string, Setting>>;
