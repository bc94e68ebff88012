/**
 * `agent[:model]` as people write it: the name of the agent ends at the first colon, the model is everything behind it and
 * may hold colons and slashes. The one reader of such entries. What stands behind `acp:` is a command line, not a model.
 */
import type { AgentEntry } from "./spec.ts";

/** Those that pawl knows by name; a program may bring its own. */
export const AGENT_NAMES = ["claude", "codex", "opencode", "messages"] as const;
/** How the name of an ACP agent begins; its command is the rest, and the whole is its name. */
const ACP = "acp:";

export const isAcp = (name: string): boolean => name.startsWith(ACP) && name.length > ACP.length;

/** `own`: those that a program brings. */
export const isKnown = (name: string, own: readonly string[] = []): boolean =>
  [...AGENT_NAMES, ...own].some((known) => known === name) || isAcp(name);

/** As it was written. */
export const entryName = ({ agent, model }: AgentEntry): string => (model === undefined ? agent : `${agent}:${model}`);

/** undefined: it is none. */
export function readEntry(text: string): AgentEntry | undefined {
  const [, command = ""] = /^acp:([^]*)$/.exec(text.trim()) ?? [];
  if (command.trim() !== "") return { agent: ACP + command.trim() };
  const [, agent = "", colon = "", model = ""] = /^([^:]*)(:?)([^]*)$/.exec(text.trim()) ?? [];
  if (!/^[A-Za-z][\w.-]*$/.test(agent) || (colon !== "" && model.trim() === "")) return undefined;
  return colon === "" ? { agent } : { agent, model: model.trim() };
}

/** What stands in `escalate`: a model of the run's own agent, unless it begins with the name of one. */
export function readModelOrEntry(text: string, { agent, own }: { agent: string; own: readonly string[] }): AgentEntry {
  const entry = readEntry(text);
  return entry !== undefined && isKnown(entry.agent, own) ? entry : { agent, model: text.trim() };
}
