/** The environment of a Claude Code process: the run's own, the user's login, and the settings that isolate it. */
import { join } from "node:path";
import type { OpenRequest } from "../../ports.ts";
import type { ClaudeOptions } from "./options.ts";
import { gatewayEnvironment, type Reached } from "./route.ts";

/** Its own retries before pawl's waits take over; each shows as a `retry` event. */
const MAX_API_RETRIES = 3;

export const configDirectory = (home: string): string => join(home, "claude");
export const temporaryDirectory = (home: string): string => join(home, "tmp");

interface Circumstances {
  login: Readonly<Record<string, string>>;
  /** undefined: it goes to its model directly. */
  reached: Reached | undefined;
  options: ClaudeOptions;
  isRoot: boolean;
}

/** `login` comes from the user's environment; a name the run sets itself wins over it. */
export function claudeEnvironment(
  request: Pick<OpenRequest, "home" | "environment">,
  { login, reached, options, isRoot }: Circumstances,
): Record<string, string> {
  // They are for tools, and change what the program itself does.
  const { NODE_OPTIONS: _options, DEBUG: _debug, ...given } = { ...login, ...request.environment };
  return {
    ...(reached === undefined ? given : gatewayEnvironment(given, reached)),
    CLAUDE_CONFIG_DIR: configDirectory(request.home),
    CLAUDE_CODE_TMPDIR: temporaryDirectory(request.home),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // The side of the protocol that speaks as the Agent SDK does.
    CLAUDE_CODE_ENTRYPOINT: "sdk-ts",
    CLAUDE_CODE_MAX_RETRIES: String(MAX_API_RETRIES),
    // The end of a turn is the session becoming idle, not a count of results.
    CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1",
    // The prompt is on disk before the request, the answer before the result: `inspect` relies on it.
    CLAUDE_CODE_EAGER_FLUSH: "1",
    CLAUDE_CODE_STARTUP_FAILURE_RESULTS: "1",
    // Work that outlives the turn would cost money and change files that no iteration owns.
    CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
    CLAUDE_CODE_DISABLE_CRON: "1",
    CLAUDE_CODE_DISABLE_WORKFLOWS: "1",
    // A dozen gits after each command, for a diff that nobody looks at here.
    CLAUDE_CODE_BASH_EDIT_DIFF: "0",
    // Nothing is carried from one run to another behind pawl's back; the base's instruction files come from pawl.
    CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
    CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1",
    ...(isRoot && options.permissions === "bypassPermissions" ? { IS_SANDBOX: "1" } : {}),
  };
}
