/** Claude Code through its Agent SDK: one persistent streaming session per conversation, the real program behind it. */
import type { Agent } from "../ports.ts";
import { inspectTurn } from "./claude/inspect.ts";
import { loginEnvironment } from "./claude/login.ts";
import { claudeSession } from "./claude/session.ts";

interface ClaudeSetup {
  /** The user's own: login, endpoint and proxies are taken from it, and settings where a run asks for them. */
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export function claude({ userEnvironment }: ClaudeSetup): Agent {
  const login = loginEnvironment(userEnvironment);
  return {
    name: "claude",
    gaps: [],
    open(request) {
      return Promise.resolve(claudeSession(request, { login, user: userEnvironment }));
    },
    inspect: inspectTurn,
  };
}
