/** `pawl model`: another model from now on, in the running turn where the agent can. */
import type { Command } from "commander";
import { UsageError } from "../../../errors.ts";
import { steer, steering, type SteerOptions } from "../directive.ts";
import { runAndWhat } from "../reading.ts";

export function configure(command: Command, exit: (code: number) => void): void {
  steering(command.argument("<words...>", "[RUN] MODEL").usage("[options] [RUN] MODEL"))
    .addHelpText("after", EXAMPLES)
    .action(async (words: string[], options: SteerOptions) => {
      const { asked, what } = runAndWhat(words);
      if (what === undefined || what.trim() === "") {
        throw new UsageError("which model?", { hint: "pawl model [RUN] MODEL" });
      }
      exit(await steer(asked, { kind: "model", model: what.trim() }, options));
    });
}

const EXAMPLES = `
The name is passed to the agent as it is. A wrong one shows at the next request
and ends the run as failed.

Examples:
  pawl model claude-opus-5-5
  pawl model r-20261115-k3f claude-sonnet-5 --wait
`;
