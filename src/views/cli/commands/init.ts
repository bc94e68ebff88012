/** placeholder while others are written */
import type { Command } from "commander";
export function configure(command: Command, exit: (code: number) => void): void {
  command.action(() => exit(0));
}
