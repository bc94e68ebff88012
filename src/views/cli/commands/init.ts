/** `pawl init`: looks at the repository, asks at most two questions, writes a commented `pawl.yaml`. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { PROJECT_FILE } from "../../../config.ts";
import { EXIT, UsageError } from "../../../errors.ts";
import { writeDurably } from "../../../platform/files.ts";
import { configFile, type Chosen } from "../init/config-file.ts";
import { detect, type Files, type Found } from "../init/detect.ts";
import { note, print } from "../output.ts";
import { repositoriesOf } from "../run-id.ts";

const MAX_FILE_BYTES = 1024 * 1024;
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
  const found = detect(filesOf(repository));
  const chosen = await choose(found, options);
  writeDurably(path, configFile(chosen), FILE_MODE);
  tell(path, chosen);
}

function filesOf(repository: string): Files {
  return {
    names: new Set(readdirSync(repository)),
    read(name) {
      const file = join(repository, name);
      return statSync(file).size <= MAX_FILE_BYTES ? readFileSync(file, "utf8") : undefined;
    },
  };
}

async function choose(found: readonly Found[], options: Options): Promise<Chosen> {
  const first = found[0]?.command;
  const isAsked = options.yes !== true && process.stdin.isTTY && process.stderr.isTTY;
  if (!isAsked) return { check: options.check ?? first, model: options.model, found };
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    for (const { purpose, command, from } of found) note(`found ${purpose}: ${command} (${from})`);
    const check =
      options.check ?? (await answer(lines, `Which command proves the work? [${first ?? "none"}] `)) ?? first;
    const model = options.model ?? (await answer(lines, "Which model? [the agent's own default] "));
    return { check, model, found };
  } finally {
    lines.close();
  }
}

async function answer(lines: { question(text: string): Promise<string> }, text: string): Promise<string | undefined> {
  const said = (await lines.question(text)).trim();
  return said === "" ? undefined : said;
}

function tell(path: string, { check, found }: Chosen): void {
  print(path);
  note(check === undefined ? "no check was found: put a command under `checks`" : `check: ${check}`);
  const others = found.filter(({ command }) => command !== check).map(({ command }) => command);
  if (others.length > 0) note(`also found, left as comments: ${others.join(", ")}`);
  note(`Next
  git add ${PROJECT_FILE} && git commit -m "Settings for pawl"   # a run starts from a clean tree
  pawl run "your goal"`);
}

const EXAMPLES = `
Commands are found in package.json, pyproject.toml, go.mod, Cargo.toml, pom.xml,
build.gradle and Makefile. Nothing is asked with --yes or without a terminal.

Examples:
  pawl init
  pawl init --yes
  pawl init --check "make test" --model claude-opus-5-5 --force
`;
