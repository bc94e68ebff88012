/** `pawl stop`: ends a run after this iteration, or now. */
import { Option, type Command } from "commander";
import { steer, steering, type SteerOptions } from "../directive.ts";

interface Options extends SteerOptions {
  now?: boolean;
  after?: boolean;
}

export function configure(command: Command, exit: (code: number) => void): void {
  steering(
    command
      .argument("[run]", "without it the run of this repository that is driven now, else its newest")
      .addOption(new Option("--after", "after this iteration: its change is still judged (default)").conflicts("now"))
      .addOption(new Option("--now", "the running turn is ended; its change is kept, not judged")),
  )
    .addHelpText("after", EXAMPLES)
    .action(async (asked: string | undefined, options: Options) => {
      exit(await steer(asked, { kind: "stop", when: options.now === true ? "now" : "after" }, options));
    });
}

const EXAMPLES = `
No work is lost either way; \`pawl resume\` reopens a stopped run.

Examples:
  pawl stop
  pawl stop r-20261115-k3f --now --wait
`;
