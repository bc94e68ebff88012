import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { tempDir } from "../../test/support/temp.ts";
import { agentNames } from "../compose/command-agent.ts";
import { knownAgents } from "../compose/known-agents.ts";
import { agentsMarkdown, cannotWords } from "./agents-table.ts";

const DOCS = readFileSync(join(import.meta.dirname, "../../docs/agents.md"), "utf8");

it("is the one in docs/agents.md (else: node src/views/cli/main.ts doctor --agents markdown)", () => {
  const shown = /<!-- agents:[^>]*-->\n\n([^]*?)\n\n<!-- \/agents -->/.exec(DOCS)?.[1];
  expect(shown).toBe(agentsMarkdown(knownAgents()));
});

it("has every agent that can be named, each with a reason for what it cannot do", () => {
  const agents = knownAgents();
  const named = agents.filter(({ here }) => here !== undefined).map(({ name }) => name);
  expect(named).toEqual(agentNames());
  expect(agents.map(({ name }) => name)).toEqual(expect.arrayContaining(["acp:COMMAND", "command"]));
  for (const { name, gaps } of agents)
    for (const { reason } of gaps) expect([name, reason]).toEqual([name, expect.stringMatching(/\w+ \w+/)]);
});

it("shows an agent of the user's in place of the preset of that name", () => {
  const mine = { preset: "qwen", command: ["my-qwen"] };
  const agents = knownAgents({ qwen: mine });
  expect(agents.filter(({ name }) => name === "qwen")).toHaveLength(1);
  const [agent] = agents.filter(({ name }) => name === "qwen");
  expect(agent && cannotWords(agent)).toContain("resume");
  const folder = tempDir("programs");
  for (const name of ["qwen", "my-qwen"]) writeFileSync(join(folder, name), "", { mode: 0o755 });
  expect(agent?.here?.program({ PATH: folder })).toBe(join(folder, "my-qwen"));
  expect(agent?.here?.program({ PATH: "/nowhere" })).toBeUndefined();
  expect([agent?.here?.login({}), agent?.here?.login({ OPENAI_API_KEY: "k" })]).toEqual([undefined, "OPENAI_API_KEY"]);
});
