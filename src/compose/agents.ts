/** The agents of a run: how each is made, what its program has to be able to read, and whether it can work here. */
import { isAcp } from "../agent-entry.ts";
import { UsageError } from "../errors.ts";
import { agentSpecOf, rosterOf } from "../loop/seats.ts";
import type { Agent } from "../ports.ts";
import type { RunSpec } from "../spec.ts";
import { lookUp } from "../platform/look-up.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Roster = Pick<RunSpec, "agent" | "mix" | "review" | "commands">;

/** Of each that may take a turn, its own. */
function agentSpecs(spec: Roster): RunSpec["agent"][] {
  const specs = rosterOf(spec).map((seat) => agentSpecOf(spec, seat));
  return [...new Map(specs.map((one) => [one.name, one])).values()];
}

/** `own`: the program's, instead of those that pawl knows by the same names. */
export async function agentsOf(
  spec: RunSpec,
  { env, own = {} }: { env: Environment; own: Readonly<Record<string, Agent>> | undefined },
): Promise<Record<string, Agent>> {
  const known = agentSpecs(spec).filter(({ name }) => !Object.hasOwn(own, name));
  const found = await Promise.all(known.map(({ name }) => agentNamed(name, { env, commands: spec.commands })));
  return Object.assign({}, own, ...found) as Record<string, Agent>;
}

/** `commands`: as they were when the run started, since pawl.yaml is the agent's to write. */
export async function agentNamed(
  name: string,
  { env, commands = {} }: { env: Environment; commands: RunSpec["commands"] },
): Promise<Record<string, Agent>> {
  if (name === "claude") {
    const { claude } = await import("../agents/claude.ts");
    return { claude: claude({ userEnvironment: env }) };
  }
  if (name === "codex") {
    const { codex } = await import("../agents/codex.ts");
    return { codex: codex({ userEnvironment: env }) };
  }
  if (isAcp(name)) {
    const { acp } = await import("../agents/acp.ts");
    return { [name]: acp({ name }) };
  }
  if (name === "opencode") {
    const { opencode } = await import("../agents/opencode.ts");
    return { opencode: opencode({ userEnvironment: env }) };
  }
  if (name === "messages") {
    const { messages } = await import("../agents/messages.ts");
    return { messages: messages({ userEnvironment: env }) };
  }
  const entry = lookUp(commands, name);
  if (entry !== undefined) {
    const { command } = await import("../agents/command.ts");
    return { [name]: command({ name, entry, userEnvironment: env }) };
  }
  throw new UsageError(`there is no agent called ${name}`, {
    hint: "`pawl doctor --agents` lists them; a program's own agent is passed by that program",
  });
}

/** Folders that the programs of all agents need to read. */
export async function programFolders(spec: Roster, env: Environment): Promise<string[]> {
  const { commands } = spec;
  return (await Promise.all(agentSpecs(spec).map((agent) => foldersOf(agent, { env, commands })))).flat();
}

async function foldersOf(
  { name, options }: RunSpec["agent"],
  { env, commands = {} }: { env: Environment; commands: RunSpec["commands"] },
): Promise<string[]> {
  if (isAcp(name)) {
    const { agentFolders } = await import("../agents/acp/check.ts");
    return agentFolders({ name, options }, env);
  }
  if (name === "codex") {
    const { codexFolders } = await import("../agents/codex/program.ts");
    return codexFolders(options, env);
  }
  if (name === "opencode") {
    const { opencodeFolders } = await import("../agents/opencode/program.ts");
    return opencodeFolders(options, env);
  }
  if (name === "claude") {
    const { claudeFolders } = await import("../agents/claude/program.ts");
    return claudeFolders(options, env);
  }
  if (name === "messages") {
    const { messagesFolders } = await import("../agents/messages/check.ts");
    return messagesFolders();
  }
  const entry = lookUp(commands, name);
  if (entry === undefined) return [];
  const { commandFolders } = await import("../agents/command/program.ts");
  return commandFolders(entry, { options, env });
}

