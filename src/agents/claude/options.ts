/** What only Claude Code understands of an agent's options, checked before a run starts. */
import type { McpServerConfig, Options, PermissionMode } from "@anthropic-ai/claude-agent-sdk";
import { UsageError } from "../../errors.ts";
import type { AgentSpec, AskSpec } from "../../spec.ts";
import { PAWL_SERVER } from "../done-call.ts";
import { readMcpFiles, refuseOwnName } from "../mcp-files.ts";
import { words, type OptionValue } from "../option-words.ts";
import { lookUp } from "../../platform/look-up.ts";

type Effort = NonNullable<Options["effort"]>;

export interface ClaudeOptions {
  tools: string[] | undefined;
  maxTurns: number | undefined;
  permissions: PermissionMode;
  plugins: string[];
  /** Files with `mcpServers`. */
  mcp: string[];
  effort: Effort | undefined;
  /** Path of the program, instead of the one that comes with the SDK. */
  bin: string | undefined;
  extra: Record<string, string | null>;
  /** The user's own settings, hooks and servers count, too. */
  userSettings: boolean;
}

const PERMISSIONS = ["bypassPermissions", "acceptEdits", "default", "plan", "dontAsk", "auto"] as const;
const EFFORTS = ["low", "medium", "high", "xhigh", "max"] as const;
const KNOWN = ["tools", "maxTurns", "permissions", "plugins", "mcp", "effort", "bin", "extra", "userSettings"];

/** Flags that pawl itself must set, with why. */
const RESERVED: Readonly<Record<string, string>> = {
  print: "pawl talks to it over its stream protocol",
  "input-format": "pawl talks to it over its stream protocol",
  "output-format": "pawl talks to it over its stream protocol",
  "session-id": "pawl chooses the session",
  resume: "pawl chooses the session",
  continue: "pawl chooses the session",
  "fork-session": "pawl chooses the session",
  "no-session-persistence": "a run could not be gone on with",
  "max-budget-usd": "it blocks a persistent session for good; use pawl's own --max-cost",
  model: "use pawl's own --model",
  "permission-mode": "use pawl's own --permissions",
  "dangerously-skip-permissions": "use pawl's own --permissions",
  "permission-prompt-tool": "use pawl's own --on-permission",
  "permission-prompts": "use pawl's own --on-permission",
  "mcp-config": "use pawl's own --mcp",
  "max-turns": "use pawl's own --agent-max-turns",
  "system-prompt-file": "its words would be lost; use --system-prompt",
  "append-system-prompt-file": "its words would be lost; use --append-system-prompt",
  bg: "pawl needs it in the foreground",
  background: "pawl needs it in the foreground",
};

function oneOf<T extends string>(name: string, value: OptionValue | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((word) => word === value);
  if (found !== undefined) return found;
  throw new UsageError(`agent option ${name} is ${JSON.stringify(value)}`, { hint: `one of: ${allowed.join(", ")}` });
}

/** `--flag value`, `--flag=value` and `--flag`, as given after `--` on the command line. */
function extraArguments(given: readonly string[]): Record<string, string | null> {
  const extra: Record<string, string | null> = {};
  for (let i = 0; i < given.length; i += 1) {
    const match = /^--([a-zA-Z][\w-]*)(?:=([^]*))?$/.exec(given[i] as string);
    if (match === null) {
      throw new UsageError(`Claude Code gets options only, not ${JSON.stringify(given[i])}`, {
        hint: "write --name value or --name=value after --",
      });
    }
    const name = match[1] as string;
    const why = lookUp(RESERVED, name);
    if (why !== undefined) throw new UsageError(`--${name} cannot be passed on to Claude Code: ${why}`);
    if (Object.hasOwn(extra, name))
      throw new UsageError(`--${name} is given twice`, { hint: "join the values with commas" });
    const next = given[i + 1];
    if (match[2] !== undefined) extra[name] = match[2];
    else if (next !== undefined && !next.startsWith("--")) {
      extra[name] = next;
      i += 1;
    } else extra[name] = null;
  }
  return extra;
}

type Policy = Pick<AskSpec, "permissions" | "questions">;
const NOBODY_ASKED: Policy = { permissions: "allow", questions: "deny" };

/** Modes in which the program never asks whether it may use a tool. */
const SILENT_MODES: readonly PermissionMode[] = ["bypassPermissions", "dontAsk"];

function permissionMode(given: PermissionMode | undefined, { permissions, questions }: Policy): PermissionMode {
  if (given === "dontAsk" && questions === "ask") {
    throw new UsageError("--questions ask contradicts --permissions dontAsk: the agent would not ask", {
      hint: "leave one of them out",
    });
  }
  if (permissions === "allow") return given ?? "bypassPermissions";
  const denied = permissions === "deny" && given === "dontAsk";
  if (given !== undefined && SILENT_MODES.includes(given) && !denied) {
    throw new UsageError(
      `--on-permission ${permissions} contradicts --permissions ${given}: nothing would ever be asked`,
      {
        hint: "leave one of them out, or take --permissions default or acceptEdits",
      },
    );
  }
  // Edits in the workspace are what a run is for, and every one can be undone; asking for each would stop it at once.
  return given ?? "acceptEdits";
}

/** Throws UsageError for what Claude Code does not support. */
export function claudeOptions(options: AgentSpec["options"], ask = NOBODY_ASKED): ClaudeOptions {
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw new UsageError(`the claude agent has no option ${unknown}`, { hint: `it knows: ${KNOWN.join(", ")}` });
  }
  const { maxTurns, bin } = options;
  if (maxTurns !== undefined && !(typeof maxTurns === "number" && Number.isInteger(maxTurns) && maxTurns > 0)) {
    throw new UsageError(`agent option maxTurns is ${JSON.stringify(maxTurns)}`, { hint: "a whole number above 0" });
  }
  if (bin !== undefined && (typeof bin !== "string" || bin === "")) {
    throw new UsageError("agent option bin must be the path of the claude program");
  }
  return {
    tools: options["tools"] === undefined ? undefined : words("tools", options["tools"]),
    maxTurns,
    permissions: permissionMode(oneOf("permissions", options["permissions"], PERMISSIONS), ask),
    plugins: words("plugins", options["plugins"]),
    mcp: words("mcp", options["mcp"]),
    effort: oneOf("effort", options["effort"], EFFORTS),
    bin,
    extra: extraArguments(words("extra", options["extra"])),
    userSettings: options["userSettings"] === true,
  };
}

/** Of a session that only answers: the program and how hard it thinks; no tools, nobody's plugins, servers or arguments. */
export function answerOptions({ bin, effort }: AgentSpec["options"]): ClaudeOptions {
  return claudeOptions({
    tools: [],
    ...(bin === undefined ? {} : { bin }),
    ...(effort === undefined ? {} : { effort }),
  });
}

/** The servers of all files, later ones win. Throws UsageError. */
export function readMcpServers(files: readonly string[], workspace: string): Record<string, McpServerConfig> {
  return readMcpFiles(files, {
    workspace,
    serverOf(name, server, file) {
      refuseOwnName(name, { own: PAWL_SERVER, file });
      return server as unknown as McpServerConfig;
    },
  });
}
