/** Whether an ACP agent can work here, before anything is spent: its options, its program, its way through the fence. */
import { UsageError } from "../../errors.ts";
import type { RunSpec } from "../../spec.ts";
import { readMcpServers } from "./mcp.ts";
import { refuseWithoutRelay } from "./model-way.ts";
import { acpOptions } from "./options.ts";
import { acpFolders, acpProgram } from "./program.ts";
import { ledModels } from "./providers.ts";
import { loadSdk } from "./sdk.ts";

type Spec = Pick<RunSpec, "agent" | "workspace" | "fence" | "environment">;

/** Folders that must be readable for its program to run. */
export const agentFolders = (agent: Pick<RunSpec["agent"], "name" | "options">, env: NodeJS.ProcessEnv): string[] =>
  acpFolders(acpOptions(agent), env);

/** Throws UsageError when it cannot. */
export async function checkAcp(
  { agent, workspace, fence, environment }: Spec,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const options = acpOptions(agent);
  readMcpServers(options.mcp, workspace.path);
  acpProgram(options, env);
  await loadSdk();
  const isClosed = fence.kind !== "none" && fence.network !== "open";
  const given = Object.fromEntries(Object.keys(environment).map((name) => [name, env[name]]));
  const models = ledModels(given, { closed: isClosed });
  if (isClosed) refuseWithoutRelay(models);
  if (options.maxTurns !== undefined && models.length === 0) {
    throw new UsageError(
      "--agent-max-turns: pawl counts an ACP agent's requests only where it leads them to the model",
      {
        hint: "name the model's address with --env, as in docs/agents.md: ANTHROPIC_BASE_URL, OPENAI_BASE_URL, …",
      },
    );
  }
  if (isClosed && models.length === 0 && fence.hosts.length === 0) {
    throw new UsageError("this ACP agent cannot reach any model through the fence: no key was given to it", {
      hint: "--env ANTHROPIC_API_KEY (or OPENAI_API_KEY, GEMINI_API_KEY, …); or --allow-host, --network open, --fence none",
    });
  }
}
