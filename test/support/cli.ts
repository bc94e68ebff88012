/**
 * The built command line as a person meets it: another process, its own state and home, a repository, the real agent
 * on the stand-in model. Nothing of the machine's own login or settings reaches it.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Fact, FactOf, FactType } from "../../src/events.ts";
import type { Standin, StandinOptions } from "../../src/standin/server.ts";
import type { Step } from "../../src/standin/script.ts";
import { startStandin } from "../../src/standin/server.ts";
import { atFileEnd } from "./file-end.ts";
import { useShellAgent, type ShellTurn } from "./shell-agent.ts";
import { CACHE_HOME, tempDir, tempRepository, type TempRepository } from "./temp.ts";

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
/** Another build can be named, e.g. while the usual one is being made. */
export const CLI = process.env["PAWL_TEST_CLI"] ?? join(ROOT, "dist/views/cli/main.js");
export const NODE = join(ROOT, "node_modules/.bin/node");
/** How the names of files begin that git ignores here. */
export const GATE = "gate-";
const KEY = "test-key-of-the-stand-in";
/** A hung child is ended, and the test that waits for it fails with its output. */
const CLI_LIMIT_MS = 150_000;
const MAX_SHOWN_CHARS = 4_000;

const standins: Standin[] = [];
const children = new Set<ChildProcess>();
atFileEnd(async () => {
  for (const child of children) child.kill("SIGKILL");
  await Promise.all(standins.splice(0).map((standin) => standin.close()));
});

export interface CliResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Of stdout, where each line is one. */
  facts(): Fact[];
  of<T extends FactType>(type: T): FactOf<T>[];
}

export interface RunningCli {
  readonly child: ChildProcess;
  readonly done: Promise<CliResult>;
  stderr(): string;
  stdout(): string;
}

export interface CliPlace {
  readonly repository: TempRepository;
  /** PAWL_HOME. */
  readonly state: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  readonly standin: Standin | undefined;
  /** Whole bodies of what the model was sent, in order. */
  sent(): string[];
  /** Runs to the end. */
  pawl(...args: string[]): Promise<CliResult>;
  start(
    args: readonly string[],
    options?: { env?: Readonly<Record<string, string>>; input?: string; cwd?: string; limitMs?: number },
  ): RunningCli;
}

export interface PlaceOptions {
  files?: Readonly<Record<string, string>>;
  /** Without one there is no model, and no key. */
  script?: StandinOptions["script"];
  env?: Readonly<Record<string, string>>;
  /** A subscription's limits have reset times. */
  login?: "key" | "subscription";
  /** Instead of Claude Code and a model, where it does not matter who does this, by iteration. */
  shellAgent?: Readonly<Record<number, ShellTurn>>;
}

/** Short waits, so that faults cost a test milliseconds. Asking for a pass again is a matter of the laws and the kills. */
const QUICK = { PAWL_BACKOFF: "50ms", PAWL_MAX_BACKOFF: "400ms", PAWL_PASSES: "1" };

export async function cliPlace({
  files = { "readme.md": "hello\n" },
  script,
  env = {},
  login = "key",
  shellAgent,
}: PlaceOptions): Promise<CliPlace> {
  if (!existsSync(CLI)) throw new Error(`${CLI} is missing: run \`npm run build\` first`);
  const repository = tempRepository(files);
  // By such files a test holds a tool call open: the workspace is the one place that both see.
  appendFileSync(join(repository.path, ".git/info/exclude"), `${GATE}*\n`);
  const root = tempDir("cli");
  const home = join(root, "home");
  const state = join(root, "state");
  const dumpDir = join(root, "sent");
  for (const dir of [home, dumpDir]) mkdirSync(dir);
  if (shellAgent !== undefined) useShellAgent(home, shellAgent);
  const standin = script === undefined ? undefined : await startStandin({ script, apiKey: KEY, dumpDir });
  if (standin !== undefined) standins.push(standin);
  const environment: Record<string, string> = {
    PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
    HOME: home,
    LANG: "C.UTF-8",
    // What pawl itself makes for a moment belongs where tests write, too.
    TMPDIR: tmpdir(),
    GIT_CONFIG_NOSYSTEM: "1",
    PAWL_HOME: state,
    XDG_CACHE_HOME: CACHE_HOME,
    ...QUICK,
    ...(standin === undefined ? {} : { ANTHROPIC_BASE_URL: standin.url }),
    ...(standin === undefined ? {} : { [login === "key" ? "ANTHROPIC_API_KEY" : "CLAUDE_CODE_OAUTH_TOKEN"]: KEY }),
    ...env,
  };
  const start: CliPlace["start"] = (args, options = {}) =>
    startCli(args, {
      cwd: options.cwd ?? repository.path,
      env: { ...environment, ...options.env },
      input: options.input,
      limitMs: options.limitMs ?? CLI_LIMIT_MS,
    });
  const sent = (): string[] =>
    readdirSync(dumpDir)
      .toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
      .map((name) => readFileSync(join(dumpDir, name), "utf8"));
  return { repository, state, home, env: environment, standin, sent, start, pawl: (...args) => start(args).done };
}

interface Started {
  cwd: string;
  env: Readonly<Record<string, string>>;
  input: string | undefined;
  limitMs: number;
}

const tail = (text: string): string => text.slice(-MAX_SHOWN_CHARS);

function startCli(args: readonly string[], { cwd, env, input, limitMs }: Started): RunningCli {
  const child = spawn(NODE, [CLI, ...args], { cwd, env: { ...env }, stdio: ["pipe", "pipe", "pipe"] });
  children.add(child);
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => undefined);
  child.stdin.end(input ?? "");
  let isLate = false;
  const limit = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, limitMs);
  const done = new Promise<CliResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      clearTimeout(limit);
      children.delete(child);
      if (isLate)
        return reject(
          new Error(`pawl ${args.join(" ")}: no end within ${limitMs} ms\n${tail(stderr)}\n${tail(stdout)}`),
        );
      const facts = (): Fact[] =>
        stdout
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as Fact);
      const of = <T extends FactType>(type: T): FactOf<T>[] =>
        facts().filter((fact): fact is FactOf<T> => fact.type === type);
      resolve({ code, signal, stdout, stderr, facts, of });
    });
  });
  return { child, done, stderr: () => stderr, stdout: () => stdout };
}

/** The script of a model: what it does in each iteration, by number; afterwards it says "ok". */
export function byIteration(iterations: Readonly<Record<number, readonly Step[]>>): StandinOptions["script"] {
  return {
    marker: "Iteration \\d+",
    rules: Object.entries(iterations).map(([n, steps]) => ({
      when: { promptIncludes: `Iteration ${n} ` },
      steps: [...steps],
    })),
    steps: [{ text: "ok" }],
  };
}

export const CLAIM = "It is done.\n\n<promise>COMPLETE</promise>";
