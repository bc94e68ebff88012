/** Claude Code, the real program, as the Agent SDK would drive it: one persistent streaming session per conversation. */
import type { Agent } from "../ports.ts";
import { inspectTurn } from "./claude/inspect.ts";
import { loginEnvironment } from "./claude/login.ts";
import { untested } from "./claude/program.ts";
import { claudeSession } from "./claude/session.ts";

interface ClaudeSetup {
  /** The user's own: login, endpoint and proxies are taken from it, and settings where a run asks for them. */
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export function claude({ userEnvironment }: ClaudeSetup): Agent {
  const login = loginEnvironment(userEnvironment);
  /** Each is told of once. */
  const heard = new Set<string>();
  const onVersion = (version: string): string | undefined => {
    if (heard.has(version)) return undefined;
    heard.add(version);
    return untested(version);
  };
  return {
    name: "claude",
    gaps: [],
    open(request) {
      return Promise.resolve(claudeSession(request, { login, user: userEnvironment, onVersion }));
    },
    inspect: inspectTurn,
  };
}
