/** What ten iterations with the real agent cost in tokens, persistent against fresh context, by the stand-in's cache accounting. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { startStandin } from "../src/standin/server.ts";
import { CLI, makePlace } from "./support.ts";

const ITERATIONS = 10;
const MEMORY_LOOK_MS = 20;
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
): Promise<{ requests: number; tokens: number; inputEquivalents: number; usd: number | null; driver: Memory }> {
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
  const memory = watchMemory(child.pid ?? 0);
  const code = await new Promise((resolve) => child.on("close", resolve));
  const driver = memory.end();
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
    driver,
  };
}

interface Memory {
  peakRssMb: number;
  /** Without the pages of Node's own program file. */
  peakPrivateMb: number;
}

/** Looks at a process until told to end. Linux. */
function watchMemory(pid: number): { end(): Memory } {
  const peak: Memory = { peakRssMb: 0, peakPrivateMb: 0 };
  const timer = setInterval(() => {
    const status = existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, "utf8") : "";
    const mb = (name: string): number =>
      Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1_024);
    peak.peakRssMb = Math.max(peak.peakRssMb, mb("VmRSS"));
    peak.peakPrivateMb = Math.max(peak.peakPrivateMb, mb("RssAnon"));
  }, MEMORY_LOOK_MS);
  return {
    end() {
      clearInterval(timer);
      return peak;
    },
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
