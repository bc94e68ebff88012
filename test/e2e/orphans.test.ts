/**
 * Nothing of an agent or a check outlives its run: not after a stop, not after `kill -9` of the driver, and not what left
 * its parent, its session and its environment (F11). In a fence the PID namespace sees to it.
 */
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { figure } from "../support/figure.ts";
import { isRunning } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";

const LEVELS = 4;
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

/** Bounded in number and time. Each sleeps so long that its number tells it from every other process. */
function family(): { command: string; alive: () => number[] } {
  const seconds = Array.from({ length: LEVELS }, (_, n) => `60.${randomInt(1e9)}${n}`);
  const [child, grandchild, session, orphan] = seconds;
  const twice = `setsid sh -c "(env -i sleep ${orphan} &) & (sleep ${session} &)"`;
  const command = `sh -c '${twice}; sh -c "sleep ${grandchild} & wait" & sleep ${child} & sleep 0.2' & sleep 0.3; echo forked`;
  return { command, alive: () => processes((words) => seconds.includes(words[1] ?? "")) };
}

function processes(is: (words: string[]) => boolean): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => is(read(`/proc/${pid}/cmdline`).split("\0")) && isRunning(pid));
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Everything below a process, as the host sees it: the keeper, bwrap, the program, its tools. */
function below(root: number): number[] {
  const found = [root];
  for (const parent of found) {
    const tasks = readTasks(parent).flatMap((task) => read(`/proc/${parent}/task/${task}/children`).split(" "));
    found.push(...tasks.filter((pid) => pid !== "").map(Number));
  }
  return found.slice(1);
}

function readTasks(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`);
  } catch {
    return [];
  }
}

it.for(["stop", "kill -9 of the driver"] as const)(
  "none of an agent's children, sessions and orphans is alive after %s (F11)",
  async (how) => {
    const { command, alive } = family();
    const place = await cliPlace({ script: byIteration({ 1: [bash(`${command}; sleep 50`), { text: "ok" }] }) });
    const run = place.start(["run", "go", "--check", "true", "--json"]);
    await waitFor(() => alive().length === LEVELS, { what: "the agent's children" });
    const driver = run.child.pid ?? 0;
    const all = below(driver);
    expect(all.length).toBeGreaterThan(2);
    const from = performance.now();
    if (how === "stop") expect((await place.pawl("stop", "--now")).code).toBe(0);
    else process.kill(driver, "SIGKILL");
    await run.done;
    await waitFor(() => alive().length === 0 && !all.some(isRunning), { what: "the end of all of them" });
    figure("F11", { how, processes: all.length, left: alive().length, afterMs: Math.round(performance.now() - from) });
  },
);

it("none of a check's is alive after its verdict (F11)", async () => {
  const { command, alive } = family();
  const { pawl } = await cliPlace({ script: byIteration({ 1: [bash("echo x > made.txt"), { text: CLAIM }] }) });
  const result = await pawl("run", "go", "--check", `${command}; test -f made.txt`, "--json");
  expect(result.of("check-end").map(({ verdict }) => verdict.is)).toEqual(["pass"]);
  expect(alive()).toEqual([]);
});
