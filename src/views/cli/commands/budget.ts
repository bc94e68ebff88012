/** `pawl budget`: other limits for a run that is under way. Only the ones that are given change. */
import type { Command } from "commander";
import { readCount, readDuration, readMoney } from "../../../config/units.ts";
import { UsageError } from "../../../errors.ts";
import type { Limits } from "../../../spec.ts";
import { steer, steering, type SteerOptions } from "../directive.ts";

interface LimitOption {
  flag: string;
  argument: string;
  limit: keyof Limits;
  read: (text: string) => number | undefined;
  example: string;
  about: string;
}

const LIMITS: readonly LimitOption[] = [
  { flag: "max-iterations", argument: "N", limit: "iterations", read: readCount, example: "30", about: "iterations" },
  {
    flag: "max-turns",
    argument: "N",
    limit: "turns",
    read: readCount,
    example: "50",
    about: "turns taken by the agent",
  },
  { flag: "max-tool-calls", argument: "N", limit: "toolCalls", read: readCount, example: "500", about: "tool calls" },
  { flag: "max-tokens", argument: "N", limit: "tokens", read: readCount, example: "2M", about: "tokens of all kinds" },
  { flag: "max-cost", argument: "USD", limit: "usd", read: readMoney, example: "5", about: "US dollars" },
  { flag: "max-turn-cost", argument: "USD", limit: "turnUsd", read: readMoney, example: "0.50", about: "of one turn" },
  { flag: "max-time", argument: "TIME", limit: "drivenMs", read: readDuration, example: "1h30m", about: "driven time" },
  {
    flag: "max-calls-per-hour",
    argument: "N",
    limit: "callsPerHour",
    read: readCount,
    example: "60",
    about: "turns started in an hour",
  },
];

type Options = SteerOptions & Record<string, unknown>;

export function configure(command: Command, exit: (code: number) => void): void {
  command.argument("[run]", "without it the run of this repository that is driven now, else its newest");
  for (const { flag, argument, about } of LIMITS) command.option(`--${flag} <${argument}>`, about);
  steering(command)
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => {
      exit(await steer(asked, { kind: "budget", limits: limitsOf(options) }, options));
    });
}

function limitsOf(options: Options): Limits {
  const limits: Limits = {};
  for (const { flag, limit, read, example } of LIMITS) {
    const given = options[flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())];
    if (typeof given !== "string") continue;
    const value = read(given.trim());
    if (value === undefined || value <= 0)
      throw new UsageError(`--${flag} cannot be ${JSON.stringify(given)}`, {
        hint: `for example --${flag} ${example}`,
      });
    limits[limit] = value;
  }
  if (Object.keys(limits).length > 0) return limits;
  throw new UsageError("no limit was given", { hint: "for example: pawl budget --max-cost 5" });
}

const EXAMPLES = `
Limits are totals of the whole run, not additions: \`pawl status\` shows what is
used. A limit below what is used ends the run at the next decision.

Examples:
  pawl budget --max-cost 5
  pawl budget r-20261115-k3f --max-iterations 40 --max-time 3h
`;
