/**
 * `agent[:model]` as people write it: the name of the agent ends at the first colon, the model is everything behind it and
 * may hold colons and slashes. The one reader of such entries: an agent whose second part is something else (a command
 * line) gets it here as its model, as it is.
 */
import type { AgentEntry } from "./spec.ts";

/** Those that pawl knows by name; a program may bring its own. */
export const AGENT_NAMES = ["claude", "codex"] as const;

/** As it was written. */
export const entryName = ({ agent, model }: AgentEntry): string => (model === undefined ? agent : `${agent}:${model}`);

/** undefined: it is none. */
export function readEntry(text: string): AgentEntry | undefined {
  const [, agent = "", colon = "", model = ""] = /^([^:]*)(:?)([^]*)$/.exec(text.trim()) ?? [];
  if (!/^[A-Za-z][\w.-]*$/.test(agent) || (colon !== "" && model.trim() === "")) return undefined;
  return colon === "" ? { agent } : { agent, model: model.trim() };
}

/** What stands in `escalate`: a model of the run's own agent, unless it begins with the name of one. */
export function readModelOrEntry(
  text: string,
  { agent, known }: { agent: string; known: readonly string[] },
): AgentEntry {
  const entry = readEntry(text);
  return entry !== undefined && known.includes(entry.agent) ? entry : { agent, model: text.trim() };
}
