/**
 * What a newcomer types wrong, and what was probably meant: one line what is wrong, one what to type. Commands and flags
 * of other tools that people bring along are known by name; everything else is compared with what there is. Pure.
 */
import { nearest } from "../../config/nearest.ts";
import { UsageError } from "../../errors.ts";
import { lookUp } from "../../platform/look-up.ts";

/** Words for our commands from other tools. */
export const OTHER_NAMES: Readonly<Record<string, string>> = {
  start: "run",
  go: "run",
  exec: "run",
  new: "run",
  loop: "run",
  ralph: "run",
  ls: "runs",
  list: "runs",
  ps: "runs",
  log: "logs",
  tail: "watch",
  follow: "watch",
  attach: "watch",
  kill: "stop",
  abort: "stop",
  cancel: "stop",
  quit: "stop",
  continue: "resume",
  unpause: "resume",
  retry: "resume",
  say: "steer",
  tell: "steer",
  inject: "steer",
  undo: "restore",
  rollback: "restore",
  revert: "restore",
  reset: "restore",
  setup: "init",
  settings: "config",
  login: "doctor",
  test: "check",
  judge: "check",
  audit: "verify",
  recheck: "verify",
  limits: "budget",
  todo: "tasks",
  task: "tasks",
};

/** Flags that people know from elsewhere: what to type instead. */
export const OTHER_FLAGS: Readonly<Record<string, string>> = {
  "-p": 'the goal stands without a flag: pawl run "your goal"',
  "--print": 'the goal stands without a flag: pawl run "your goal"',
  "--prompt": 'the goal stands without a flag: pawl run "your goal"',
  "--goal": 'the goal stands without a flag: pawl run "your goal"',
  "--prompt-file": "-f FILE reads the goal from a file",
  "--dangerously-skip-permissions": "leave it out: pawl allows the agent its tools unless you say --on-permission ask",
  "--yolo": "leave it out: pawl allows the agent its tools unless you say --on-permission ask",
  "--full-auto": "leave it out: pawl allows the agent its tools unless you say --on-permission ask",
  "--permission-mode": "--permissions MODE",
  "--allowedTools": "--tools LIST",
  "--allowed-tools": "--tools LIST",
  "--mcp-config": "--mcp FILE",
  "--checks": '--check "COMMAND", once for each',
  "--test": '--check "COMMAND"',
  "--verify": '--check "COMMAND"',
  "--completion-promise": "--promise TEXT",
  "--completion-signal": "--promise TEXT",
  "--completion-threshold": "--confirmations N",
  "--prompt-template": "--template FILE",
  "--notes-file": "--notes FILE",
  "--knowledge-file": "--knowledge FILE",
  "--last-activity-timeout": "--idle-timeout TIME",
  "--stalling-timeout": "--idle-timeout TIME",
  "--error-threshold": "--max-errors N",
  "--stall-threshold": "--max-errors N --on-errors pause",
  "--no-stream": "--quiet",
  "--verbose-tools": "--verbose; each tool call is shown anyway",
  "--allow-all": "leave it out: pawl allows the agent its tools unless you say --on-permission ask",
  "--no-allow-all": "--on-permission ask, or deny",
  "--no-questions": "leave it out: nobody is asked unless you say --questions ask",
  "--no-plugins": "leave it out: the agent has no plugins but those of --plugin",
  "--disable-commits": "--no-commit",
  "--disable-branches": "--current-branch",
  "--git-branch-prefix": "`branch-prefix: …` in pawl.yaml",
  "--list-worktrees": "pawl worktrees list",
  "--cleanup-worktree": "pawl worktrees clean [NAME]",
  "--config": "settings are read from pawl.yaml in the repository; `pawl config show --origin` tells which counts",
  "--init-config": "pawl init",
  "--status": "pawl status [RUN]",
  "--steer": 'pawl steer [RUN] "your words"',
  "--add-context": 'pawl steer --next "your words"',
  "--clear-context": "pawl steer --cancel ID",
  "--list-tasks": "pawl tasks list",
  "--add-task": 'pawl tasks add "its text"',
  "--remove-task": "pawl tasks remove N",
  "--iterations": "--max-iterations N",
  "-n": "--max-iterations N",
  "--max-runs": "--max-iterations N",
  "--max-loops": "--max-iterations N",
  "--budget": "--max-cost USD",
  "--max-budget": "--max-cost USD",
  "--max-budget-usd": "--max-cost USD",
  "--timeout": "--max-time TIME for the run, --turn-timeout TIME for one turn",
  "--max-duration": "--max-time TIME",
  "--output-format": "--json prints the facts as JSON lines",
  "--resume": "pawl resume [RUN]",
  "--continue": "pawl resume [RUN]",
  "--follow": "pawl watch [RUN]",
  "--watch": "pawl watch [RUN]",
  "--yes": "leave it out: pawl asks nothing here",
  "-y": "leave it out: pawl asks nothing here",
  "--append-system-prompt":
    'what is meant for the agent stands behind --: pawl run "goal" -- --append-system-prompt "…"',
  "--system-prompt": 'what is meant for the agent stands behind --: pawl run "goal" -- --system-prompt "…"',
  "--add-dir": 'what is meant for the agent stands behind --: pawl run "goal" -- --add-dir DIR',
};

/** Where a subcommand is asked for that there is not. */
const OTHER_SUBCOMMANDS: Readonly<Record<string, string>> = {
  "config set": "settings are written into pawl.yaml by hand; `pawl init` makes one, `pawl config show` lists them",
  "config get": "pawl config show",
  "config list": "pawl config show",
  "config edit": "settings are written into pawl.yaml by hand; `pawl init` makes one",
  "worktrees add": 'pawl run "goal" --worktree=NAME makes one',
  "worktrees remove": "pawl worktrees clean NAME",
};

