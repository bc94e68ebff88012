/** What only the messages agent understands of an agent's options, checked before a run starts. */
import { UsageError } from "../../errors.ts";
import type { AgentSpec } from "../../spec.ts";
import { words, type OptionValue } from "../option-words.ts";
import { TOOL_NAMES } from "./tools.ts";
import { lookUp } from "../../platform/look-up.ts";

const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
const KNOWN = ["tools", "maxTurns", "effort", "maxTokens", "executor", "files", "contextEditing", "requestTokens"];
/** Options of other agents, with why this one has none such. */
const REFUSED: Readonly<Record<string, string>> = {
  mcp: "--mcp: the messages agent has no MCP servers",
  plugins: "--plugin: the messages agent has no plugins",
  permissions: "--permissions: the messages agent has no modes; --on-permission says what happens with commands",
  bin: "--agent-bin: the messages agent is no program",
  server: "--agent-server: the messages agent has no server",
  extra: "--: the messages agent is no program that could get arguments",
  userSettings: "--user-settings: the messages agent has no settings of yours",
};
const DEFAULT_MAX_TOKENS = 32_000;

/** A file of the user's for the provider's sandbox. */
export interface GivenFile {
  /** Absolute. */
  path: string;
  /** Hex, of its bytes. */
  sha256: string;
  /** What the code finds it as. */
  name: string;
}

export interface MessagesOptions {
  /** Names of those that the model gets. */
  tools: readonly string[];
  maxTurns: number | undefined;
  effort: (typeof EFFORTS)[number] | undefined;
  /** Of one answer. */
  maxTokens: number;
  /** `claude`: the model runs code in its provider's sandbox. */
  executor: "claude" | undefined;
  files: readonly GivenFile[];
  /** The provider may leave old results of tools out of a long conversation, and sum it up. */
  contextEditing: boolean;
  /** No request has more tokens than this; undefined: than the model takes. */
  requestTokens: number | undefined;
}

/** Throws UsageError for what it does not support. */
export function messagesOptions(options: AgentSpec["options"]): MessagesOptions {
  for (const [name, value] of Object.entries(options)) {
    if (KNOWN.includes(name) || (Array.isArray(value) && value.length === 0)) continue;
    const why = lookUp(REFUSED, name);
    if (why !== undefined) throw new UsageError(why, { hint: "leave it out, or take another agent" });
    throw new UsageError(`the messages agent has no option ${name}`, { hint: `it knows: ${KNOWN.join(", ")}` });
  }
  const { executor, contextEditing } = options;
  const effort = EFFORTS.find((word) => word === options["effort"]);
  if (options["effort"] !== undefined && effort === undefined)
    throw new UsageError(`--effort is ${JSON.stringify(options["effort"])}`, {
      hint: `one of: ${EFFORTS.join(", ")}`,
    });
  if (executor !== undefined && executor !== "claude")
    throw new UsageError(`agent option executor is ${JSON.stringify(executor)}`, { hint: "claude" });
  const files = filesOf(options["files"]);
  if (files.length > 0 && executor === undefined)
    throw new UsageError("agent option files is for executor: claude", { hint: "set executor, or leave files out" });
  return {
    tools: toolsOf(options["tools"]),
    maxTurns: wholeNumber("maxTurns", options["maxTurns"]),
    effort,
    maxTokens: wholeNumber("maxTokens", options["maxTokens"]) ?? DEFAULT_MAX_TOKENS,
    executor,
    files,
    contextEditing: contextEditing === true,
    requestTokens: wholeNumber("requestTokens", options["requestTokens"]),
  };
}

function toolsOf(value: OptionValue | undefined): readonly string[] {
  if (value === undefined) return TOOL_NAMES;
  const wanted = words("tools", value);
  const unknown = wanted.find((name) => !TOOL_NAMES.includes(name));
  if (unknown === undefined) return wanted;
  throw new UsageError(`--tools ${unknown}: the messages agent has no such tool`, { hint: TOOL_NAMES.join(", ") });
}

function wholeNumber(name: string, value: OptionValue | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value > 0) return value;
  throw new UsageError(`agent option ${name} is ${JSON.stringify(value)}`, { hint: "a whole number above 0" });
}

function filesOf(value: OptionValue | undefined): GivenFile[] {
  if (value === undefined) return [];
  const wrong = new UsageError("agent option files must be a list of { path, sha256, name }");
  if (!Array.isArray(value)) throw wrong;
  return value.map((one) => {
    if (typeof one !== "object" || one === null || Array.isArray(one)) throw wrong;
    const { path, sha256, name } = one;
    if (typeof path !== "string" || typeof sha256 !== "string" || typeof name !== "string") throw wrong;
    return { path, sha256, name };
  });
}
