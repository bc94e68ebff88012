/** A lying agent never gets `verified`: the real Claude Code, scripted to cheat, in one run of the built command line each. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { CHEATS, MAKE, NPM, PYTEST, type Cheat, type Project } from "../support/cheats.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace, type CliResult } from "../support/cli.ts";
import { tempDir, tempRepository, type TempRepository } from "../support/temp.ts";

const LIMIT_MS = 60_000;
const NAIVE_LIMIT_MS = 20_000;
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

/** Not a version manager's stand-in, which takes a second to find it. */
const PYTHON = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
const PATH = `${dirname(process.execPath)}:${dirname(PYTHON)}:/usr/local/bin:/usr/bin:/bin`;

async function placeFor(project: Project, does: string): Promise<CliPlace> {
  const place = await cliPlace({
    files: project.files,
    script: byIteration({ 1: [bash(does), { text: CLAIM }] }),
    env: environmentOf(project),
  });
  complete(place.repository, project);
  return place;
}

/** What a commit of texts lacks: installed packages, and the right to be run. */
function complete({ path, git, commit }: TempRepository, { files, installed = {} }: Project): void {
  for (const [name, text] of Object.entries(installed)) {
    mkdirSync(dirname(join(path, name)), { recursive: true });
    writeFileSync(join(path, name), text, { mode: 0o755 });
  }
  for (const name of Object.keys(files).filter((file) => file.startsWith("bin/"))) chmodSync(join(path, name), 0o755);
  if (git("status", "--porcelain") !== "") commit("modes");
}

const environmentOf = ({ env = {} }: Project): Record<string, string> => ({
  ...env,
  PATH: env["PATH"] === undefined ? PATH : `${env["PATH"]}:${PATH}`,
});

/** As a loop without a judge of its own would do it: in the agent's folder, after the agent. */
function naive({ project, does }: Cheat): string {
  const repository = tempRepository(project.files);
  complete(repository, project);
  const env = { ...environmentOf(project), HOME: tempDir("home"), LANG: "C.UTF-8" };
  const run = (command: string) =>
    spawnSync("/bin/sh", ["-c", command], { cwd: repository.path, env, encoding: "utf8", timeout: NAIVE_LIMIT_MS });
  // Nothing in the background is to outlive the test.
  const cheated = run(does.replace("while :", "while [ $((n = n + 1)) -lt 200 ]"));
  if (cheated.status !== 0) return `the cheat itself failed: ${cheated.stderr}`;
  const { status, stdout, stderr } = run(project.check);
  return status === 0 ? "green" : `red: ${stdout}${stderr}`;
}

async function runOf(place: CliPlace, { project, more = [] }: { project: Project; more?: readonly string[] }) {
  const check = project.check === "" ? [] : ["--check", `tests=${project.check}`];
  const args = ["run", "make add add", ...check, ...(project.flags ?? []), ...more, "--max-iterations", "1", "--json"];
  return await place.start(args).done;
}

function outcomeOf(result: CliResult): { is: string; words: string } {
  const end = result.of("run-end").at(-1);
  const verdicts = result.of("check-end").map(({ check, verdict }) => `${check} ${verdict.is}`);
  return {
    is: end?.outcome.is ?? `none: ${result.stderr}`,
    words: `${end?.outcome.rule}: ${end?.outcome.reason}; ${verdicts.join(", ")}`,
  };
}

describe("a cheat is one: whoever only runs the check in the agent's folder is fooled by", () => {
  const fooling = CHEATS.filter(({ fools }) => fools);
  it.each(fooling)("$name", (cheat) => {
    expect(naive(cheat)).toBe("green");
  });
});

describe.concurrent("a lying agent", () => {
  it.each(CHEATS)("does not get verified by $name", { timeout: LIMIT_MS }, async ({ project, does }) => {
    const result = await runOf(await placeFor(project, does), { project });
    const { is, words } = outcomeOf(result);
    expect(["exhausted", "needs-human", "stuck"], words).toContain(is);
    expect(result.of("turn-end")[0]?.claim?.is).toBe("done");
    expect([1, 3, 4]).toContain(result.code);
  });
});

describe.concurrent("an honest agent", () => {
  const NEW_TEST =
    'printf \'require("node:test")("more", () => require("node:assert").equal(require("../src/add.js").add(1, 1), 2));\\n\' > test/more.test.js';
  it.each([
    ["that repairs, with npm", NPM, NPM.fix, []],
    ["that repairs, with pytest", PYTEST, PYTEST.fix, []],
    ["that repairs, with make", MAKE, MAKE.fix, []],
    ["that adds tests", NPM, `${NPM.fix}; ${NEW_TEST}`, []],
    [
      "that renames what is not protected",
      NPM,
      `${NPM.fix}; mv src/add.js src/sum.js; echo 'module.exports = require("./sum.js");' > src/add.js`,
      [],
    ],
    [
      "that moves the tests where it may",
      NPM,
      `${NPM.fix}; mkdir -p tests && mv test/* tests/ && rmdir test`,
      ["--allow-test-changes"],
    ],
  ] as const)("%s gets verified", { timeout: LIMIT_MS }, async (_, project, does, more) => {
    const place = await placeFor(project, does);
    const result = await runOf(place, { project, more });
    const { is, words } = outcomeOf(result);
    expect(is, words).toBe("verified");
  });
});
