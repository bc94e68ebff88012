/**
 * The command line: builds the program, loads the module of the command that was asked for and no other, and turns
 * errors into one line and an exit code. Human text goes to stderr, results to stdout.
 */
import { Command, CommanderError } from "commander";
import { exitCodeOfError, EXIT, render } from "../../errors.ts";
import { COMMANDS } from "./table.ts";

/** Returns the exit code. */
export async function main(argv: readonly string[]): Promise<number> {
  const verbose = argv.includes("--verbose");
  try {
    return await dispatch(argv);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    process.stderr.write(`${render(error, { verbose })}\n`);
    return exitCodeOfError(error);
  }
}

async function dispatch(argv: readonly string[]): Promise<number> {
  const asked = argv.find((word) => !word.startsWith("-"));
  let code: number = EXIT.ok;
  const program = new Command("pawl")
    .description("Runs coding agents in loops that only move forward: a goal, a way to check it, verified work.")
    .version(await version(), "-V, --version")
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "pawl: ")) })
    .addHelpText("after", HELP_FOOTER);
  for (const [name, { summary, load }] of Object.entries(COMMANDS)) {
    // The others are only needed for the help and for near misses.
    if (argv[0] !== name && Object.hasOwn(COMMANDS, argv[0] ?? "")) continue;
    const command = program.command(name).summary(summary).description(summary).exitOverride();
    if (name !== asked) continue;
    const { configure } = await load();
    configure(command, (result) => {
      code = result;
    });
  }
  if (argv.length === 0) {
    program.outputHelp({ error: true });
    return EXIT.usage;
  }
  await program.parseAsync(argv, { from: "user" });
  return code;
}

async function version(): Promise<string> {
  const { VERSION } = await import("../../version.ts");
  return VERSION;
}

const HELP_FOOTER = `
Exit codes:
  0  verified (or claimed, with --trust-promise)   1  ended unverified: claimed, stuck, stopped
  2  wrong usage, or refused before start          3  a limit was reached
  4  needs a person, or paused                     5  failed: agent, login, machine, journal
  130, 143  ended by a signal

Example:
  pawl run "make the tests pass" --check "npm test" --max-cost 5
`;
