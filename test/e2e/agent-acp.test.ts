/** `pawl run --agent acp:…` through the built command line: two real ACP agents, in the fence, on the stand-in model. */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ACP_GAPS } from "../../src/agents/acp.ts";
import type { Usage } from "../../src/events.ts";
import { CLAUDE_ACP, claudeDialect, CODEX_ACP, codexDialect } from "../support/acp.ts";
import { CHECK, killedAndSteered, openaiLogin, refusesAll, RUN_LIMIT_MS } from "../support/agent-run.ts";
import { byIteration, CLAIM, cliPlace } from "../support/cli.ts";
import { patientExec } from "../support/codex.ts";
import { waitFor } from "../support/temp.ts";
import { directivesTable } from "../support/directives.ts";

const CLAUDE_ENTRY = `acp:'${CLAUDE_ACP}'`;
const CODEX_ENTRY = `acp:'${CODEX_ACP}'`;
const CLAUDE_ENV = ["--env", "ANTHROPIC_API_KEY", "--env", "ANTHROPIC_BASE_URL"];
const CLAUDE = ["--agent", CLAUDE_ENTRY, ...CLAUDE_ENV];
// Codex's own sandbox cannot be made inside the fence.
const CODEX_ENV = ["--env", "OPENAI_API_KEY", "--env", "OPENAI_BASE_URL", "--permissions", "agent-full-access"];
/** The model that codex-acp has titles written by; on the stand-in it works first, like any other. */
const TITLES = "gpt-5.6-luna";
const TITLE_REQUESTS = 2;
const { shell } = codexDialect;

directivesTable({
  name: "claude-agent-acp",
  entry: CLAUDE_ENTRY,
  models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
  flags: CLAUDE_ENV,
  shell: claudeDialect.shell,
  gaps: ACP_GAPS,
});

directivesTable({
  name: "codex-acp",
  entry: CODEX_ENTRY,
  models: { first: "gpt-5.6-sol", second: "gpt-5.6-terra" },
  titles: TITLES,
  flags: CODEX_ENV,
  env: openaiLogin,
  shell: patientExec,
  gaps: ACP_GAPS,
});

/** Output tokens of all turns, as pawl has them down by now. */
function recorded(state: string): number {
  type Line = { at: string; usage?: Usage; end?: { usage: Usage } };
  const lines = globSync(`${state}/**/acp/*.jsonl`).flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line),
  );
  const turns: number[] = [];
  for (const { at, usage, end } of lines) {
    const counted = end?.usage ?? usage;
    if (at === "prompt") turns.push(0);
    else if (counted !== undefined) turns[turns.length - 1] = counted.outputTokens;
  }
  return turns.reduce((sum, tokens) => sum + tokens, 0);
}

it(
  "goes from red to green, is killed in the middle and gone on with, and hears what is said",
  async () => {
    await killedAndSteered({
      flags: ["--agent", CODEX_ENTRY, "--model", "gpt-5.5", ...CODEX_ENV],
      env: openaiLogin,
      shell,
      first: [shell("echo wrong > work.txt")],
      async settled({ standin, state }) {
        const titles = (): number => (standin?.requests ?? []).filter(({ model }) => model === TITLES).length;
        await waitFor(() => titles() === TITLE_REQUESTS && recorded(state) === standin?.billing.outputTokens, {
          what: "the title of the conversation, and all of it in pawl's record",
          seen: () => `; ${titles()} requests, ${recorded(state)} of ${standin?.billing.outputTokens} tokens`,
        });
      },
    });
  },
  RUN_LIMIT_MS,
);

it("drives another agent the same way, with no key of the user's anywhere inside the fence", async () => {
  const look = "(env; cat /proc/[0-9]*/environ; find / -name '.credentials.json' -exec cat {} +) > seen.txt 2>&1";
  const place = await cliPlace({
    script: byIteration({ 1: [claudeDialect.shell(`${look}; echo right > work.txt`), { text: CLAIM }] }),
  });
  const result = await place.start(["run", "write work.txt", ...CLAUDE, ...CHECK]).done;
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
  const seen = readFileSync(join(place.repository.path, "seen.txt"), "latin1");
  expect(seen).toContain("ANTHROPIC_BASE_URL=");
  expect(seen).not.toContain(place.env["ANTHROPIC_API_KEY"]);
});

it("refuses what it cannot do before anything is spent, and names the option", async () => {
  await refusesAll({
    refusals: [
      [[...CLAUDE, "--tools", "Read"], "--tools"],
      [[...CLAUDE, "--plugin", "p"], "--plugin"],
      [[...CLAUDE, "--agent-bin", "/no/such/agent"], "/no/such/agent"],
      [[...CLAUDE, "--mcp", "missing.json"], "missing.json"],
      [["--agent", "acp:no-such-agent --acp"], "no-such-agent"],
      [["--agent", "acp:'unended"], "quote"],
      [["--agent", "acp:"], "acp:COMMAND"],
      [["--agent", CLAUDE_ENTRY], "no key was given to it"],
    ],
  });
});
