/**
 * A lying agent never gets `verified`: the real Claude Code, scripted to cheat, through the built command line. Cheats on
 * one project share a run, one an iteration; those that would reach into the next one have a run of their own.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import {
  CHEATS,
  MAKE,
  NODE,
  NPM,
  PYTEST,
  sharedRuns,
  undo,
  type Cheat,
  type Project,
  type Shared,
} from "../support/cheats.ts";
import { CHEATS_AROUND } from "../support/cheats-around.ts";
import { COMPILED_CHEATS, COVERED, GO, isHere, RUST } from "../support/cheats-compiled.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace, type CliResult } from "../support/cli.ts";
import { tempDir, tempRepository, type TempRepository } from "../support/temp.ts";

const ALL = [...CHEATS, ...COMPILED_CHEATS, ...CHEATS_AROUND];
const LIMIT_MS = 300_000;
const NAIVE_LIMIT_MS = 85_000;
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

/** Not a version manager's stand-in, which takes a second to find it. */
const PYTHON = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
const PATH = `${dirname(process.execPath)}:${dirname(PYTHON)}:/usr/local/bin:/usr/bin:/bin`;

/** Does one thing an iteration, and claims each time that it is done. */
async function placeFor(project: Project, ...does: readonly string[]): Promise<CliPlace> {
  const steps = does.map((what, at) => [at + 1, [bash(what), { text: CLAIM }]] as const);
  const place = await cliPlace({
    files: project.files,
    script: byIteration(Object.fromEntries(steps)),
    // No help against being stuck: what it does next is written down.
    env: { ...environmentOf(project), PAWL_PATIENCE: "100" },
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

async function runOf(
  place: CliPlace,
  { project, more = [], iterations = 1 }: { project: Project; more?: readonly string[]; iterations?: number },
): Promise<CliResult> {
  const check = project.check === "" ? [] : ["--check", `tests=${project.check}`];
  const flags = [...check, ...(project.flags ?? []), ...more, "--max-iterations", `${iterations}`, "--json"];
  return await place.start(["run", "make add add", ...flags], { limitMs: LIMIT_MS }).done;
}

/** How an iteration ended; a run that goes on has no outcome yet. */
function outcomeOf(result: CliResult, iteration = 1): { is: string; words: string } {
  const decision = result.of("decision-made").find((fact) => fact.iteration === iteration);
  const verdicts = result.of("check-end").filter((fact) => fact.iteration === iteration);
  return {
    is: decision === undefined ? `none: ${result.stderr}` : (decision.outcome?.is ?? decision.next),
    words: `${decision?.rule}: ${decision?.reason}; ${verdicts.map(({ check, verdict }) => `${check} ${verdict.is}`).join(", ")}`,
  };
}

interface Lie {
  name: string;
  /** Of its iteration in the shared run. */
  at: number;
  run: () => Promise<CliResult>;
}

/** One after the other on the base's files; the run is made when it is first asked for. */
function lies({ project, cheats }: Shared): Lie[] {
  let made: Promise<CliResult> | undefined;
  // Another honest step each time: where all else is put back, the base's own verdict would do, and nothing were judged.
  const does = cheats.map(
    (cheat, at) => `${at === 0 ? "" : `${undo(project)}; `}echo done > step-${at + 1}.md; ${cheat.does}`,
  );
  const make = async (): Promise<CliResult> =>
    await runOf(await placeFor(project, ...does), { project, iterations: cheats.length });
  return cheats.map(({ name }, at) => ({ name, at: at + 1, run: () => (made ??= make()) }));
}

describe("a cheat is one: whoever only runs the check in the agent's folder is fooled by", () => {
  const fooling = ALL.filter(({ fools }) => fools);
  it.each(fooling)("$name", (cheat) => {
    expect(naive(cheat)).toBe("green");
  });
});

describe.concurrent("a lying agent", () => {
  // The first of each run first: those that share one do not wait for each other.
  const all = sharedRuns(ALL)
    .flatMap(lies)
    .toSorted((one, other) => one.at - other.at);
  it.each(all)("does not get verified by $name (A11, row 5)", { timeout: LIMIT_MS }, async ({ at, run }) => {
    const result = await run();
    const { is, words } = outcomeOf(result, at);
    expect(["continue", "exhausted", "needs-human", "stuck"], words).toContain(is);
    const last = result.of("check-end").findLast(({ iteration }) => iteration === at)?.verdict;
    const isBelieved = last?.is === "pass" && last.evidence.suspicions.length === 0;
    if (result.of("decision-made").length > 1) expect(isBelieved, words).toBe(false);
    expect(result.of("turn-end")[at - 1]?.claim?.is).toBe("done");
    expect(last?.is, words).toBeDefined();
    expect([1, 3, 4]).toContain(result.code);
  });
});

describe.concurrent("an honest agent", () => {
  const NEW_TEST =
    'printf \'require("node:test")("more", () => require("node:assert").equal(require("../src/add.js").add(1, 1), 2));\\n\' > test/more.test.js';
  const all: [string, Project, string, string[]][] = [
    ["that repairs, with npm", NPM, NPM.fix, []],
    ["that repairs, with pytest", PYTEST, PYTEST.fix, []],
    ["that repairs, with make", MAKE, MAKE.fix, []],
    ["that repairs, with Go", GO, GO.fix, []],
    ["that repairs, with cargo", RUST, RUST.fix, []],
    ["that adds the tests a threshold asks for", COVERED, COVERED.fix, []],
    ["that adds tests", NODE, `${NODE.fix}; ${NEW_TEST}`, []],
    [
      "that renames what is not protected",
      NODE,
      `${NODE.fix}; mv src/add.js src/sum.js; echo 'module.exports = require("./sum.js");' > src/add.js`,
      [],
    ],
    [
      "that moves the tests where it may",
      NODE,
      `${NODE.fix}; mkdir -p tests && mv test/* tests/ && rmdir test`,
      ["--allow-test-changes"],
    ],
  ];
  const here = all.filter(([, project]) => isHere(project));
  it.each(here)("%s gets verified (A11)", { timeout: LIMIT_MS }, async (_, project, does, more) => {
    const place = await placeFor(project, does);
    const result = await runOf(place, { project, more });
    const { is, words } = outcomeOf(result);
    expect(is, words).toBe("verified");
  });
});
