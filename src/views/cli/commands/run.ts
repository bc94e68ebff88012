/** `pawl run`: a goal, checks, limits; drives an agent until the evidence says it is done. */
import type { Command } from "commander";
import { SETTING_NAMES, SETTINGS, type Setting, type SettingName } from "../../../config/settings.ts";
import { UsageError } from "../../../errors.ts";
import type { Loudness } from "../../terminal.ts";
import { readGoal } from "../goal.ts";
import { runHere, type RunRequest } from "../run-here.ts";
import { addSettings, flagsOf, type Flags } from "../setting-options.ts";

interface Options {
  file?: string;
  /** false for --no-commit. */
  commit: boolean;
  currentBranch?: true;
  worktree?: string | true;
  json?: true;
  dryRun?: true;
  quiet?: true;
  verbose?: true;
}

/** Said with switches of their own. */
const BY_SWITCH: ReadonlySet<SettingName> = new Set(["commit", "agent-args"]);
const OFFERED = SETTING_NAMES.filter((name) => !BY_SWITCH.has(name));

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .argument("[goal]", "what shall be reached, a file that says it (.md, .txt), or - for stdin")
    .argument("[agent-arguments...]", "after --: passed on to the agent")
    .usage('"goal" [options] [-- agent arguments]')
    .option("-f, --file <FILE>", "read the goal from a file, or - for stdin");
  addSettings(command, OFFERED);
  command
    .optionsGroup("Git:")
    .option("--no-commit", "leave the work in the tree, commit nothing")
    .option("--current-branch", "commit on the branch you are on")
    .option("--worktree [NAME]", "work in a worktree of its own (write --worktree=NAME)")
    .optionsGroup("Output:")
    .option("--json", "facts as JSON lines on stdout")
    .option("--dry-run", "show settings, first prompt, checks and limits; start nothing")
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

type Asked = Pick<RunRequest, "goal" | "goalFile" | "flags" | "worktree">;

async function asked(command: Command, { words, options }: { words: string[]; options: Options }): Promise<Asked> {
  const { own, forAgent } = splitAtDashes(words);
  const [goal, ...stray] = own;
  if (stray.length > 0) {
    throw new UsageError(`too many words: ${JSON.stringify(stray.join(" "))}`, { hint: "put the goal in quotes" });
  }
  const { argument, worktree, taken } = unswallow(command, { goal, options });
  const commit = commitPolicy(options, worktree);
  const flags: Flags = {
    ...flagsOf(command, OFFERED),
    ...taken,
    ...(commit === undefined ? {} : { commit }),
    ...(forAgent.length === 0 ? {} : { "agent-args": forAgent }),
  };
  return { ...(await readGoal({ argument, file: options.file })), flags, worktree };
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
  for (const name of OFFERED) {
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

function commitPolicy({ commit, currentBranch }: Options, worktree: string | true | undefined): string | undefined {
  if (!commit && currentBranch === true) throw new UsageError("--no-commit contradicts --current-branch");
  if (worktree !== undefined && (currentBranch === true || !commit)) {
    throw new UsageError(`--worktree contradicts ${commit ? "--current-branch" : "--no-commit"}`, {
      hint: "a worktree has a branch of its own",
    });
  }
  if (!commit) return "none";
  return currentBranch === true ? "current" : undefined;
}

export function loudnessOf({ quiet, verbose }: { quiet?: true; verbose?: true }): Loudness {
  if (quiet === true && verbose === true) throw new UsageError("--quiet contradicts --verbose");
  if (quiet === true) return "quiet";
  return verbose === true ? "verbose" : "normal";
}

const EXAMPLES = `
A setting can also stand in pawl.yaml or as PAWL_… in the environment; \`pawl config show --origin\` tells which counts.
Times: 90s, 30m, 1h30m; plain numbers are seconds. Money is US dollars. Counts: 20, 120k, 2M.
--max-turns limits what pawl asks of the agent; --agent-max-turns is the agent's own limit within one turn.

Examples:
  pawl run "make the tests pass" --check "npm test"
  pawl run -f goal.md --check "tests=npm test" --check "lint=npm run lint" --max-cost 5 --max-time 2h
  pawl run "port the parser to the new API" --check "make test" --worktree
  echo "fix the build" | pawl run - --check "npm run build" --until-green --json
  pawl run goal.md --check "npm test" --notes --knowledge --template prompt.md --dry-run
  pawl run "fix the login" --check "npm test" -- --append-system-prompt "Be brief."
`;
