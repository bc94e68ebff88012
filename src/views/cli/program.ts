/**
 * The command line: builds the program, loads the module of the command that was asked for and no other, and turns
 * errors into one line and an exit code. Human text goes to stderr, results to stdout.
 */
import { CommanderError, type Command } from "commander";
import { exitCodeOfError, EXIT, render, UsageError } from "../../errors.ts";
import { commandNamed, isCommand } from "./command.ts";
import { print, printAsIs } from "./output.ts";
import { COMMANDS } from "./table.ts";

/** Asked by shells at every press of the tab key; not for people. */
const COMPLETE = "complete";

/** Returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const verbose = argv.includes("--verbose") || argv.includes("-v");
  try {
    if (argv[0] === COMPLETE) return await complete(argv.slice(1));
    refuseNowhere();
    return await dispatch(argv[0] === "help" ? [...argv.slice(1, 2), "--help"] : argv);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    process.stderr.write(`${render(error, { verbose })}\n`);
    return exitCodeOfError(error);
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const [name] = argv;
  if (name === undefined) {
    process.stderr.write((await import("./help.ts")).overview());
    return EXIT.usage;
  }
  if (name === "-h" || name === "--help") {
    printAsIs((await import("./help.ts")).overview());
    return EXIT.ok;
  }
  if (name === "-V" || name === "--version") {
    print((await import("../../version.ts")).VERSION);
    return EXIT.ok;
  }
  if (!isCommand(name)) {
    const { wrongCommand } = await import("./wrong-line.ts");
    throw wrongCommand(argv, Object.keys(COMMANDS)) ?? new UsageError(`there is no command ${name}`);
  }
  let code: number = EXIT.ok;
  const command = await commandNamed(name, (result) => {
    code = result;
  });
  try {
    await command.parseAsync(argv.slice(1), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode !== 0) throw await saidBetter(error, { command, argv });
    throw error;
  }
  return code;
}

async function saidBetter(
  error: CommanderError,
  { command, argv }: { command: Command; argv: readonly string[] },
): Promise<Error> {
  // A group of commands without one: its help was shown.
  if (error.code === "commander.help") return error;
  const sub = command.commands.find((one) => one.name() === argv[1]);
  const at = sub ?? command;
  const { explained } = await import("./wrong-line.ts");
  return explained(error, {
    command: sub === undefined ? (argv[0] ?? "") : `${argv[0]} ${sub.name()}`,
    usage: at.usage().replace("[options] ", ""),
    flags: at.options.flatMap(({ long }) => long ?? []),
    stray: at.args.slice(at.registeredArguments.length),
    subcommands: command.commands.map((one) => one.name()),
  });
}

/** A shell may stand in a directory that was removed. */
function refuseNowhere(): void {
  try {
    process.cwd();
  } catch (cause) {
    throw new UsageError("the current directory does not exist any more", { hint: "cd to one that does", cause });
  }
}

/** Whatever goes wrong, a shell that completes must not be disturbed. */
async function complete(words: readonly string[]): Promise<number> {
  try {
    const { completions } = await import("./complete.ts");
    const found = await completions(words);
    if (found.length > 0) process.stdout.write(`${found.join("\n")}\n`);
  } catch {
    // Nothing to offer.
  }
  return EXIT.ok;
}
