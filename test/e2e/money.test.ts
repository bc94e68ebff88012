/** Dollars in runs of the real Claude Code: what nobody knows is unknown, what is spent stays spent. */
import { describe, it } from "vitest";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const MADE = byIteration({
  1: [bash("echo half > made.txt"), { text: "Half." }],
  2: [bash("echo whole > made.txt"), { text: CLAIM }],
});
const RUN = ["run", "make made.txt", "--check", "grep -q whole made.txt", "--json"];

describe.concurrent("a budget", () => {
  it("in dollars stops a model without a price after its first turn, and says unknown; tokens hold it instead (row 25)", async ({
    expect,
  }) => {
    const model = ["--model", "claude-without-a-price-9"];
    const { pawl } = await cliPlace({ script: MADE });
    const stopped = await pawl(...RUN, ...model, "--max-cost", "100");
    expect(stopped.of("turn-end").map(({ usage }) => usage.usd)).toEqual([null]);
    expect(stopped.of("run-end").map(({ outcome }) => `${outcome.is} ${outcome.rule}`)).toEqual([
      "exhausted budget:usd-unknown",
    ]);
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toMatch(/^ *cost +.*unknown/m);
    const { pawl: again } = await cliPlace({ script: MADE });
    const held = await again(...RUN, ...model, "--max-cost", "100", "--max-tokens", "5k");
    expect(held.of("run-end").map(({ outcome }) => outcome.rule)).toEqual(["budget:tokens"]);
  });

  it("that is spent ends the run; raised, the same run goes on with what it had spent (row 26)", async ({ expect }) => {
    const { pawl, standin } = await cliPlace({ script: MADE });
    const first = await pawl(...RUN, "--max-cost", "0.001");
    expect(first.of("run-end").map(({ outcome }) => outcome.rule)).toEqual(["budget:usd"]);
    expect(first.code).toBe(3);
    const asked = standin?.requests.length ?? 0;
    expect((await pawl("resume")).code).toBe(2);
    expect((await pawl("resume", "--max-cost", "0.001")).code).toBe(2);
    expect(standin?.requests).toHaveLength(asked);
    const raised = await pawl("resume", "--max-cost", "5", "--json");
    expect(raised.facts()[0]?.run).toBe(first.facts()[0]?.run);
    expect(raised.of("run-reopened").map(({ limits }) => limits.usd)).toEqual([5]);
    expect(raised.of("run-end").map(({ outcome }) => outcome.is)).toEqual(["verified"]);
    const status = JSON.parse((await pawl("status", "--json")).stdout) as { budget: { usd: { used: number } } };
    const turns = [...first.of("turn-end"), ...raised.of("turn-end")];
    const spent = new Map(turns.map(({ turn, usage }) => [turn, usage.usd ?? Number.NaN]));
    expect(status.budget.usd.used).toBeCloseTo(
      [...spent.values()].reduce((sum, usd) => sum + usd, 0),
      9,
    );
  });
});
