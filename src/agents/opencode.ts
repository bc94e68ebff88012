/** opencode through its SDK: one server for the sessions of one home, inside the run's fence, or one that runs already. */
import type { Agent, Gap } from "../ports.ts";
import { inspectTurn } from "./opencode/inspect.ts";
import { opencodeLogins } from "./opencode/login.ts";
import { loadSdk } from "./opencode/sdk.ts";
import { servers } from "./opencode/server.ts";
import { opencodeSession } from "./opencode/session.ts";

interface OpencodeSetup {
  /** The user's own: logins, endpoints and proxies are taken from it, nothing else. */
  userEnvironment: Readonly<Record<string, string | undefined>>;
}

export const OPENCODE_GAPS: readonly Gap[] = [
  { cannot: "switch-model-now", reason: "a model goes with a prompt; a running turn keeps its own" },
];

export function opencode({ userEnvironment }: OpencodeSetup): Agent {
  const logins = opencodeLogins(userEnvironment);
  const shared = servers({ logins, user: userEnvironment });
  return {
    name: "opencode",
    gaps: OPENCODE_GAPS,
    open(request) {
      // Loaded beside what happens before the first turn; a failure shows there.
      loadSdk().catch(() => undefined);
      return Promise.resolve(opencodeSession(request, { logins, servers: shared, userEnvironment }));
    },
    inspect: (request, { uuid }) => inspectTurn(request, { uuid, user: userEnvironment }),
  };
}
