/** One command with its options, arguments and help, as it is parsed, shown and completed. */
import { Command } from "commander";
import { leanStart } from "../../platform/lean-start.ts";
import { printAsIs } from "./output.ts";
import { COMMANDS, DRIVING } from "./table.ts";

export const isCommand = (name: string): name is keyof typeof COMMANDS => Object.hasOwn(COMMANDS, name);

export async function commandNamed(name: keyof typeof COMMANDS, exit: (code: number) => void): Promise<Command> {
  const { summary, load } = COMMANDS[name];
  const command = new Command(`pawl ${name}`)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .helpOption("-h, --help", "show this")
    .helpCommand(false)
    .exitOverride()
    .configureOutput({ outputError: () => undefined, writeOut: printAsIs });
  if (DRIVING.has(name)) leanStart();
  const { configure } = await load();
  configure(command, exit);
  return command;
}
