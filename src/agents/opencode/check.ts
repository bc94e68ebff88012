/** Whether opencode can work here, before anything is spent: its options, its program, its login, its way through the fence. */
import { UsageError } from "../../errors.ts";
import { programAt } from "../../platform/fence.ts";
import type { RunSpec } from "../../spec.ts";
import { opencodeLogins, subscriptions, type Environment } from "./login.ts";
import { readMcpServers } from "./mcp.ts";
import { modelNamed } from "./model.ts";
import { NO_RELAY } from "./model-way.ts";
import { opencodeOptions } from "./options.ts";
import { opencodeAvailable } from "./program.ts";
import { loadSdk } from "./sdk.ts";
import { NO_LOGIN } from "./session.ts";

/** Throws UsageError when it cannot. */
export async function checkOpencode(
  { agent, workspace, fence }: Pick<RunSpec, "agent" | "workspace" | "fence">,
  env: Environment,
): Promise<void> {
  const { mcp, bin, server } = opencodeOptions(agent.options, agent.ask);
  await loadSdk();
  const fenced = fence.kind !== "none";
  const logins = opencodeLogins(env);
  const names = [agent.model, agent.fallbackModel].filter((name) => name !== undefined);
  if (server !== undefined) {
    if (!fenced) return;
    throw new UsageError("--agent-server: what works on a server of yours is outside pawl's fence", {
      hint: "--fence none, if that is meant",
    });
  }
  readMcpServers(mcp, workspace.path);
  opencodeAvailable({ bin }, env);
  if (logins.length === 0) {
    const others = subscriptions(env);
    throw new UsageError(NO_LOGIN, {
      hint:
        others.length === 0
          ? "set ANTHROPIC_API_KEY, OPENAI_API_KEY, …, or store a key once with `opencode auth login`"
          : `the login for ${others.join(", ")} is a subscription's, which only a server of yours can use: --agent-server`,
    });
  }
  for (const name of names) modelNamed(name, { logins });
  if (fenced && fence.network !== "open" && programAt("socat") === undefined) {
    throw new UsageError(NO_RELAY.message, { hint: NO_RELAY.hint });
  }
}
