/** Codex through its app-server: one persistent process per conversation, JSON-RPC over its standard streams. */
import type { Agent, Gap } from "../ports.ts";
import { inspectTurn } from "./codex/inspect.ts";
import { codexLogin } from "./codex/login.ts";
import { codexSession } from "./codex/session.ts";

interface CodexSetup {
  /** The user's own: login, endpoint and proxies are taken from it, nothing else. */
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export const CODEX_GAPS: readonly Gap[] = [
  { cannot: "report-cost", reason: "Codex tells tokens but no price; pawl takes the list price" },
];

export function codex({ userEnvironment }: CodexSetup): Agent {
  const login = codexLogin(userEnvironment);
  return {
    name: "codex",
    gaps: CODEX_GAPS,
    open: (request) => Promise.resolve(codexSession(request, { login, userEnvironment })),
    inspect: inspectTurn,
  };
}
