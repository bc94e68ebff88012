/** What ten iterations cost in tokens, persistent against fresh context, by the stand-in's cache accounting. */
import { spawn } from "node:child_process";
import { startStandin } from "../src/standin/server.ts";
import { CLI, makePlace } from "./support.ts";

const ITERATIONS = 10;
const script = {
  marker: "^Iteration \\d+",
  steps: [
    { tools: [{ name: "Bash", input: { command: "echo line >> work.txt" } }] },
    { tools: [{ name: "Bash", input: { command: "cat work.txt; seq 1 400" } }] },
    { text: "Another step is done." },
  ],
};

async function billed(
  context: string,
): Promise<{ requests: number; tokens: number; inputEquivalents: number; usd: number | null }> {
  const standin = await startStandin({ script });
  const place = makePlace(20);
  const env = { ...place.env, ANTHROPIC_BASE_URL: standin.url, ANTHROPIC_API_KEY: "x" };
  const args = [
    "run",
    "add a line each time",
    "--check",
    "true",
    "--context",
    context,
    "--max-iterations",
    String(ITERATIONS),
  ];
  const child = spawn(process.execPath, [CLI, ...args], { cwd: place.repo, env, stdio: "ignore" });
  const code = await new Promise((resolve) => child.on("close", resolve));
  if (code !== 3) throw new Error(`expected the run to use up its iterations (3), got ${String(code)}`);
  const {
    requests,
    inputTokens,
    outputTokens,
    cacheReadTokens,
    cacheWrite5mTokens,
    cacheWrite1hTokens,
    inputEquivalents,
    usd,
  } = standin.billing;
  place.remove();
  await standin.close();
  return {
    requests,
    tokens: inputTokens + outputTokens + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens,
    inputEquivalents: Math.round(inputEquivalents),
    usd,
  };
}

export async function tokensBilled(): Promise<object> {
  const persistent = await billed("persistent");
  const fresh = await billed("fresh");
  return {
    persistent,
    fresh,
    freshOverPersistent: Number((fresh.inputEquivalents / persistent.inputEquivalents).toFixed(2)),
  };
}
