/** What only opencode understands of an agent's options, checked before a run starts. */
import { UsageError } from "../../errors.ts";
import type { AgentSpec, AskSpec } from "../../spec.ts";
import { words, type OptionValue } from "../option-words.ts";
import { lookUp } from "../../platform/look-up.ts";

/** opencode's own names of what an agent may do; they are how its tools are switched off, too. */
const TOOLS = [
  "bash",
  "edit",
  "glob",
  "grep",
  "list",
  "lsp",
  "read",
  "skill",
  "task",
  "todowrite",
  "webfetch",
  "websearch",
];
/** All of them write files, and are one permission. */
const EDITORS = ["write", "patch", "apply_patch", "multiedit"];
const AGENTS = ["build", "plan"] as const;
const KNOWN = ["tools", "maxTurns", "permissions", "mcp", "effort", "bin", "server", "userSettings"];
/** Options of other agents, with why opencode has none such. */
const REFUSED: Readonly<Record<string, string>> = {
  plugins: "--plugin: opencode plugins are not loaded in a run; give it servers with --mcp",
  extra: "--: opencode serve gets no further arguments from pawl",
};

export interface OpencodeOptions {
  /** undefined: all of them. */
  tools: string[] | undefined;
  /** Model requests in one turn. */
  maxTurns: number | undefined;
  /** Which of opencode's own agents works. */
  agent: (typeof AGENTS)[number];
  /** Files with `mcpServers`. */
  mcp: string[];
  /** One of the model's variants; which there are, the server knows. */
  effort: string | undefined;
  bin: string | undefined;
  /** URL of a server that runs already. */
  server: string | undefined;
}

function text(flag: string, value: OptionValue | undefined): string | undefined {
  if (value === undefined || (typeof value === "string" && value !== "")) return value;
  throw new UsageError(`${flag} is ${JSON.stringify(value)}`, { hint: "a word" });
}

function toolNames(value: OptionValue | undefined): string[] | undefined {
  if (value === undefined) return undefined;
  const names = words("tools", value).map((name) => (EDITORS.includes(name) ? "edit" : name));
  // An underscore is how opencode names the tools of MCP servers.
  const unknown = names.find((name) => !TOOLS.includes(name) && !/^[\w-]+_[\w*-]+$/.test(name));
  if (unknown === undefined) return [...new Set(names)];
  throw new UsageError(`--tools ${unknown}: opencode has no such tool`, {
    hint: `${TOOLS.join(", ")}, or server_tool of an MCP server`,
  });
}

function agentNamed(value: OptionValue | undefined): OpencodeOptions["agent"] {
  const found = AGENTS.find((name) => name === (value ?? "build"));
  if (found !== undefined) return found;
  throw new UsageError(`--permissions ${JSON.stringify(value)}, which opencode does not know`, {
    hint: `one of its agents: ${AGENTS.join(", ")}`,
  });
}

function serverAt(value: OptionValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  const url = typeof value === "string" ? URL.parse(value) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.username === "") return url.href;
  throw new UsageError(`--agent-server ${JSON.stringify(value)} is no address of a server`, {
    hint: "http://127.0.0.1:4096; its password in OPENCODE_SERVER_PASSWORD",
  });
}

type Policy = Pick<AskSpec, "permissions" | "questions">;
const NOBODY_ASKED: Policy = { permissions: "allow", questions: "deny" };

/** What a server that runs already decides by its own settings. */
function refuseForServer(options: AgentSpec["options"], ask: Policy): void {
  const flags: Readonly<Record<string, string>> = {
    tools: "--tools",
    maxTurns: "--agent-max-turns",
    mcp: "--mcp",
    bin: "--agent-bin",
  };
  const given = Object.keys(flags).find((name) => options[name] !== undefined);
  const wrong = given === undefined ? undefined : flags[given];
  const asked = ask.permissions === "deny" ? "--on-permission deny" : wrong;
  if (asked === undefined) return;
  throw new UsageError(`${asked} cannot be had with --agent-server: that server has settings of its own`, {
    hint: "leave one of them out",
  });
}

/** Throws UsageError for what opencode does not support. */
export function opencodeOptions(options: AgentSpec["options"], ask = NOBODY_ASKED): OpencodeOptions {
  for (const name of Object.keys(options)) {
    const why = lookUp(REFUSED, name);
    if (why !== undefined && words(name, options[name]).length > 0) {
      throw new UsageError(why, { hint: "leave it out" });
    }
    if (why === undefined && !KNOWN.includes(name)) {
      throw new UsageError(`the opencode agent has no option ${name}`, { hint: `it knows: ${KNOWN.join(", ")}` });
    }
  }
  const { maxTurns } = options;
  if (maxTurns !== undefined && !(typeof maxTurns === "number" && Number.isInteger(maxTurns) && maxTurns > 0)) {
    throw new UsageError(`--agent-max-turns is ${JSON.stringify(maxTurns)}`, { hint: "a whole number above 0" });
  }
  const server = serverAt(options["server"]);
  if (server !== undefined) refuseForServer(options, ask);
  else if (options["userSettings"] === true) {
    throw new UsageError("--user-settings: opencode has yours only on a server that you started yourself", {
      hint: "--agent-server URL, with --fence none; or give it servers with --mcp",
    });
  }
  return {
    tools: toolNames(options["tools"]),
    maxTurns,
    agent: agentNamed(options["permissions"]),
    mcp: words("mcp", options["mcp"]),
    effort: text("--effort", options["effort"]),
    bin: text("--agent-bin", options["bin"]),
    server,
  };
}

/** Of a session that only answers: the program and how hard it thinks; nobody's servers or tools. */
export function answerOptions({ bin, effort, server }: AgentSpec["options"]): OpencodeOptions {
  return opencodeOptions({
    ...(bin === undefined ? {} : { bin }),
    ...(effort === undefined ? {} : { effort }),
    ...(server === undefined ? {} : { server }),
  });
}
