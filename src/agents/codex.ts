/** Codex through its app-server: one persistent process per conversation, JSON-RPC over its standard streams. */
import type { Agent } from "../ports.ts";
import { inspectTurn } from "./codex/inspect.ts";
import { codexLogin } from "./codex/login.ts";
import { codexSession } from "./codex/session.ts";

interface CodexSetup {
  /** The user's own: login, endpoint and proxies are taken from it, nothing else. */
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export function codex({ userEnvironment }: CodexSetup): Agent {
  const login = codexLogin(userEnvironment);
  return {
    name: "codex",
    gaps: [{ cannot: "report-cost", reason: "Codex tells tokens but no price; pawl takes the list price" }],
    open: (request) => Promise.resolve(codexSession(request, { login, userEnvironment })),
    inspect: inspectTurn,
  };
}
