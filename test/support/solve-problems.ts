/** The set of problems through the built `pawl solve`, with either executor, on one stand-in model that errs first. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openState } from "../../src/compose.ts";
import type { Fact, FactOf } from "../../src/events.ts";
import { MAX_FAILURE_CHARS } from "../../src/loop/explain-execution.ts";
import type { Step } from "../../src/standin/script.ts";
import { startStandin, type Standin } from "../../src/standin/server.ts";
import type { Code } from "../../src/ports/executor.ts";
import { cliPlace } from "./cli.ts";
import { PROBLEMS } from "./problems/all.ts";
import { PROBLEM_LIMITS, problemFile, type Attempt, type Problem } from "./problems/problem.ts";

export type Where = "local" | "claude";
const KEY = "test-key-of-the-stand-in";
const MB = 1024 ** 2;
const { timeoutMs, memoryBytes, processes, diskBytes, outputBytes } = PROBLEM_LIMITS;
const LIMITS = [
  ["--code-time", `${timeoutMs / 1_000}s`],
  ["--code-memory", `${memoryBytes / MB}MB`],
  ["--code-processes", String(processes)],
  ["--code-disk", `${diskBytes / MB}MB`],
  ["--code-output", `${outputBytes / 1_024}KB`],
].flat();

export interface Solved {
  problem: string;
  where: Where;
  /** Empty when everything is as it should be. */
  wrongs: string[];
}

export interface ProblemRoom {
  solve(problem: Problem, where: Where): Promise<Solved>;
}

/** Prompts of each run, in order: by question and executor, which no two runs share. */
export async function problemRoom(standins: Standin[]): Promise<ProblemRoom> {
  const prompts = new Map<string, string[]>();
  const standin = await startStandin({
    apiKey: KEY,
    runCode: true,
    script(request) {
      const prompt = request.turns
        .filter(({ role }) => role === "user")
        .flatMap(({ texts }) => texts)
        .join("\n");
      const problem = PROBLEMS.find(({ question }) => prompt.includes(question));
      if (problem === undefined) return { text: "which problem?" };
      const where = prompt.includes("code execution tool") ? "claude" : "local";
      const key = `${where} ${problem.name}`;
      const seen = [...(prompts.get(key) ?? []), prompt];
      prompts.set(key, seen);
      return where === "local" ? proposal(problem, seen.length - 1) : inContainer(problem, seen.length - 1);
    },
  });
  standins.push(standin);
  const place = await cliPlace({ env: { ANTHROPIC_BASE_URL: standin.url, ANTHROPIC_API_KEY: KEY } });
  return {
    async solve(problem, where) {
      const out = join(place.home, `${where}-${problem.name}`);
      mkdirSync(out, { recursive: true });
      const files = problem.files.flatMap((name) => ["--file", problemFile(name)]);
      const args = ["solve", problem.question, ...files, "--executor", where, "--expect", problem.answer];
      const more = ["--model", "claude-opus-5-5", "--out", out, "--save", join(out, "final"), "-q", ...LIMITS];
      const result = await place.start([...args, ...more]).done;
      const run = /^(r-\S+) /m.exec(result.stderr)?.[1] ?? "";
      const facts = run === "" ? [] : await factsOf(place.env, run);
      const told = prompts.get(`${where} ${problem.name}`) ?? [];
      const wrongs = [
        ...(result.code === 0 ? [] : [`exit ${result.code}: ${result.stderr}`]),
        ...(result.stdout.trimEnd() === problem.answer ? [] : [`answered ${JSON.stringify(result.stdout)}`]),
        ...problem.attempts.flatMap((attempt, at) => wrongOf(attempt, { where, prompt: told[at + 1] ?? "" })),
        ...executionWrongs(problem, facts),
        ...pictureWrongs(problem, out),
        ...(existsSync(join(out, "final")) ? [] : ["the final program was not saved"]),
      ];
      return { problem: problem.name, where, wrongs };
    },
  };
}

async function factsOf(env: Readonly<Record<string, string>>, run: string): Promise<Fact[]> {
  const state = openState(env);
  try {
    return await state.journal.read(run);
  } finally {
    state.close();
  }
}

