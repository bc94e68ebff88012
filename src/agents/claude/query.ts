/** The arguments of one Claude Code session: what is new, gone on with or rewound, and how it is isolated. */
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import type { OpenRequest } from "../../ports.ts";
import type { ClaudeOptions } from "./options.ts";
import { readMcpServers } from "./options.ts";
import type { ClaudeProcess } from "./process.ts";

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
  "AskUserQuestion",
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
  process: ClaudeProcess;
}

/** Throws UsageError when a file that the options name cannot be read. */
export function queryOptions(request: OpenRequest, { start, options, env, model, process }: Parts): Options {
  return {
    ...startOptions(start),
    cwd: request.workspace,
    env,
    settingSources: [],
    strictMcpConfig: true,
    mcpServers: readMcpServers(options.mcp, request.workspace),
    includePartialMessages: true,
    // What subagents spend is metered too.
    forwardSubagentText: true,
    // A prompt is what pawl composed: no `@file` in it is expanded and no `/command` is run.
    verbatimPrompts: true,
    systemPrompt: { type: "preset", preset: "claude_code", append: request.instructions },
    permissionMode: options.permissions,
    allowDangerouslySkipPermissions: options.permissions === "bypassPermissions",
    permissionPrompts: "none",
    disallowedTools: [...DISALLOWED_TOOLS],
    plugins: options.plugins.map((path) => ({ type: "local", path })),
    ...(options.tools === undefined ? {} : { tools: options.tools }),
    ...(options.maxTurns === undefined ? {} : { maxTurns: options.maxTurns }),
    ...(options.effort === undefined ? {} : { effort: options.effort }),
    ...(options.bin === undefined ? {} : { pathToClaudeCodeExecutable: options.bin }),
    ...(model === undefined ? {} : { model }),
    // Shows when a message said into a running turn has been taken up.
    extraArgs: { ...options.extra, "replay-user-messages": null },
    spawnClaudeCodeProcess: (spawnOptions) => process.spawn(spawnOptions),
  };
}
