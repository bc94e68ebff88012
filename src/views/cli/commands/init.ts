/** `pawl init`: looks at the repository, asks at most two questions, writes a commented `pawl.yaml`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { PROJECT_FILE } from "../../../config.ts";
import { EXIT, UsageError } from "../../../errors.ts";
import { writeDurably } from "../../../platform/files.ts";
import { configFile, SCHEMA, type Chosen } from "../init/config-file.ts";
import { missingFor } from "../init/available.ts";
import { checkName, commandLine, detect, type Found } from "../init/detect.ts";
import { filesOf } from "../init/files.ts";
import { nextSteps } from "../init/next-steps.ts";
import { note, print } from "../output.ts";
import { repositoriesOf } from "../run-id.ts";

const FILE_MODE = 0o644;

interface Options {
  yes?: true;
  force?: true;
  check?: string;
  model?: string;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .option("-y, --yes", "ask nothing, take what was found")
    .option("--check <COMMAND>", "the command that judges the work")
    .option("--model <NAME>", "the agent's model")
    .option("--force", `write over a ${PROJECT_FILE} that is there`)
    .addHelpText("after", EXAMPLES)
    .action(async (options: Options) => {
      await init(options);
      exit(EXIT.ok);
    });
}

async function init(options: Options): Promise<void> {
  const [repository] = repositoriesOf(process.cwd());
  if (repository === undefined)
    throw new UsageError("this is not a git repository", { hint: "pawl works in one: git init" });
  const path = join(repository, PROJECT_FILE);
  if (options.force !== true && existsSync(path))
    throw new UsageError(`${path} is there already`, { hint: "edit it, or write over it with --force" });
  const { found, setups } = detect(filesOf(repository));
  const here = { repository, env: process.env };
  const looked = found.map((one) => {
    const missing = missingFor(one, here);
    return missing === undefined ? one : { ...one, missing };
  });
  const asked = await choose(looked, options);
  const needsSetup = setups.some(({ makes, folder = "." }) => !existsSync(join(repository, folder, makes)));
  const hasSchema = existsSync(join(repository, SCHEMA));
  const chosen: Chosen = { ...asked, setups, needsSetup, hasSchema };
  writeDurably(path, configFile(chosen), FILE_MODE);
  tell(path, chosen);
}

type Looked = Found & { missing?: string };

/** The tests judge; of several projects those of each. */
async function choose(
  looked: readonly Looked[],
  options: Options,
): Promise<Pick<Chosen, "checks" | "model" | "others">> {
  const usable = looked.filter(({ missing }) => missing === undefined);
  // Where tests cannot be run, nothing weaker takes their place unasked.
  const first = usable.filter(({ purpose }) => purpose === looked[0]?.purpose);
  const isAsked = options.yes !== true && process.stdin.isTTY && process.stderr.isTTY;
  const said = isAsked ? await ask(looked, { options, first }) : { check: options.check, model: options.model };
  const same = said.check === undefined ? first : usable.filter((one) => commandLine(one) === said.check);
  const own = said.check === undefined || same.length > 0 ? [] : [{ name: "check", command: said.check }];
  return {
    checks: [...own, ...same.map((one) => ({ name: checkName(one), command: commandLine(one) }))],
    model: said.model,
    others: looked.filter((one) => !same.includes(one)),
  };
}

async function ask(
  looked: readonly Looked[],
  { options, first }: { options: Options; first: readonly Found[] },
): Promise<{ check: string | undefined; model: string | undefined }> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (const one of looked)
      note(
        `found ${one.purpose}: ${commandLine(one)} (${one.from}${one.missing === undefined ? "" : `; ${one.missing} is not here`})`,
      );
    const proposed = first.map(commandLine).join(", ");
    const check =
      options.check ??
      (await answer(lines, `Which command proves the work? [${proposed === "" ? "none" : proposed}] `));
    const model = options.model ?? (await answer(lines, "Which model? [the agent's own default] "));
    return { check, model };
  } finally {
    lines.close();
  }
}

async function answer(lines: { question(text: string): Promise<string> }, text: string): Promise<string | undefined> {
  const said = (await lines.question(text)).trim();
  return said === "" ? undefined : said;
}

function tell(path: string, { checks, others, setups, needsSetup }: Chosen): void {
  print(path);
  if (checks.length === 0) note("no check was found: put a command under `checks`");
  for (const { command } of checks) note(`check: ${command}`);
  const usable = others.filter(({ missing }) => missing === undefined).map(commandLine);
  if (usable.length > 0) note(`also found, left as comments: ${usable.join(", ")}`);
  for (const one of others)
    if (one.missing !== undefined) note(`left out, for ${one.missing} is not here: ${commandLine(one)}`);
  if (needsSetup) note(`dependencies are not here: made by ${setups.map(commandLine).join(" && ")}`);
  note(nextSteps({ hasChecks: checks.length > 0 }));
}

const EXAMPLES = `
Commands are found in package.json, pyproject.toml, go.mod, Cargo.toml, pom.xml,
build.gradle and Makefile, also of workspaces; where the top is no project, in the
folders of it. What this machine lacks the program for is left out. Nothing is
asked with --yes or without a terminal.

Examples:
  pawl init
  pawl init --yes
  pawl init --check "make test" --model claude-opus-5-5 --force
`;
