/** Several agents in one run, the review of their changes, and prices of models that nobody knows. */
import { z } from "zod";
import { readEntry } from "../../agent-entry.ts";
import { duration } from "../units.ts";
import { listOf, of, text, yes, type Setting } from "./kinds.ts";

const entry = text.refine((given) => readEntry(given) !== undefined, "must be AGENT or AGENT:MODEL");
/** A command line of an agent may have blanks. */
const entries = listOf(entry, /,/);
const models = listOf(text, /,/);

const rate = z.number("must be dollars per million tokens").nonnegative("must be dollars per million tokens");
const price = z.strictObject({ input: rate, output: rate, cacheRead: rate.optional(), cacheWrite: rate.optional() });

/** What a reviewer is asked, where nobody says something else. */
const REVIEW =
  "Review the change below against the goal. Look for what is wrong, missing, untested, unsafe or needlessly complicated; read the files around it, do not trust the diff alone.";

export const MIX_SETTINGS = {
  fallback: of({
    schema: entries,
    argument: "LIST",
    group: "mix",
    about: "agents (AGENT[:MODEL],…) that go on while the first one cannot",
  }),
  rotate: of({
    schema: entries,
    argument: "LIST",
    group: "mix",
    about: "agents (AGENT[:MODEL],…) that take the iterations in turn",
  }),
  escalate: of({
    schema: models,
    argument: "LIST",
    group: "mix",
    about: "stronger models, or AGENT[:MODEL], for when the work is stuck",
  }),
  review: of({
    schema: text,
    argument: "PROMPT",
    bare: REVIEW,
    group: "mix",
    about: "a second agent looks at each change before the checks",
  }),
  "review-agent": of({
    schema: entry,
    argument: "AGENT",
    group: "mix",
    about: "who reviews: AGENT[:MODEL]; the run's own agent otherwise",
  }),
  bench: of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "mix",
    about: "an agent that crashed is left alone so long; doubles each time",
  }),
  "max-bench": of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "mix",
    about: "the longest of these times",
  }),
  prices: of({
    schema: z.record(z.string(), price, "must have prices by model"),
    flag: null,
    group: "mix",
    about: "dollars per million tokens of models nobody knows: input, output, cacheRead, cacheWrite",
  }),
  "native-goal": of({ schema: yes, group: "mix", about: "let the agent run its own goal loop inside a turn" }),
} as const satisfies Readonly<Record<string, Setting>>;
