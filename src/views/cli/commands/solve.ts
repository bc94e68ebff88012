/** `pawl solve`: a question is answered by code that a model writes and that is run, judged and refined. */
import type { Command } from "commander";
import { solveHere } from "../../solve/solve-here.ts";
import { readGoal, withContext, type GoalWords } from "../goal.ts";
import { loudnessOf } from "../loudness.ts";
import { addSettings, flagsOf, SOLVE_DEFAULTS, SOLVE_SETTINGS } from "../setting-options.ts";
import type { SettingName } from "../../../config/settings.ts";

const MOST_USED = "Most used:";

interface Options {
  file?: string[];
  expect?: string;
  schema?: string;
  plan?: string;
  planOnly?: true;
  out?: string;
  save?: string;
  json?: true;
  dryRun?: true;
  quiet?: true;
  verbose?: true;
}

const WORDS: GoalWords = {
  noun: "question",
  example: 'for example: pawl solve "what is the median of column b?" --file data.csv',
  elsewhere: "put the data into a file: --file",
};

const USUAL: readonly SettingName[] = ["checks", "executor", "language", "model", "max-iterations", "max-cost"];

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .description(`${command.description()}\n\n  pawl solve "what is the median of column b?" --file data.csv`)
    .argument("[question]", "what shall be found out, a file that says it (.md, .txt), or - for stdin")
    .argument("[more...]", "- for stdin as context")
    .usage('"question" [-] [options]')
    .optionsGroup(MOST_USED)
    .option("--file <FILE>", "data for the code (may be repeated)", (word: string, before: string[] | undefined) => [
      ...(before ?? []),
      word,
    ])
    .option("--expect <TEXT>", "the answer is right when it is this; the model is not told")
    .option("--schema <FILE>", "the answer is JSON that fits this JSON Schema (a file, or the schema itself)");
  addSettings(command, USUAL, { group: MOST_USED, defaults: SOLVE_DEFAULTS });
  command
    .optionsGroup(MOST_USED)
    .option("--out <FOLDER>", "copy what the code made there, with the answer and a transcript")
    .option("--save <FILE>", "write the final program there")
    .option("--json", "one object on stdout: answer, outcome, code")
    .option("--plan-only", "print a plan, and end")
    .option("--plan <FILE>", "carry out this plan first, as --plan-only prints one")
    .option("--dry-run", "show what would be done; start nothing");
  addSettings(
    command,
    SOLVE_SETTINGS.filter((name) => !USUAL.includes(name)),
    { defaults: SOLVE_DEFAULTS },
  );
  command
    .optionsGroup("Output:")
    .option("-q, --quiet", "only the summary")
    .option("-v, --verbose", "every fact, and what the agent thinks")
    .addHelpText("after", EXAMPLES)
    .action(async (argument: string | undefined, more: string[], options: Options) => {
      const words = argument === undefined ? [] : [argument, ...more];
      const { goal, context } = await readGoal({ words, file: undefined }, WORDS);
      exit(
        await solveHere({
          question: withContext(goal, context),
          files: options.file ?? [],
          expect: options.expect,
          schema: options.schema,
          plan: options.plan,
          planOnly: options.planOnly === true,
          out: options.out,
          save: options.save,
          flags: flagsOf(command, SOLVE_SETTINGS),
          env: process.env,
          cwd: process.cwd(),
          json: options.json === true,
          dryRun: options.dryRun === true,
          loudness: loudnessOf(options),
        }),
      );
    });
}

const EXAMPLES = `
The answer is on stdout, everything else on stderr. With --check, --expect or
--schema an answer is verified (exit code 0); without, it is the model's word or
outputs that stay the same: claimed (exit code 1; 0 with --trust-promise).
stdin is the question where none is given, else context for it: its last 16 KiB.
A run goes on with \`pawl resume RUN\`; \`pawl show RUN --attempts\` tells how it went.

Examples:
  pawl solve "how many primes are there below 100000?" --expect 9592
  pawl solve "mean and median of price per city" --file sales.csv --json \\
    --schema '{"type":"object"}'
  pawl solve "plot temperature over time as a PNG" --file log.csv --out result \\
    --check "test -s chart.png"
  pawl solve "the shortest tour through these cities" --file cities.json \\
    --language python --code-time 2m --save tour.py
  pawl solve "clean, join and summarise these files" --file a.csv --file b.csv \\
    --plan-only > plan.yaml
`;