const MAX_SHOWN_CHARS = 60;
const quoted = (text: string): string =>
  JSON.stringify(text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`);

/** Undefined when the first word is a command, or there is none. */
export function wrongCommand(argv: readonly string[], commands: readonly string[]): UsageError | undefined {
  const [first, ...rest] = argv;
  if (first === undefined || commands.includes(first) || first === "help") return undefined;
  if (first.startsWith("-")) return wrongFirstFlag(first, rest);
  const meant = lookUp(OTHER_NAMES, first.toLowerCase()) ?? nearest(first, commands);
  // A goal without its command: several words, in quotes or not.
  const words = [first, ...rest.slice(0, rest.findIndex((word) => word.startsWith("-")) >>> 0)];
  const isGoal = /\s/.test(first.trim()) || (words.length > 1 && meant === undefined);
  if (isGoal)
    return new UsageError(`${quoted(words.join(" "))} is no command`, {
      hint: `did you mean: pawl run ${quoted(words.join(" "))}`,
    });
  return new UsageError(`there is no command ${quoted(first)}`, {
    hint:
      meant === undefined
        ? "`pawl --help` lists the commands"
        : `did you mean: pawl ${[meant, ...rest].map(shellWord).join(" ")}`,
  });
}

function wrongFirstFlag(flag: string, rest: readonly string[]): UsageError | undefined {
  if (["-h", "--help", "-V", "--version"].includes(flag)) return undefined;
  if (flag === "-v") return new UsageError("-v needs a command", { hint: "the version is: pawl --version" });
  const goal = rest.find((word) => !word.startsWith("-"));
  const hint =
    goal !== undefined && ["-p", "--print", "--prompt", "--goal"].includes(flag)
      ? `did you mean: pawl run ${quoted(goal)}`
      : commandInstead(flag);
  return new UsageError(`a command is missing before ${flag}`, { hint });
}

/** What other tools do by a flag is a command here. */
function commandInstead(flag: string): string {
  const elsewhere = OTHER_FLAGS[flag.split("=")[0] ?? flag];
  return elsewhere?.startsWith("pawl ") === true
    ? elsewhere
    : 'options stand behind the command, for example: pawl run "goal" --check "npm test"';
}

const shellWord = (word: string): string => (/^[\w./:=-]+$/.test(word) ? word : quoted(word));

export interface WrongLine {
  /** Of commander. */
  code: string;
  message: string;
}

export interface Around {
  /** The command, with its subcommand where there is one. */
  command: string;
  /** How it is called: its arguments. */
  usage: string;
  /** Its long flags. */
  flags: readonly string[];
  subcommands: readonly string[];
  /** Words beyond those it takes. */
  stray: readonly string[];
}

/** commander's complaint, said in our words. */
export function explained({ code, message }: WrongLine, around: Around): UsageError {
  const help = `\`pawl ${around.command} --help\` has examples`;
  const [named = ""] = /'[^']*'/.exec(message) ?? [];
  const word = named.slice(1, -1);
  switch (code) {
    case "commander.unknownOption":
      return new UsageError(`unknown option ${word}`, { hint: flagHint(word, around) ?? help });
    case "commander.optionMissingArgument": {
      const [flag = word, argument = "a value"] = (word.split(", ").at(-1) ?? word).split(" ");
      return new UsageError(`${flag} needs a value: ${argument.replaceAll(/^[<[]|[>\]]$/g, "")}`, {
        hint: flag === "--check" ? 'for example: --check "npm test"' : help,
      });
    }
    case "commander.missingArgument":
      return new UsageError(`\`pawl ${around.command}\` needs more words: ${missingWords(word, around)}`, {
        hint: `pawl ${around.command} ${around.usage}`,
      });
    case "commander.excessArguments":
      return new UsageError(`too many words: ${quoted(around.stray.join(" "))}`, {
        hint: `pawl ${around.command} ${around.usage}; put a text of several words in quotes`,
      });
    case "commander.unknownCommand": {
      const meant = nearest(word, around.subcommands);
      return new UsageError(`there is no \`pawl ${around.command} ${word}\``, {
        hint:
          OTHER_SUBCOMMANDS[`${around.command} ${word}`] ??
          (meant === undefined
            ? `there is: ${around.subcommands.map((name) => `pawl ${around.command} ${name}`).join(", ")}`
            : `did you mean: pawl ${around.command} ${meant}`),
      });
    }
    case "commander.conflictingOption": {
      const [one = "", other = ""] = [...message.matchAll(/'(--?[\w-]+)/g)].map(([, flag]) => flag ?? "");
      return new UsageError(`${one} contradicts ${other}`, { hint: "give one of them" });
    }
    default:
      return new UsageError(message.replace(/^error: /, "").split("\n")[0] ?? message, { hint: help });
  }
}

/** What must be there of the usage; an argument that takes all of the line has no name of its own. */
function missingWords(argument: string, { usage }: Around): string {
  const needed = usage.replaceAll(/\[[^\]]*\]/g, "").trim();
  return needed === "" ? argument : needed;
}

function flagHint(flag: string, { command, flags }: Around): string | undefined {
  const bare = flag.split("=")[0] ?? flag;
  const elsewhere = OTHER_FLAGS[bare];
  const near = nearest(bare, flags);
  if (near !== undefined && (elsewhere === undefined || near.startsWith(bare))) return `did you mean ${near}?`;
  if (elsewhere !== undefined) return elsewhere;
  return command === "run"
    ? `\`pawl run --help\` lists the options; what is meant for the agent stands behind --: -- ${bare}`
    : undefined;
}
