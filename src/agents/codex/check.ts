/** Whether Codex can work here, before anything is spent: its options, its program, its login, its way through the fence. */
import { UsageError } from "../../errors.ts";
import { programAt } from "../../platform/fence.ts";
import type { RunSpec } from "../../spec.ts";
import { codexLogin } from "./login.ts";
import { readMcpServers } from "./mcp.ts";
import { NO_RELAY } from "./model-way.ts";
import { codexOptions } from "./options.ts";
import { codexAvailable } from "./program.ts";
import { NO_LOGIN } from "./session.ts";

/** Throws UsageError when it cannot. */
export function checkCodex(
  { agent, workspace, fence }: Pick<RunSpec, "agent" | "workspace" | "fence">,
  env: Readonly<Record<string, string | undefined>>,
): void {
  const fenced = fence.kind !== "none";
  const { mcp } = codexOptions(agent.options, { ask: agent.ask, fenced });
  readMcpServers(mcp, workspace.path);
  codexAvailable({ bin: agent.options["bin"] }, env);
  if (codexLogin(env) === undefined) {
    throw new UsageError(NO_LOGIN, { hint: "set OPENAI_API_KEY, or log in once with `codex login`" });
  }
  if (fenced && fence.network !== "open" && programAt("socat") === undefined) {
    throw new UsageError(NO_RELAY.message, { hint: NO_RELAY.hint });
  }
}
