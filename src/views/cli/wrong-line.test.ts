import { describe, expect, it } from "vitest";
import type { UsageError } from "../../errors.ts";
import { COMMANDS } from "./table.ts";
import { explained, OTHER_FLAGS, OTHER_NAMES, wrongCommand, type Around } from "./wrong-line.ts";

const words = (error: UsageError | undefined): string => `${error?.message}: ${error?.hint}`;
const typed = (...argv: string[]): string => words(wrongCommand(argv, Object.keys(COMMANDS)));

describe("a first word that is no command", () => {
  it("is taken for a goal when it is several words", () => {
    expect(typed("fix the tests")).toBe('"fix the tests" is no command: did you mean: pawl run "fix the tests"');
    expect(typed("fix", "the", "tests", "--check", "x")).toContain('pawl run "fix the tests"');
  });

  it("is compared with what other tools call it, then with our names", () => {
    expect(typed("start", "do it")).toContain('did you mean: pawl run "do it"');
    expect(typed("ls")).toContain("pawl runs");
    expect(typed("kill", "r-1")).toContain("pawl stop r-1");
    expect(typed("continue")).toContain("pawl resume");
    expect(typed("tail")).toContain("pawl watch");
    expect(typed("stauts")).toContain("pawl status");
    expect(typed("xyzzy")).toContain("`pawl --help` lists the commands");
  });

  it("may be a flag of a command that is missing", () => {
    expect(typed("-p", "fix it")).toContain('did you mean: pawl run "fix it"');
    expect(typed("--check", "npm test")).toContain("options stand behind the command");
    expect(typed("--add-context", "mind the gap")).toContain('pawl steer --next "your words"');
    expect(typed("--status", "--tasks")).toContain("pawl status [RUN]");
    expect(wrongCommand(["--help"], [])).toBeUndefined();
  });

  it("knows every name it suggests", () => {
    const named = Object.values(OTHER_FLAGS).flatMap((words) => /^pawl (\w+)/.exec(words)?.[1] ?? []);
    expect(named).toEqual(expect.arrayContaining(["init", "worktrees"]));
    const suggested = [...Object.values(OTHER_NAMES), ...named];
    expect(suggested.filter((name) => !Object.hasOwn(COMMANDS, name))).toEqual([]);
    expect(Object.keys(OTHER_NAMES).filter((word) => Object.hasOwn(COMMANDS, word))).toEqual([]);
  });
});

describe("a complaint of the parser", () => {
  const around: Around = {
    command: "run",
    usage: '"goal"',
    flags: ["--check", "--max-cost", "--max-iterations", "--tools"],
    subcommands: [],
    stray: ["b", "c"],
  };
  const said = (code: string, message: string, more: Partial<Around> = {}): string =>
    words(explained({ code: `commander.${code}`, message }, { ...around, ...more }));

  it.each([
    ["--max-iteration", "did you mean --max-iterations?"],
    ["--dangerously-skip-permissions", "leave it out"],
    ["-p", "the goal stands without a flag"],
    ["--max-budget-usd", "--max-cost USD"],
    ["--allowedTools", "--tools LIST"],
    ["--resume", "pawl resume [RUN]"],
    ["--last-activity-timeout", "--idle-timeout TIME"],
    ["--no-allow-all", "--on-permission ask, or deny"],
    ["--fork-session", "what is meant for the agent stands behind --: -- --fork-session"],
  ])("about the option %s says what to type instead", (flag, hint) => {
    expect(said("unknownOption", `error: unknown option '${flag}'`)).toContain(hint);
  });

  it("about a missing value names what kind", () => {
    expect(said("optionMissingArgument", "error: option '--check <[NAME=]COMMAND>' argument missing")).toBe(
      '--check needs a value: [NAME=]COMMAND: for example: --check "npm test"',
    );
    expect(said("optionMissingArgument", "error: option '-f, --file <FILE>' argument missing")).toContain(
      "--file needs a value: FILE",
    );
  });

  it("about words that are missing names them as the usage does", () => {
    const missing = "error: missing required argument 'words'";
    expect(said("missingArgument", missing, { command: "memory show", usage: "[RUN] ID" })).toBe(
      "`pawl memory show` needs more words: ID: pawl memory show [RUN] ID",
    );
  });

  it("about other words says how the command is called", () => {
    expect(said("excessArguments", "error: too many arguments.")).toMatch(/^too many words: "b c": pawl run "goal"/);
    const config = { command: "config", subcommands: ["show", "schema"] };
    expect(said("unknownCommand", "error: unknown command 'set'", config)).toContain("pawl.yaml by hand");
    expect(said("unknownCommand", "error: unknown command 'shw'", config)).toContain("did you mean: pawl config show");
    expect(said("unknownCommand", "error: unknown command 'x'", config)).toContain(
      "there is: pawl config show, pawl config",
    );
  });
});
