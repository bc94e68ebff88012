/** The contract of an agent, held by real ACP agents on the stand-in model. */
import { afterAll, beforeAll } from "vitest";
import { agentContract } from "../../test/contracts/agent.ts";
import { CLAUDE_ACP, claudeDialect, CODEX_ACP, codexDialect, WITH_NODE, stepsFor } from "../../test/support/acp.ts";
import { ownPrompt, startScriptedModel } from "../../test/support/claude.ts";
import type { ScriptedModel } from "../../test/support/claude.ts";
import { armedWire, type ArmedWire } from "../../test/support/faulty-wire.ts";
import { tempDir } from "../../test/support/temp.ts";
import { acp, ACP_GAPS } from "./acp.ts";

let model: ScriptedModel;
let wire: ArmedWire;
let home: string;

beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
  wire = await armedWire(model.standin.url);
  home = tempDir("home");
});
afterAll(async () => {
  await wire.close();
  await model.standin.close();
});

const common = () => ({
  remembered: () => model.seen.at(-1)?.prompts ?? [],
  heard: () => model.seen.at(-1)?.words ?? "",
  lastModel: () => model.seen.at(-1)?.model,
  requests: () => model.seen.length,
  wire,
});

const codexAgent = acp({ name: `acp:'${CODEX_ACP}'` });
const claudeAgent = acp({ name: `acp:'${CLAUDE_ACP}'` });

agentContract("codex-acp", ACP_GAPS, () => ({
  ...common(),
  agent: codexAgent,
  options: { permissions: "workspace-write" },
  prompt: (behaviour) => ownPrompt(stepsFor(behaviour, codexDialect)),
  environment: {
    ...WITH_NODE,
    HOME: home,
    OPENAI_API_KEY: "key",
    OPENAI_BASE_URL: `${wire.url}/v1`,
    CODEX_CONFIG: JSON.stringify({
      features: { default_mode_request_user_input: true },
      // Its sandbox would leave empty folders there, one of them called .git.
      sandbox_workspace_write: { exclude_slash_tmp: true, exclude_tmpdir_env_var: true },
    }),
  },
  models: { first: "gpt-5.5", second: "gpt-5.6-luna" },
  writeTool: "edit",
  shell: (command, text) => ownPrompt([codexDialect.shell(command), { text }]),
}));

/** What depends on the agent behind the protocol: each start of this one takes seconds. */
const DIFFERS = /streams|aborted in the middle|dies|limited|said into|switch|why a person|which way|breaks off/;

agentContract(
  "claude-agent-acp",
  ACP_GAPS,
  () => ({
    ...common(),
    agent: claudeAgent,
    prompt: (behaviour) => ownPrompt(stepsFor(behaviour, claudeDialect)),
    environment: { ...WITH_NODE, HOME: home, ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: wire.url },
    models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
    givesUpAsides: 2,
  }),
  { only: DIFFERS },
);
