/**
 * A long run that solves, on the stand-in model: every attempt is different, verbose and no answer. What each request
 * held and what all of them cost is told by the stand-in's own count.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messages } from "../../src/agents/messages.ts";
import { solve } from "../../src/views/library/solve.ts";
import type { Executor } from "../../src/ports/executor.ts";
import { totalTokens } from "../../src/standin/billing.ts";
import { startStandin } from "../../src/standin/server.ts";

export const FACT_OF_ITERATION_2 = "the weights are in grams, not in kilograms";
const LINES_OF_CODE = 40;
const LINES_OF_OUTPUT = 30;
/** Of an output token, in input tokens: the stand-in's own. */
const OUTPUT_PRICE = 5;
const KEY = "key-of-the-stand-in";

export interface LongSolve {
  iterations: number;
  /** The most that one request held, and all of them together, by the stand-in's count. */
  largestRequest: number;
  inputTokens: number;
  /** What the input of all requests cost, in tokens that are not cached: those read from the cache cost a tenth. */
  inputBilled: number;
  cacheReadTokens: number;
  /** If every request held every attempt whole, and nothing were cached. */
  naiveTokens: number;
  lastPrompt: string;
  prompts: string[];
  /** Sessions of the agent. */
  conversations: number;
}

interface Options {
  iterations: number;
  /** By which the model counts; a quarter of the bytes unless said. */
  tokensIn?: (text: string) => number;
  history: "pruned" | "full";
  requestTokens: number;
}

const codeOf = (n: number): string =>
  Array.from({ length: LINES_OF_CODE }, (_, line) => `value_${line} = weigh(parcel[${n * line}], unit="g")`).join("\n");

/** Fails in ever other words, and says a lot. */
const chatty: Executor = {
  name: "chatty",
  async run({ text }) {
    const n = text.length;
    const said = Array.from(
      { length: LINES_OF_OUTPUT },
      (_, line) => `parcel ${line}: weighed ${n * line} g, off by ${line % 7}`,
    );
    const stderr = `Traceback (most recent call last):\n  File "solution.py", line ${n % 30}, in <module>\nValueError: parcel ${String.fromCodePoint(97 + (n % 26)).repeat(3 + (n % 17))} is too heavy`;
    const printed = (words: string) => ({ text: words, bytes: Buffer.byteLength(words) });
    return {
      end: { is: "exit", code: 1 },
      stdout: printed(said.join("\n")),
      stderr: printed(stderr),
      files: [],
      durationMs: 1,
    };
  },
};

export async function longSolve({ iterations, history, requestTokens, tokensIn }: Options): Promise<LongSolve> {
  const sizes: number[] = [];
  const prompts: string[] = [];
  const standin = await startStandin({
    apiKey: KEY,
    tokensIn,
    script: (request) => {
      const prompt = request.turns.findLast(({ role }) => role === "user")?.texts.join("") ?? "";
      prompts.push(prompt);
      const n = Number(/^Iteration (\d+)/m.exec(prompt)?.[1]);
      const note = n === 2 ? FACT_OF_ITERATION_2 : `way number ${n}: weigh them in another order`;
      return { answer: { do: "run", note, language: "python", code: `${codeOf(n)}\n# ${"x".repeat(n)}` } };
    },
  });
  const home = mkdtempSync(join(tmpdir(), "pawl-long-solve-"));
  try {
    const environment = {
      PATH: process.env["PATH"],
      HOME: home,
      PAWL_HOME: `${home}/state`,
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: standin.url,
    };
    const handle = await solve({
      question: "how heavy are all parcels together?",
      agent: messages({ userEnvironment: environment }),
      model: "claude-opus-5-5",
      runsCode: chatty,
      history,
      requestTokens,
      maxIterations: iterations,
      // A prompt that has to be made again shorter is none.
      maxErrors: 1,
      fence: "none",
      environment,
    });
    const end = await handle.outcome;
    const { billing, requests } = standin;
    for (const { billing: one } of requests)
      sizes.push(one.inputTokens + one.cacheReadTokens + one.cacheWrite5mTokens + one.cacheWrite1hTokens);
    return {
      iterations: Math.max(...prompts.map((prompt) => Number(/^Iteration (\d+)/m.exec(prompt)?.[1]))),
      largestRequest: Math.max(...sizes),
      inputTokens: sizes.reduce((sum, one) => sum + one, 0),
      inputBilled: Math.round(billing.inputEquivalents - OUTPUT_PRICE * billing.outputTokens),
      cacheReadTokens: billing.cacheReadTokens,
      naiveTokens: naive(
        prompts[0] ?? "",
        end.state.solve?.attempts.map(
          ({ code, executed }) => `${code?.kept.text}\n${executed?.stdout.text}\n${executed?.stderr.text}`,
        ) ?? [],
      ),
      lastPrompt: prompts.at(-1) ?? "",
      prompts,
      conversations: new Set(requests.map(({ conversation }) => conversation)).size,
    };
  } finally {
    await standin.close();
    rmSync(home, { recursive: true, force: true });
  }
}

/** Each request has the question and all attempts before it. */
function naive(first: string, attempts: readonly string[]): number {
  const tokens = (text: string): number => totalTokens([{ text: JSON.stringify({ type: "text", text }) }]);
  let held = tokens(first);
  let sum = 0;
  for (const attempt of attempts) {
    sum += held;
    held += tokens(attempt);
  }
  return sum;
}
