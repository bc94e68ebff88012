/** From an agent's name to the entry it is called by: the user's table first, then the presets. */
import { PRESETS } from "../agents/command/presets.ts";
import type { Resolved } from "../config.ts";
import { nearest } from "../config/nearest.ts";
import { isOwnAgent, OWN_AGENTS } from "../config/own-agents.ts";
import { UsageError } from "../errors.ts";
import type { CommandEntry } from "../spec/command-agent.ts";

/** Of the agents that come with pawl. */
export const agentNames = (): string[] => [...OWN_AGENTS, ...Object.keys(PRESETS)];

/** undefined: the agent has an adapter of its own. UsageError when nobody knows its name. */
export async function commandEntry({
  settings: { agent, agents = {} },
  origins,
}: Pick<Resolved, "settings" | "origins">): Promise<CommandEntry | undefined> {
  if (isOwnAgent(agent)) return undefined;
  const { presetEntry, tableEntry } = await import("../agents/command/preset-entry.ts");
  const given = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  if (given !== undefined) return tableEntry(agent, given);
  if (Object.hasOwn(PRESETS, agent)) return presetEntry(agent);
  const names = [...OWN_AGENTS, ...Object.keys(agents), ...Object.keys(PRESETS)];
  const where = origins.agent?.where ?? "agent";
  const label = /^(--|PAWL_)/.test(where) ? where : `agent in ${where}`;
  const meant = nearest(agent, names);
  throw new UsageError(`${label} must be one of: ${names.join(", ")}, not ${JSON.stringify(agent)}`, {
    hint: meant === undefined ? "any other program: under `agents` in pawl.yaml" : `did you mean ${meant}?`,
  });
}
