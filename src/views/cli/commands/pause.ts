/** `pawl pause`: the running turn ends by itself, no new one starts. */
import type { Command } from "commander";
import { steer, steering, type SteerOptions } from "../directive.ts";

export function configure(command: Command, exit: (code: number) => void): void {
  steering(command.argument("[run]", "without it the run of this repository that is driven now, else its newest"))
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: SteerOptions) => {
      exit(await steer(asked, { kind: "pause" }, options));
    });
}

const EXAMPLES = `
The driver stays and waits. \`pawl resume\` goes on; \`pawl stop\` ends the run.

Examples:
  pawl pause
  pawl pause r-20261115-k3f --wait=600
`;
