/** What a run may use up. */
import { count, duration, money } from "../units.ts";
import { of, type Setting } from "./kinds.ts";

export const LIMITS_SETTINGS = {
  "max-iterations": of({ schema: count, argument: "N", group: "limits", about: "iterations" }),
  "max-turns": of({ schema: count, argument: "N", group: "limits", about: "turns taken by the agent, retries too" }),
  "max-tool-calls": of({ schema: count, argument: "N", group: "limits", about: "tool calls of the agent" }),
  "max-tokens": of({ schema: count, argument: "N", group: "limits", about: "tokens of all kinds, e.g. 2M" }),
  "max-cost": of({ schema: money, argument: "USD", group: "limits", about: "US dollars" }),
  "max-turn-cost": of({ schema: money, argument: "USD", group: "limits", about: "US dollars of one turn" }),
  "max-time": of({
    schema: duration,
    argument: "TIME",
    group: "limits",
    about: "driven time, e.g. 1h30m; plain numbers are seconds",
  }),
  "max-calls-per-hour": of({ schema: count, argument: "N", group: "limits", about: "turns started in an hour" }),
  "max-errors": of({ schema: count, argument: "N", group: "limits", about: "failed turns in a row" }),
} as const satisfies Readonly<Record<string, Setting>>;
