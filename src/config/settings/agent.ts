/** Who works, with what, and what happens when it needs a person. */
import { z } from "zod";
import { readEntry } from "../../agent-entry.ts";
import { count, duration } from "../units.ts";
import { agentTable } from "./agents.ts";
import { choice, hook, lines, names, of, text, yes, type Setting } from "./kinds.ts";

/** By name, or `NAME:MODEL`; an ACP agent by its command. Which there are depends on `agents`. */
const agent = text.refine((given) => readEntry(given) !== undefined, "must be AGENT, AGENT:MODEL or acp:COMMAND");

export const AGENT_SETTINGS = {
  agent: of({
    schema: agent,
    argument: "NAME",
    group: "agent",
    about:
      "who works: claude, codex, opencode, messages, acp:COMMAND, or any of `pawl doctor --agents`; NAME:MODEL names its model",
  }),
  agents: of({ schema: agentTable, flag: null, group: "agent", about: "agents of your own, by name (docs/agents.md)" }),
  model: of({ schema: text, argument: "NAME", group: "agent", about: "the agent's own default otherwise" }),
  "fallback-model": of({
    schema: text,
    argument: "NAME",
    group: "agent",
    about: "stronger model for when the first one is stuck",
  }),
  context: of({
    schema: choice(["persistent", "fresh", "auto"]),
    argument: "HOW",
    group: "agent",
    about: "persistent, fresh in each iteration, or auto",
  }),
  "context-limit": of({
    schema: count,
    argument: "TOKENS",
    group: "agent",
    about: "of context, after which auto starts a fresh session",
  }),
  tools: of({ schema: names, argument: "LIST", group: "agent", about: "the agent's tools, by name" }),
  "agent-max-turns": of({
    schema: count,
    argument: "N",
    group: "agent",
    about: "the agent's own limit: model requests in one turn",
  }),
  permissions: of({ schema: text, argument: "MODE", group: "agent", about: "the agent's permission mode" }),
  plugin: of({
    schema: lines,
    argument: "PATH",
    repeated: true,
    group: "agent",
    about: "plugin for the agent (may be repeated)",
  }),
  mcp: of({
    schema: lines,
    argument: "FILE",
    repeated: true,
    group: "agent",
    about: "MCP servers for the agent (may be repeated)",
  }),
  effort: of({ schema: text, argument: "LEVEL", group: "agent", about: "how hard the model thinks" }),
  "user-settings": of({
    schema: yes,
    group: "agent",
    about: "also your own settings, hooks and MCP servers of the agent (docs/agents.md)",
  }),
  "agent-bin": of({ schema: text, argument: "PATH", group: "agent", about: "the agent's program" }),
  "agent-server": of({
    schema: text,
    argument: "URL",
    group: "agent",
    about: "a server of the agent's that runs already (opencode); it is outside the fence",
  }),
  "agent-args": of({
    schema: z.array(z.string()),
    flag: null,
    group: "agent",
    about: "further arguments; on the command line all after --",
  }),
  env: of({
    schema: names,
    argument: "NAME",
    repeated: true,
    group: "agent",
    about: "pass this variable to the agent and the checks (may be repeated)",
  }),
  home: of({
    schema: choice(["private", "user"]),
    argument: "WHOSE",
    group: "agent",
    about: "HOME of the agent and the checks: private or user",
  }),
  "idle-timeout": of({
    schema: duration,
    argument: "TIME",
    group: "agent",
    about: "without a sign of life a turn is cut",
  }),
  "turn-timeout": of({ schema: duration, argument: "TIME", group: "agent", about: "of one turn" }),
  "completion-grace": of({
    schema: duration,
    argument: "TIME",
    flag: null,
    group: "agent",
    about: "after its answer the agent may hold its output open so long",
  }),

  "on-permission": of({
    schema: choice(["allow", "deny", "ask"]),
    argument: "HOW",
    group: "people",
    about: "the agent asks to use a tool: allow, deny or ask a person",
  }),
  questions: of({
    schema: choice(["deny", "ask"]),
    argument: "HOW",
    group: "people",
    about: "deny: nobody is asked, the agent decides itself; ask: a person is",
  }),
  "answer-timeout": of({
    schema: duration,
    argument: "TIME",
    group: "people",
    about: "a person has this long; then as with deny",
  }),
  "on-errors": of({
    schema: choice(["fail", "pause"]),
    argument: "HOW",
    group: "people",
    about: "after max-errors: end, or write the notes and wait for a person",
  }),
  hooks: of({
    schema: z.array(hook, "must be a list of hooks"),
    flag: null,
    group: "people",
    about: "commands of yours at points of the loop (docs/hooks.md)",
  }),
} as const satisfies Readonly<Record<string, Setting>>;
