/** `pawl demo`: the whole thing in a few seconds, with the real Claude Code on a scripted model. No key, no network. */
import type { Command } from "commander";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Environment } from "../../../compose.ts";
import { startStandin } from "../../../standin/server.ts";
import { DEMO_CHECK, DEMO_GOAL, demoScript, makeProject } from "../demo-project.ts";
import { runHere } from "../run-here.ts";

const DEMO_KEY = "demo-key";

interface Options {
  keep: boolean;
  json?: true;
}

export function configure(command: Command, exit: (code: number) => void): void {
  command
    .option("--keep", "keep the folder with the repository and the run", true)
    .option("--no-keep", "remove it at the end")
    .option("--json", "facts as JSON lines on stdout")
    .addHelpText("after", EXAMPLES)
    .action(async (options: Options) => {
      exit(await demo(options));
    });
}

async function demo({ keep, json }: Options): Promise<number> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-demo-")));
  const repository = join(root, "slug");
  const standin = await startStandin({ script: demoScript(repository), apiKey: DEMO_KEY });
  const env = demoEnvironment(root, standin.url);
  try {
    makeProject(repository, env);
    process.stderr.write(`${INTRODUCTION}\n`);
    const code = await runHere({
      goal: DEMO_GOAL,
      flags: { checks: [DEMO_CHECK] },
      env,
      cwd: repository,
      worktree: undefined,
      json: json === true,
      dryRun: false,
      loudness: "normal",
    });
    process.stderr.write(keep ? whereToLook(root, repository) : "");
    return code;
  } finally {
    await standin.close();
    if (!keep) rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Nothing of the user's settings and login, and this Node for the tests. */
function demoEnvironment(root: string, url: string): Environment {
  const home = join(root, "home");
  mkdirSync(home);
  const { PATH = "", LANG, TERM, TMPDIR } = process.env;
  return {
    PATH: `${dirname(process.execPath)}${delimiter}${PATH}`,
    LANG,
    TERM,
    TMPDIR,
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    PAWL_HOME: join(root, "pawl"),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: DEMO_KEY,
  };
}

const INTRODUCTION = `The agent is the real Claude Code; its model is a script on this machine: a first attempt that fails the
check, a claim that is not true, then the solution. Nothing leaves this machine, and nothing is paid: the cost shown
is what a model would have taken.
`;

/** How to call pawl from anywhere: in a checkout it is not on the PATH. */
function ownCommand(): string {
  const dirs = (process.env["PATH"] ?? "").split(delimiter);
  return dirs.some((dir) => existsSync(join(dir, "pawl"))) ? "pawl" : `"${process.execPath}" "${process.argv[1]}"`;
}

function whereToLook(root: string, repository: string): string {
  const pawl = `PAWL_HOME=${join(root, "pawl")} ${ownCommand()}`;
  return `look
  cd ${repository} && git log --stat
  ${pawl} show --iteration 2           # the claim that was refused
  ${pawl} show --iteration 3 --prompt  # the evidence it was sent back with
  ${pawl} logs
(the model was a script; with your own login it is: pawl run "goal" --check "npm test")
`;
}

const EXAMPLES = `
Examples:
  pawl demo
  pawl demo --no-keep
`;
