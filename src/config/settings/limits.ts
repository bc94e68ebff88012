/** What a run may use up. */
import { count, duration, money } from "../units.ts";
import { of, type Setting } from "./kinds.ts";

export const LIMITS_SETTINGS = {
  "max-iterations": of({ schema: count, argument: "N", group: "limits", about: "end after so many iterations" }),
  "max-turns": of({
    schema: count,
    argument: "N",
    group: "limits",
    about: "end after so many turns of the agent, retries too",
  }),
  "max-tool-calls": of({
    schema: count,
    argument: "N",
    group: "limits",
    about: "end after so many tool calls of the agent",
  }),
  "max-tokens": of({
    schema: count,
    argument: "N",
    group: "limits",
    about: "end at so many tokens of all kinds, e.g. 2M",
  }),
  "max-cost": of({ schema: money, argument: "USD", group: "limits", about: "end at so many US dollars" }),
  "max-turn-cost": of({ schema: money, argument: "USD", group: "limits", about: "end a turn at so many US dollars" }),
  "max-time": of({
    schema: duration,
    argument: "TIME",
    group: "limits",
    about: "end after so much working time, e.g. 1h30m",
  }),
  "max-calls-per-hour": of({
    schema: count,
    argument: "N",
    group: "limits",
    about: "wait when so many turns began within an hour",
  }),
  "max-errors": of({
    schema: count,
    argument: "N",
    group: "limits",
    about: "give up after so many failed turns in a row",
  }),
} as const satisfies Readonly<Record<string, Setting>>;
