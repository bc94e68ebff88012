/**
 * What pawl's agents cost: a turn of each adapter over its program driven by hand, a process for each turn over one that is
 * kept, what an idle run holds in memory, many runs at once. `PAWL_BENCH_SMALL=1`: only to see that it works.
 */
import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { join } from "node:path";
import type { AgentsChild } from "./agents-child.ts";
import { AGENTS, idleMemory, manyRuns } from "./agents-runs.ts";
import { median } from "./support.ts";

const isSmall = process.env["PAWL_BENCH_SMALL"] === "1";
const TURNS = isSmall ? 3 : 20;
/** Turns with a process of their own. */
const PROCESSES = isSmall ? 1 : 5;
const RUNS = isSmall ? 3 : 20;

const round = (n: number, digits = 1): number => Number(n.toFixed(digits));

function turnsOf(name: string): object {
  const child = join(import.meta.dirname, "../.cache/bench/bench/agents-child.js");
  const said = execFileSync(process.execPath, [child, name, String(TURNS), String(PROCESSES)], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { adapter, hand, perTurn } = JSON.parse(said) as AgentsChild;
  const [kept, byHand, fresh] = [median(adapter), median(hand), median(perTurn)];
  return {
    turnMs: round(kept),
    byHandMs: round(byHand),
    onTopMs: round(kept - byHand),
    overByHand: round(kept / byHand, 2),
    processPerTurnMs: round(fresh, 0),
    processPerTurnOverKept: round(fresh / kept, 1),
  };
}

export async function agentsCost(): Promise<object> {
  const load = round(loadavg()[0] ?? 0);
  const turns: Record<string, object> = {};
  const idle: Record<string, object> = {};
  for (const name of Object.keys(AGENTS)) {
    turns[name] = turnsOf(name);
    console.error(name, JSON.stringify(turns[name]));
  }
  for (const name of Object.keys(AGENTS)) {
    idle[name] = await idleMemory(name);
    console.error("idle", name, JSON.stringify(idle[name]));
  }
  const many = await manyRuns(RUNS);
  console.error("many", JSON.stringify(many));
  return {
    command: `${isSmall ? "PAWL_BENCH_SMALL=1 " : ""}npm run bench -- agents`,
    load,
    turnsEach: TURNS,
    turns,
    idleRun: idle,
    manyRuns: many,
  };
}
