/** What is done about struggle and errors, and how long it is waited. */
import { rungSchema } from "../../spec.ts";
import { count, duration, durationOrNone } from "../units.ts";
import { listOf, of, type Setting } from "./kinds.ts";

export const PATIENCE_SETTINGS = {
  patience: of({
    schema: count,
    argument: "N",
    flag: null,
    group: "patience",
    about: "iterations with a sign of struggle before something is done",
  }),
  "short-turn": of({
    schema: durationOrNone,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "a turn shorter than this, without progress, is such a sign",
  }),
  ladder: of({
    schema: listOf(rungSchema, /[,\s]+/),
    argument: "LIST",
    flag: null,
    group: "patience",
    about: "what is done, one after the other",
  }),
  backoff: of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "first wait after an error or a limit; doubles each time",
  }),
  "max-backoff": of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "longest of these waits",
  }),
  "limit-cap": of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "patience",
    about: "longest wait for a provider's reset",
  }),
} as const satisfies Readonly<Record<string, Setting>>;
