/**
 * The command line of one Claude Code session, and the request by which it is initialized: what is new, gone on with or
 * rewound, and how it is isolated. Both are what the Agent SDK makes of the same wishes; a test compares them.
 */
import { extname } from "node:path";
import type { McpServerConfig } from "@anthropic-ai/claude-agent-sdk";
import type { OpenRequest } from "../../ports.ts";
import { PAWL_SERVER } from "../done-call.ts";
import { QUESTION_TOOL } from "./ask-words.ts";
import { DONE_TOOL } from "./done.ts";
import type { ClaudeOptions } from "./options.ts";
import { readMcpServers } from "./options.ts";

/**
 * Loops, schedules and questions of its own: pawl's loop decides when it goes on, and nobody is there to answer.
 * Worktrees and remote work would happen where pawl does not look.
 */
const DISALLOWED_TOOLS = [
  "ProposeGoal",
  "ScheduleWakeup",
  "Workflow",
  "CronCreate",
  "CronDelete",
  "CronList",
  "RemoteTrigger",
  "Monitor",
  "PushNotification",
  QUESTION_TOOL,
  "EnterPlanMode",
  "ExitPlanMode",
  "EnterWorktree",
  "ExitWorktree",
] as const;

/** How the conversation starts, decided from what is on disk. */
export type Start =
  | { is: "new"; ref: string }
  | { is: "resume"; ref: string }
  | { is: "fork"; ref: string; from: string; at: string }
  | { is: "truncate"; ref: string; at: string };

function startArgs(start: Start): string[] {
  switch (start.is) {
    case "new":
      return [`--session-id=${start.ref}`];
    case "resume":
      return [`--resume=${start.ref}`];
    case "fork":
      return [
        `--resume=${start.from}`,
        "--fork-session",
        `--resume-session-at=${start.at}`,
        `--session-id=${start.ref}`,
      ];
    case "truncate":
      return [`--resume=${start.ref}`, `--resume-session-at=${start.at}`];
  }
}

interface Parts {
  start: Start;
  options: ClaudeOptions;
  model: string | undefined;
  user: { file: string; servers: Record<string, McpServerConfig> } | undefined;
}

export interface CommandLine {
  args: string[];
  /** The request that opens the conversation. */
  initialize: Readonly<Record<string, unknown>>;
}

/** Its input and output are JSON, a message a line, with every part of an answer as it comes. */
const STREAMS = [
  "--output-format",
  "stream-json",
  "--verbose",
  "--input-format",
  "stream-json",
  "--include-partial-messages",
  // Shows when a message said into a running turn has been taken up.
  "--replay-user-messages",
];

/** Throws UsageError when a file that the options name cannot be read. */
export function commandLine(request: OpenRequest, { start, options, model, user }: Parts): CommandLine {
  const { answer, workspace } = request;
  const servers = answer === undefined ? { ...user?.servers, ...readMcpServers(options.mcp, workspace) } : {};
  const given = (name: string, value: string | number | undefined): string[] =>
    value === undefined ? [] : [`--${name}=${value}`];
  return {
    args: [
      ...STREAMS,
      ...given("effort", options.effort),
      ...given("max-turns", options.maxTurns),
      ...given("model", model),
      ...(answer === undefined ? [] : [`--json-schema=${JSON.stringify(answer)}`]),
      ...askArgs(request, options),
      ...(Object.keys(servers).length === 0 ? [] : ["--mcp-config", JSON.stringify({ mcpServers: servers })]),
      // Nothing of the user's but what was asked for.
      "--setting-sources=",
      "--strict-mcp-config",
      ...(options.permissions === "bypassPermissions" ? ["--allow-dangerously-skip-permissions"] : []),
      ...options.plugins.map((path) => `--plugin-dir=${path}`),
      ...startArgs(start),
      ...extraArgs(options),
      // By a file: they may hold secrets, which a command line would show.
      ...(user === undefined ? [] : ["--settings", user.file]),
    ],
    initialize: {
      subtype: "initialize",
      ...(answer === undefined ? { sdkMcpServers: [PAWL_SERVER] } : { jsonSchema: answer }),
      ...(answer === undefined
        ? systemPrompt(request.instructions, options)
        : { systemPrompt: [request.instructions] }),
      // What subagents spend is metered too.
      forwardSubagentText: true,
    },
  };
}

/** Who answers what would prompt a person: nobody, so that it is denied at once, or pawl. */
function askArgs({ agent: { ask } }: OpenRequest, { tools }: ClaudeOptions): string[] {
  const asksQuestions = ask.questions === "ask";
  const disallowed = DISALLOWED_TOOLS.filter((name) => !(asksQuestions && name === QUESTION_TOOL));
  const offered = asksQuestions && tools !== undefined ? [...tools, QUESTION_TOOL] : tools;
  const isSilent = ask.permissions === "allow" && !asksQuestions;
  return [
    isSilent ? "--permission-prompts=none" : "--permission-prompt-tool=stdio",
    `--disallowedTools=${disallowed.join(",")}`,
    ...(offered === undefined ? [] : [`--tools=${offered.join(",")}`]),
  ];
}

/** The user's further arguments may allow tools under either spelling. */
function extraArgs({ extra, permissions }: ClaudeOptions): string[] {
  const { allowedTools, "allowed-tools": allowed, ...rest } = extra;
  const others = Object.entries(rest).filter(([name]) => !SYSTEM_PROMPTS.includes(name));
  return [
    ...others.flatMap(([name, value]) => (value === null ? [`--${name}`] : [`--${name}=${value}`])),
    `--permission-mode=${permissions}`,
    `--allowedTools=${[DONE_TOOL, allowedTools, allowed].filter(Boolean).join(",")}`,
  ];
}

const SYSTEM_PROMPTS = ["system-prompt", "append-system-prompt"];

/** What is told over the stream takes the place of what the arguments say of it: the user's words go the same way. */
function systemPrompt(instructions: string, { extra }: ClaudeOptions): Record<string, unknown> {
  const append = [instructions, extra["append-system-prompt"]].filter(Boolean).join("\n\n");
  const own = extra["system-prompt"];
  return typeof own === "string"
    ? { systemPrompt: [[own, append].filter(Boolean).join("\n\n")] }
    : { appendSystemPrompt: append };
}

const SCRIPTS = new Set([".js", ".mjs", ".cjs", ".ts", ".mts"]);

/** A script needs not be executable. */
export const commandOf = (program: string): readonly [string, ...string[]] =>
  SCRIPTS.has(extname(program)) ? ["node", program] : [program];
