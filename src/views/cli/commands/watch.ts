/** `pawl watch`: follows a run that some other process drives, with the lines that the driver itself shows. */
import type { Command } from "commander";
import { EXIT, exitCodeOf, UsageError } from "../../../errors.ts";
import type { Outcome } from "../../../events.ts";
import { follow } from "../follow.ts";
import { print } from "../output.ts";
import { withRun } from "../reading.ts";
import { loudnessOf } from "../loudness.ts";

interface Options {
  from?: number;
  once?: true;
  trustPromise?: true;
  json?: true;
  quiet?: true;
  verbose?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[run]", "a run or the beginning of its name; without it the newest of this repository")
    .option("--from <SEQ|start>", "show also what was: from this fact on, or everything", from)
    .option("--once", "do not wait for somebody to drive it")
    .option("--trust-promise", "exit 0 for `claimed` too")
    .option("--json", "facts as JSON lines on stdout")
    .option("-q, --quiet", "only where it is now and how it ends")
    .option("-v, --verbose", "every fact, and what the agent thinks")
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => {
      const { once = false, json = false, trustPromise = false } = options;
      const loudness = loudnessOf(options);
      const ended = await withRun(asked, (opened) => follow(opened, { from: options.from, once, json, loudness }));
      if (ended.is === "ended" && !json) print(`${ended.outcome.is} ${ended.branch ?? "(no branch)"}`);
      exit(codeOf(ended, { trustPromise }));
    });
}

function codeOf(
  ended: { is: "ended"; outcome: Outcome } | { is: "left" } | { is: "not-driven" },
  { trustPromise }: { trustPromise: boolean },
): number {
  switch (ended.is) {
    case "ended":
      return exitCodeOf(ended.outcome, { trustPromise });
    case "left":
      return EXIT.ok;
    case "not-driven":
      return EXIT.human;
  }
}

function from(text: string): number {
  if (text === "start") return 0;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--from takes the number of a fact or start, not ${JSON.stringify(text)}`, {
    hint: "`pawl logs --facts --json` shows the numbers as `seq`",
  });
}

const EXAMPLES = `
Watching is not driving: Ctrl-C ends the watching only, with exit code 0. When
the run ends, its own exit code is passed on. With --once a run that nobody
drives is shown and left, with exit code 4.

Examples:
  pawl watch
  pawl watch r-20261115-k3f --from start
  pawl watch --json | jq -r 'select(.type == "decision-made").reason'
`;
