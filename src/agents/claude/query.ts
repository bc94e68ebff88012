/** The arguments of one Claude Code session: what is new, gone on with or rewound, and how it is isolated. */
import type { McpServerConfig, Options } from "@anthropic-ai/claude-agent-sdk";
import type { OpenRequest } from "../../ports.ts";
import { QUESTION_TOOL } from "./ask-words.ts";
import type { Asks } from "./ask.ts";
import { PAWL_SERVER } from "../done-call.ts";
import { DONE_TOOL, doneServer } from "./done.ts";
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

function startOptions(start: Start): Options {
  switch (start.is) {
    case "new":
      return { sessionId: start.ref };
    case "resume":
      return { resume: start.ref };
    case "fork":
      return { resume: start.from, resumeSessionAt: start.at, forkSession: true, sessionId: start.ref };
    case "truncate":
      return { resume: start.ref, resumeSessionAt: start.at };
  }
}

interface Parts {
  start: Start;
  options: ClaudeOptions;
  env: Record<string, string>;
  model: string | undefined;
  asks: Asks;
  user: { file: string; servers: Record<string, McpServerConfig> } | undefined;
}

/** Who answers what would prompt a person: nobody, so that it is denied at once, or pawl. */
function askOptions({ agent: { ask } }: OpenRequest, { options, asks }: Pick<Parts, "options" | "asks">): Options {
  const asksQuestions = ask.questions === "ask";
  const disallowedTools = DISALLOWED_TOOLS.filter((name) => !(asksQuestions && name === QUESTION_TOOL));
  const { tools } = options;
  return {
    disallowedTools,
    ...(tools === undefined ? {} : { tools: asksQuestions ? [...tools, QUESTION_TOOL] : tools }),
    ...(ask.permissions === "allow" && !asksQuestions
      ? { permissionPrompts: "none" }
      : {
          canUseTool: asks.canUseTool,
          onElicitation: ({ serverName }) => Promise.resolve(asks.declineForm(serverName)),
        }),
  };
}

/**
 * Mode and allowed tools go to the program itself: with them in its own options, the SDK prints a warning to the user's
 * terminal that a callback is not asked about them. The user's further arguments may allow tools under either spelling.
 */
function extraArgs({ extra, permissions }: ClaudeOptions): NonNullable<Options["extraArgs"]> {
  const { allowedTools, "allowed-tools": allowed, ...rest } = extra;
  const others = Object.fromEntries(Object.entries(rest).filter(([name]) => !SYSTEM_PROMPTS.includes(name)));
  return {
    ...others,
    "permission-mode": permissions,
    allowedTools: [DONE_TOOL, allowedTools, allowed].filter(Boolean).join(","),
    // Shows when a message said into a running turn has been taken up.
    "replay-user-messages": null,
  };
}

const SYSTEM_PROMPTS = ["system-prompt", "append-system-prompt"];

/** The SDK tells it over the stream, and what the arguments say of it is then lost: the user's words go the same way. */
function systemPrompt(instructions: string, { extra }: ClaudeOptions): NonNullable<Options["systemPrompt"]> {
  const append = [instructions, extra["append-system-prompt"]].filter(Boolean).join("\n\n");
  const own = extra["system-prompt"];
  return typeof own === "string"
    ? [own, append].filter(Boolean).join("\n\n")
    : { type: "preset", preset: "claude_code", append };
}

/** Throws UsageError when a file that the options name cannot be read. */
export function queryOptions(request: OpenRequest, { start, options, env, model, asks, user }: Parts): Options {
  return {
    ...startOptions(start),
    cwd: request.workspace,
    env,
    settingSources: [],
    strictMcpConfig: true,
    // By a file: they may hold secrets, which a command line would show.
    ...(user === undefined ? {} : { settings: user.file }),
    ...(request.answer === undefined
      ? {
          mcpServers: {
            ...user?.servers,
            ...readMcpServers(options.mcp, request.workspace),
            [PAWL_SERVER]: doneServer(),
          },
        }
      : { outputFormat: { type: "json_schema", schema: { ...request.answer } } }),
    includePartialMessages: true,
    // What subagents spend is metered too.
    forwardSubagentText: true,
    // A prompt is what pawl composed: no `@file` in it is expanded and no `/command` is run.
    verbatimPrompts: true,
    systemPrompt: request.answer === undefined ? systemPrompt(request.instructions, options) : request.instructions,
    allowDangerouslySkipPermissions: options.permissions === "bypassPermissions",
    plugins: options.plugins.map((path) => ({ type: "local", path })),
    ...askOptions(request, { options, asks }),
    ...(options.maxTurns === undefined ? {} : { maxTurns: options.maxTurns }),
    ...(options.effort === undefined ? {} : { effort: options.effort }),
    ...(options.bin === undefined ? {} : { pathToClaudeCodeExecutable: options.bin }),
    ...(model === undefined ? {} : { model }),
    extraArgs: extraArgs(options),
  };
}
