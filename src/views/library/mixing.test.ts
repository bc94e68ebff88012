/** Several agents of a program's own in one run. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir, tempRepository } from "../../../test/support/temp.ts";
import { scripted, type ScriptedFunction } from "../../agents/scripted.ts";
import type { Agent } from "../../ports.ts";
import { run, type RunOptions } from "./run.ts";

const CLAIM = "<promise>COMPLETE</promise>";
const write = (workspace: string, text: string): void => writeFileSync(join(workspace, "a.txt"), text);
const worker =
  (text: string): ScriptedFunction =>
  ({ workspace }) => {
    write(workspace, text);
    return { text: `done\n${CLAIM}`, usage: { requests: 1, inputTokens: 10, usd: 0.5 } };
  };

function options(over: Partial<RunOptions>): RunOptions {
  const repository = tempRepository({ "a.txt": "one\n" });
  const environment = {
    PATH: process.env["PATH"] ?? "",
    HOME: tempDir("home"),
    PAWL_HOME: join(tempDir("state"), "pawl"),
    GIT_CONFIG_NOSYSTEM: "1",
  };
  return {
    goal: "make it two",
    cwd: repository.path,
    environment,
    shortTurn: 0,
    fence: "none",
    checks: [
      {
        name: "content",
        judge: ({ path }) =>
          readFileSync(join(path, "a.txt"), "utf8") === "two" ? { pass: true } : { pass: false, message: "no" },
      },
    ],
    ...over,
  };
}

it("are named where pawl's own are: one stands in, one reviews, and what each cost is told apart", async () => {
  const limited = { is: "limited", kind: "usage", resetAt: Date.now() + 3_600_000, message: "used up" } as const;
  const reviewer: ScriptedFunction = ({ workspace, prompt }) => {
    expect(prompt).toMatch(/^Review of iteration 1\n/);
    expect(prompt).toContain("+tow");
    write(workspace, "two");
    return { text: "mended", usage: { requests: 1, outputTokens: 3, usd: null } };
  };
  const handle = await run(
    options({
      agent: scripted(() => ({ outcome: limited, usage: { requests: 1, usd: 0.25 } }), { name: "first" }),
      agents: [scripted(worker("tow"), { name: "second" }), scripted(reviewer, { name: "third" })],
      fallback: ["second:m/1:x"],
      reviewAgent: "third",
    }),
  );
  const { outcome, state } = await handle.outcome;
  expect(outcome).toMatchObject({ is: "verified" });
  expect(
    [...state.spentBy.values()].map(({ agent, model, turns, usd, unknownTurns }) => [
      agent,
      model,
      turns,
      usd,
      unknownTurns,
    ]),
  ).toEqual([
    ["first", null, 1, 0.25, 0],
    ["second", "m/1:x", 1, 0.5, 0],
    ["third", null, 1, 0, 1],
  ]);
  expect(state.spent).toMatchObject({ turns: 3, usd: 0.75, unknownTurns: 1 });
});

it("an agent that keeps its model in a session gets a fresh one for another model", async () => {
  const modes: string[] = [];
  const refs = new Set<string>();
  const stiff: Agent = {
    ...scripted(({ n, session, workspace, model }) => {
      modes.push(`${session.mode} ${model}`);
      refs.add(session.ref);
      write(workspace, n === 2 ? "two" : "one");
      return { text: n === 2 ? CLAIM : "on", usage: { requests: 1 } };
    }),
    gaps: [{ cannot: "switch-model", reason: "it was made so" }],
  };
  const handle = await run(
    options({ agent: stiff, rotate: ["scripted:a", "scripted:b"], checks: [], minIterations: 2 }),
  );
  expect((await handle.outcome).outcome.is).toBe("claimed");
  expect(modes).toEqual(["new a", "new b"]);
  expect(refs.size).toBe(2);
});

it("are refused where there is no such agent, or no agent at all", async () => {
  const agent = scripted(worker("two"), { name: "first" });
  await expect(run(options({ agent, fallback: ["nobody"] }))).rejects.toThrow(
    /names an agent that there is not: "nobody"/,
  );
  await expect(run(options({ agents: [{} as Agent] }))).rejects.toThrow(/is no Agent/);
});
