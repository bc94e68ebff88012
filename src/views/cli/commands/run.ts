/** `pawl run`: a goal, checks, limits; drives an agent until the evidence says it is done. */
import type { Command } from "commander";
import { SETTINGS, type Flags, type Setting, type SettingName } from "../../../config/settings.ts";
import { readGoal } from "../goal.ts";
import { loudnessOf } from "../loudness.ts";
import { runHere, type RunRequest } from "../run-here.ts";
import { addPlaceOptions, placeFlags, type PlaceOptions } from "../place-options.ts";
import { addSettings, flagsOf, RUN_SETTINGS } from "../setting-options.ts";

const MOST_USED = "Most used:";

interface Options extends PlaceOptions {
  file?: string;
  json?: true;
  dryRun?: true;
  quiet?: true;
  verbose?: true;
}

/** What most runs are started with: they stand first in the help. */
const USUAL: readonly SettingName[] = ["checks", "max-iterations", "max-cost", "max-time", "model", "tasks"];

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .description(`${command.description()}\n\n  pawl run "make the tests pass" --check "npm test" --max-cost 5`)
    .argument("[goal]", "what shall be reached, a file that says it (.md, .txt), or - for stdin")
    .argument("[agent-arguments...]", "after --: passed on to the agent")
    .usage('"goal" [-] [options] [-- agent arguments]')
    .optionsGroup(MOST_USED)
    .option("-f, --file <FILE>", "read the goal from a file, or - for stdin");
  addSettings(command, USUAL, { group: MOST_USED });
  command
    .optionsGroup(MOST_USED)
    .option("--worktree [NAME]", "work in a worktree of its own (--worktree=NAME)")
    .option("--dry-run", "show everything that would be done; start nothing")
    .option("--json", "facts as JSON lines on stdout");
  addSettings(
    command,
    RUN_SETTINGS.filter((name) => !USUAL.includes(name)),
  );
  addPlaceOptions(command);
  command
    .optionsGroup("Output:")
    .option("-q, --quiet", "only the summary")
    .option("-v, --verbose", "every fact, and what the agent thinks")
    .addHelpText("after", EXAMPLES)
    .action(async (goal: string | undefined, rest: string[], options: Options) => {
      const words = goal === undefined ? [] : [goal, ...rest];
      const { json, dryRun } = options;
      exit(
        await runHere({
          ...(await asked(command, { words, options })),
          env: process.env,
          cwd: process.cwd(),
          json: json === true,
          dryRun: dryRun === true,
          loudness: loudnessOf(options),
        }),
      );
    });
}

type Asked = Pick<RunRequest, "goal" | "goalFile" | "context" | "flags" | "worktree">;

async function asked(command: Command, { words, options }: { words: string[]; options: Options }): Promise<Asked> {
  const settings = flagsOf(command, RUN_SETTINGS);
  const { own, forAgent } = splitAtDashes(words);
  const { argument, worktree, taken } = unswallow(command, { goal: own[0], options });
  const flags: Flags = {
    ...settings,
    ...taken,
    ...placeFlags({ ...options, ...(worktree === undefined ? {} : { worktree }) }),
    ...(forAgent.length === 0 ? {} : { "agent-args": forAgent }),
  };
  const given = [...(argument === undefined ? [] : [argument]), ...own.slice(1)];
  return { ...(await readGoal({ words: given, file: options.file })), flags, worktree };
}

/** `--worktree "fix it"` and `--notes "fix it"` take the goal for a name; a name has no blanks. */
function unswallow(
  command: Command,
  { goal, options }: { goal: string | undefined; options: Options },
): { argument: string | undefined; worktree: string | true | undefined; taken: Flags } {
  const { worktree, file } = options;
  if (goal !== undefined || file !== undefined) return { argument: goal, worktree, taken: {} };
  const isGoal = (word: unknown): word is string => typeof word === "string" && /\s/.test(word);
  if (isGoal(worktree)) return { argument: worktree, worktree: true, taken: {} };
  for (const name of RUN_SETTINGS) {
    const { bare }: Setting = SETTINGS[name];
    const word = bare === undefined ? undefined : flagsOf(command, [name])[name];
    if (isGoal(word)) return { argument: word, worktree, taken: { [name]: bare } };
  }
  return { argument: goal, worktree, taken: {} };
}

/** commander drops the `--`; what stood behind it is as many words as the command line has there. */
function splitAtDashes(words: string[]): { own: string[]; forAgent: string[] } {
  const dashes = process.argv.indexOf("--");
  const own = dashes < 0 ? words.length : words.length - (process.argv.length - dashes - 1);
  return { own: words.slice(0, own), forAgent: words.slice(own) };
}

const EXAMPLES = `
Every setting can also stand in pawl.yaml or as PAWL_… in the environment;
\`pawl config show --origin\` tells which counts, \`pawl init\` writes a pawl.yaml.
Times: 90s, 30m, 1h30m; plain numbers are seconds. Money is US dollars.
Counts: 20, 120k, 2M. --max-turns limits what pawl asks of the agent;
--agent-max-turns is the agent's own limit within one turn.
stdin is the goal where none is given, else context for it: its last 16 KiB. A
pipe that nothing comes from is waited for 3 s; with - behind the goal, to its end.

Examples:
  pawl run "make the tests pass" --check "npm test"
  pawl run -f goal.md --check "tests=npm test" --check "lint=npm run lint"
  pawl run "port the parser to the new API" --check "make test" --worktree
  echo "fix the build" | pawl run --check "npm run build" --until-green
  npm test 2>&1 | pawl run "fix this" - --check "npm test"
  pawl run goal.md --check "npm test" --notes --knowledge --dry-run
  pawl run "build the parser" --tasks=TASKS.md --check "npm test"
  pawl run "tidy up" --check "npm test" --dry-run
  pawl run "fix it" --check "npm test" -- --append-system-prompt "Be brief."
`;
