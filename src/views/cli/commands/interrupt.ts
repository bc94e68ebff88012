/** `pawl interrupt`: ends the running turn; the run goes on with what it has. */
import type { Command } from "commander";
import { steer, steering, type SteerOptions } from "../directive.ts";

export function configure(command: Command, exit: (code: number) => void): void {
  steering(command.argument("[run]", "without it the run of this repository that is driven now, else its newest"))
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: SteerOptions) => {
      exit(await steer(asked, { kind: "interrupt" }, options));
    });
}

const EXAMPLES = `
What the agent has changed so far is judged as the change of this iteration.

Examples:
  pawl interrupt
  pawl steer --next "the other file" && pawl interrupt --wait
`;
