/**
 * Nothing of an agent or a check outlives its run: not after a stop, not after `kill -9` of the driver, and not what left
 * its parent, its session and its environment (F11). In a fence the PID namespace sees to it.
 */
import { expect, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { below, family, LEVELS } from "../support/family.ts";
import { figure } from "../support/figure.ts";
import { heldSleep } from "../support/held-sleep.ts";
import { isRunning } from "../support/processes.ts";
import { waitFor } from "../support/temp.ts";

const DYING_LIMIT_MS = 10_000;
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

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
  const held = heldSleep();
  const { start } = await cliPlace({ script: byIteration({ 1: [bash("echo x > made.txt"), { text: CLAIM }] }) });
  const check = `${command}; sleep ${held.seconds}; test -f made.txt`;
  const run = start(["run", "go", "--check", check, "--json"]);
  let wereSeen = false;
  const areThere = (): boolean => alive().length === LEVELS && (wereSeen = true);
  const result = await held.openUntil(run.done, areThere);
  expect(wereSeen).toBe(true);
  expect(result.of("check-end").map(({ verdict }) => verdict.is)).toEqual(["pass"]);
  // On a busy machine even dying takes a while; by themselves they would live much longer.
  await waitFor(() => alive().length === 0, { what: "the end of all of them", limitMs: DYING_LIMIT_MS });
});