/** Begins to load what the agent needs, so that it is there when the first turn is. Its absence is told by `checkAgents`. */
export function warmAgent(name: string): void {
  if (name === "claude")
    Promise.all([import("../agents/claude.ts"), import("../platform/gateway.ts")]).catch(() => undefined);
  if (name === "opencode") import("../agents/opencode/sdk.ts").then(({ loadSdk }) => loadSdk()).catch(() => undefined);
}

type Checked = Pick<RunSpec, "agent" | "workspace" | "fence" | "environment" | "checks" | "commands">;

/** Each that may take a turn, before anything is spent. `own`: the program's, which it answers for itself. */
export async function checkAgents(
  spec: Checked & Roster,
  { env, own }: { env: Environment; own: readonly string[] },
): Promise<void> {
  for (const agent of agentSpecs(spec)) {
    if (agent.options["nativeGoal"] !== undefined && !WITH_NATIVE_GOAL.has(agent.name)) {
      const why =
        lookUp(NO_NATIVE_GOAL, agent.name) ?? `${agent.name} has no goal loop of its own that pawl could let run`;
      throw new UsageError(`--native-goal: ${why}`, { hint: "leave it out: pawl's own loop does this" });
    }
    // The run's own agent is the one that judges.
    const checks = agent.name === spec.agent.name ? spec.checks : [];
    if (!own.includes(agent.name)) await checkAgent({ ...spec, agent, checks }, env);
  }
}

/** Agents whose own goal loop may run inside a turn. */
const WITH_NATIVE_GOAL: ReadonlySet<string> = new Set(["codex"]);

/** Why not, where an agent has one. */
const NO_NATIVE_GOAL: Readonly<Record<string, string>> = {
  claude:
    "after each answer Claude Code's goal loop asks a judge, by requests that no message and no record shows: pawl could not meter or limit them",
};

/** UsageError when the named agent cannot work here: options it does not know, no program, no login. Spends nothing. */
async function checkAgent(spec: Checked, env: Environment): Promise<void> {
  const { name } = spec.agent;
  if (name === "claude") return await checkClaude(spec, env);
  if (name === "codex") {
    const { checkCodex } = await import("../agents/codex/check.ts");
    return checkCodex(spec, env);
  }
  if (isAcp(name)) {
    const { checkAcp } = await import("../agents/acp/check.ts");
    return await checkAcp(spec, env);
  }
  if (name === "opencode") {
    const { checkOpencode } = await import("../agents/opencode/check.ts");
    return checkOpencode(spec, env);
  }
  if (name === "messages") {
    const { checkMessages } = await import("../agents/messages/check.ts");
    return checkMessages(spec, env);
  }
  const entry = lookUp(spec.commands, name);
  if (entry === undefined) return;
  const { checkCommand } = await import("../agents/command/check.ts");
  checkCommand(spec, entry, env);
}

async function checkClaude({ agent, workspace, fence }: Checked, env: Environment): Promise<void> {
  const [
    { claudeOptions, readMcpServers },
    { readUserSettings },
    { claudeAvailable },
    { claudeLogin, loginEnvironment },
    { modelRoute },
  ] = await Promise.all([
    import("../agents/claude/options.ts"),
    import("../agents/claude/user-settings.ts"),
    import("../agents/claude/program.ts"),
    import("../agents/claude/login.ts"),
    import("../agents/claude/route.ts"),
  ]);
  const parsed = claudeOptions(agent.options, agent.ask);
  readMcpServers(parsed.mcp, workspace.path);
  if (parsed.userSettings) readUserSettings(env, { project: workspace.path });
  claudeAvailable(agent.options, env);
  const login = claudeLogin(env);
  if (login !== undefined) {
    if (fence.kind === "none" || fence.network === "open" || modelRoute(loginEnvironment(env)).is === "gateway") return;
    throw new UsageError(
      `Claude Code reaches its model itself with this login, which no fence lets it: ${login.describe}`,
      {
        hint: "--fence none; or --network open, with everything the login needs in the environment",
      },
    );
  }
  throw new UsageError("Claude Code has no login: no key in the environment and no stored credentials", {
    hint: "set ANTHROPIC_API_KEY, or log in once with `claude`",
  });
}