function proposal({ attempts, right }: Problem, at: number): Step {
  const { language, text } = attempts[at] ?? right;
  return { answer: { do: "run", note: at < attempts.length ? "a first try" : "mended", language, code: text } };
}

/** The container knows Python and shell; programs of other languages are started by the shell. */
function asContainerCode({ language, text }: Code): { language: "python" | "shell"; code: string } {
  if (language === "python" || language === "shell") return { language, code: text };
  const file = language === "typescript" ? "program.ts" : "program.js";
  return {
    language: "shell",
    code: `cat > ${file} <<'END_OF_PROGRAM'\n${text}END_OF_PROGRAM\nnode ${file}\nstatus=$?\nrm ${file}\nexit $status\n`,
  };
}

/** What the real sandbox says where a limit is met: those are its own, and not for a test to reach. */
const LIMIT_RESULTS: Partial<Record<Attempt["errs"], object>> = {
  timeout: { error: "execution_time_exceeded" },
  memory: { stderr: "MemoryError", exitCode: 1 },
  killed: { stderr: "Killed", exitCode: 137 },
  disk: { stderr: "OSError: [Errno 28] No space left on device", exitCode: 1 },
  output: { error: "output_file_too_large" },
};

function inContainer({ attempts, right, answer }: Problem, at: number): Step {
  const attempt = attempts[at];
  const code = asContainerCode(attempt ?? right);
  const result = attempt === undefined ? undefined : LIMIT_RESULTS[attempt.errs];
  const ran = result === undefined ? { ...code, run: true } : { ...code, result };
  const said = attempt === undefined ? answer : `not known yet (${at})`;
  return {
    execute: [ran],
    answer: { do: "answer", note: attempt === undefined ? "mended" : "a first try", answer: said },
  };
}

/** The model is told what was wrong, in so many words and no more. */
function wrongOf({ errs, tells }: Attempt, { where, prompt }: { where: Where; prompt: string }): string[] {
  if (prompt === "") return [`the model was never told of: ${errs}`];
  if (errs === "wrong-answer")
    return prompt.includes("it is not the right answer") ? [] : ["not told that it is wrong"];
  if (where === "claude" && LIMIT_RESULTS[errs] !== undefined) return [];
  // The container has names of its own for the file.
  const isTold = where === "local" ? prompt.includes(tells) : saidOtherwise(tells).test(prompt);
  return isTold ? [] : [`not told: ${tells} (${errs}): ${prompt.slice(-MAX_SHOWN_CHARS)}`];
}

const MAX_SHOWN_CHARS = 1_500;

function saidOtherwise(tells: string): RegExp {
  const literal = tells.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(literal.replace(/solution\\\.(\w+)/, String.raw`\S+`));
}

function executionWrongs({ attempts, answer }: Problem, facts: readonly Fact[]): string[] {
  const ran = facts.filter((fact): fact is FactOf<"execution-recorded"> => fact.type === "execution-recorded");
  const long = ran.filter(({ message }) => message.length > MAX_FAILURE_CHARS);
  const failed = ran.filter(({ kind }) => kind !== "ok").length;
  const should = attempts.filter(({ errs }) => errs !== "wrong-answer").length;
  return [
    ...(long.length === 0 ? [] : ["a failure was told at too great a length"]),
    ...(failed === should
      ? []
      : [`${failed} programs failed, not ${should}: ${ran.map(({ kind }) => kind).join(", ")}`]),
    ...(ran.at(-1)?.stdout.text.trimEnd() === answer ? [] : [`the last program printed ${ran.at(-1)?.stdout.text}`]),
  ];
}

const PNG_WIDTH_AT = 16;
const PNG_HEIGHT_AT = 20;

function pictureWrongs({ picture }: Problem, out: string): string[] {
  if (picture === undefined) return [];
  const file = join(out, picture.path);
  if (!existsSync(file)) return [`there is no ${picture.path} among the artifacts`];
  const bytes = readFileSync(file);
  const [width, height] = [bytes.readUInt32BE(PNG_WIDTH_AT), bytes.readUInt32BE(PNG_HEIGHT_AT)];
  return width === picture.width && height === picture.height ? [] : [`the picture is ${width}×${height}`];
}
