/** What a run may ask of an ACP agent. The protocol has words for few of pawl's options; the others are refused. */
import { UsageError } from "../../errors.ts";
import type { AgentSpec } from "../../spec.ts";
import { wordsOf } from "./command-line.ts";
import { lookUp } from "../../platform/look-up.ts";

export interface AcpOptions {
  /** The program and its arguments. */
  command: readonly [string, ...string[]];
  /** A session mode of the agent, by its id. */
  mode: string | undefined;
  /** Of the agent's own levels of thinking. */
  effort: string | undefined;
  /** Files with MCP servers. */
  mcp: readonly string[];
  /** Model requests in one turn; needs a model that is led through pawl. */
  maxTurns: number | undefined;
}

type Value = AgentSpec["options"][string];

const KNOWN = ["maxTurns", "permissions", "mcp", "effort", "bin", "extra"];
const REFUSED: Readonly<Record<string, { message: string; hint: string }>> = {
  tools: {
    message: "--tools: the Agent Client Protocol has no way to choose an agent's tools",
    hint: "the agent's own settings or arguments (after --) may have one",
  },
  userSettings: {
    message: "--user-settings: pawl does not know where an acp agent has its settings",
    hint: "--home user lets it find them by itself where they are below your home; with --fence none they can be read",
  },
  plugins: {
    message: "--plugin: the Agent Client Protocol knows no plugins",
    hint: "give the agent tools with --mcp FILE",
  },
};
/** How the name of such an agent begins; its command line is the rest. */
const ACP = "acp:";
const NO_COMMAND = {
  message: "--agent acp needs the command of an agent that speaks the Agent Client Protocol",
  hint: "--agent 'acp:gemini --acp'",
};

function texts(flag: string, value: Value | undefined): string[] {
  if (value === undefined) return [];
  if (typeof value === "string") return [value];
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value;
  throw new UsageError(`${flag} must be a list of words`);
}

function word(flag: string, value: Value | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "string" && value.trim() !== "") return value;
  throw new UsageError(`${flag} must be a word`);
}

/** Throws UsageError for what cannot be asked of an ACP agent. */
export function acpOptions({ name: agent, options }: Pick<AgentSpec, "name" | "options">): AcpOptions {
  for (const name of Object.keys(options)) {
    const refused = lookUp(REFUSED, name);
    if (refused !== undefined) throw new UsageError(refused.message, { hint: refused.hint });
    if (KNOWN.includes(name)) continue;
    throw new UsageError(`the acp agent has no option ${name}`, { hint: `it knows: ${KNOWN.join(", ")}` });
  }
  const { maxTurns } = options;
  if (maxTurns !== undefined && !(typeof maxTurns === "number" && Number.isInteger(maxTurns) && maxTurns > 0)) {
    throw new UsageError(`--agent-max-turns is ${JSON.stringify(maxTurns)}`, { hint: "a whole number above 0" });
  }
  const [named, ...rest] = agent.startsWith(ACP) ? wordsOf(agent.slice(ACP.length)) : [];
  const program = word("--agent-bin", options["bin"]) ?? named;
  if (program === undefined || named === undefined) throw new UsageError(NO_COMMAND.message, { hint: NO_COMMAND.hint });
  return {
    command: [program, ...rest, ...texts("the arguments after --", options["extra"])],
    mode: word("--permissions", options["permissions"]),
    effort: word("--effort", options["effort"]),
    mcp: texts("--mcp", options["mcp"]),
    maxTurns,
  };
}

/** Of a session that only answers: the program and how hard it thinks; nobody's servers, and no mode that may do more. */
export function answerOptions({ name, options }: Pick<AgentSpec, "name" | "options">): AcpOptions {
  const { bin, extra, effort } = options;
  const kept = Object.entries({ bin, extra, effort }).filter(([, value]) => value !== undefined);
  return acpOptions({ name, options: Object.fromEntries(kept) as AgentSpec["options"] });
}
