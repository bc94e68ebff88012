/**
 * `npm run bench`: pawl's own cost, as ratios within one run; writes bench/results.json. Times move between machines and
 * minutes, ratios much less.
 */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { agentsCost } from "./agents.ts";
import { byHand, plainCommit } from "./by-hand.ts";
import { checkCost } from "./checks.ts";
import { fenceCost } from "./fence.ts";
import { journalFacts } from "./journal.ts";
import { solveBilled } from "./solve.ts";
import { CLI, makePlace, median } from "./support.ts";
import { tokensBilled } from "./tokens.ts";
import { startStandin } from "../src/standin/server.ts";

const node = process.execPath;
const round = (n: number, digits = 1): number => Number(n.toFixed(digits));

interface Child {
  gaps: number[];
}
function inChild(iterations: number): Child {
  const out = execFileSync(
    node,
    [join(import.meta.dirname, "../.cache/bench/bench/overhead-child.js"), String(iterations)],
    { encoding: "utf8" },
  );
  return JSON.parse(out) as Child;
}

/** Iterations by hand at a time: they do not depend on how many there were before. */
const MAX_BY_HAND = 100;

async function overhead(): Promise<object> {
  const rows: Record<string, object> = {};
  for (const iterations of [10, 100, 1_000]) {
    // Interleaved and repeated where it is short, so that a busy minute hits all alike.
    const rounds = iterations === 10 ? 5 : iterations === 100 ? 3 : 1;
    const pawl: number[] = [];
    const hand: number[] = [];
    const plain: number[] = [];
    /** Before and after: a machine that becomes faster or slower meanwhile does so for both. */
    const byHandToo = async (): Promise<void> => {
      const count = Math.min(iterations, MAX_BY_HAND);
      const [a, b] = [makePlace(), makePlace()];
      hand.push(...(await byHand(a, count)));
      plain.push(...(await plainCommit(b, count)));
      for (const place of [a, b]) place.remove();
    };
    for (let i = 0; i < rounds; i += 1) {
      await byHandToo();
      const child = inChild(iterations);
      pawl.push(...child.gaps);
      await byHandToo();
      if (iterations === 1_000)
        rows["growth"] = {
          lastHundredOverFirstHundred: round(median(child.gaps.slice(-100)) / median(child.gaps.slice(0, 100)), 2),
        };
    }
    rows[String(iterations)] = {
      pawlMs: round(median(pawl)),
      byHandMs: round(median(hand)),
      gitAddCommitMs: round(median(plain)),
      overByHand: round(median(pawl) / median(hand), 2),
      overGitAddCommit: round(median(pawl) / median(plain), 2),
    };
    console.error(iterations, JSON.stringify(rows[String(iterations)]));
  }
  return rows;
}

function timed(
  command: string,
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): number {
  const began = performance.now();
  spawnSync(command, args, { ...options, stdio: "ignore" });
  return performance.now() - began;
}

/** Interleaved: bare Node, then the command. */
function statusStart(): object {
  const place = makePlace(5);
  execFileSync(node, [join(import.meta.dirname, "../.cache/bench/bench/small-journal.js"), place.root], {
    env: { ...place.env },
  });
  const bare: number[] = [];
  const status: number[] = [];
  for (let i = 0; i < 41; i += 1) {
    bare.push(timed(node, ["-e", "0"], { env: place.env }));
    status.push(timed(node, [CLI, "status"], { cwd: place.repo, env: place.env }));
  }
  place.remove();
  return {
    statusMs: round(median(status)),
    bareNodeMs: round(median(bare)),
    ratio: round(median(status) / median(bare), 2),
  };
}

/** From `pawl run` to the first model request, against the agent's own program doing the same. */
async function firstAgentStart(): Promise<object> {
  const root = join(import.meta.dirname, "..");
  const find = ["-c", "ls -d node_modules/@anthropic-ai/claude-agent-sdk-*/claude | head -n 1"];
  const program = join(root, execFileSync("sh", find, { cwd: root, encoding: "utf8" }).trim());
  const firstRequest = async (
    command: string,
    args: readonly string[],
    more: Record<string, string>,
  ): Promise<number> => {
    const standin = await startStandin({ script: { steps: [{ text: "<promise>COMPLETE</promise>", repeat: true }] } });
    const place = makePlace(50);
    const env = { ...place.env, ANTHROPIC_BASE_URL: standin.url, ANTHROPIC_API_KEY: "x", ...more };
    const began = Date.now();
    const child = spawn(command, args, { cwd: place.repo, env, stdio: "ignore" });
    await new Promise((resolve) => child.on("close", resolve));
    const first = Date.parse(standin.requests[0]?.at ?? "");
    await standin.close();
    place.remove();
    return first - began;
  };
  const pawl: number[] = [];
  const fenced: number[] = [];
  const bare: number[] = [];
  const run = ["run", "x", "--check", "true", "--max-iterations", "1", "--fence"];
  for (let i = 0; i < 11; i += 1) {
    const quiet = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", IS_SANDBOX: "1" };
    bare.push(await firstRequest(program, ["-p", "x", "--output-format", "stream-json", "--verbose"], quiet));
    pawl.push(await firstRequest(node, [CLI, ...run, "none"], {}));
    fenced.push(await firstRequest(node, [CLI, ...run, "auto"], {}));
  }
  const onTopMs = round(median(pawl) - median(bare), 0);
  const fence = { fencedMs: median(fenced), onTopOfUnfencedMs: round(median(fenced) - median(pawl), 0) };
  return { pawlToFirstRequestMs: median(pawl), agentAloneMs: median(bare), onTopMs, ...fence };
}

const parts: Readonly<Record<string, () => object | Promise<object>>> = {
  overheadPerIteration: overhead,
  statusStart,
  firstAgentStart,
  fence: fenceCost,
  checks: checkCost,
  journalOf100kFacts: journalFacts,
  tokensBilledForTenIterations: tokensBilled,
  agents: agentsCost,
  solve: solveBilled,
};
/** `npm run bench -- fence`: only these, the other figures stay. */
const asked = process.argv.slice(2);
const file = join(import.meta.dirname, "results.json");
const before = asked.length === 0 ? {} : (JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>);
const results: Record<string, unknown> = { command: "npm run bench" };
for (const [name, measure] of Object.entries(parts)) {
  const isAsked = asked.length === 0 || asked.includes(name);
  const result = isAsked ? await measure() : before[name];
  if (result !== undefined) results[name] = result;
}
writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
console.log(JSON.stringify(results, null, 2));
