/** The environment of an ACP agent: the run's own, with pawl's addresses instead of keys, and nothing that calls home. */
import { join } from "node:path";
import type { OpenRequest } from "../../ports.ts";

/** Its own retries before pawl's waits take over. */
const MAX_API_RETRIES = 3;

/** What known programs understand; others pass over it. A variable that the user gives wins. */
const QUIET: Readonly<Record<string, string>> = {
  DO_NOT_TRACK: "1",
  NO_UPDATE_NOTIFIER: "1",
  NO_BROWSER: "1",
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false",
  CLAUDE_CODE_MAX_RETRIES: String(MAX_API_RETRIES),
  CLAUDE_CODE_EAGER_FLUSH: "1",
  // Work that outlives the turn would cost money and change files that no iteration owns.
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
  CLAUDE_CODE_DISABLE_CRON: "1",
  // Nothing is carried from one run to another behind pawl's back; the base's instruction files come from pawl.
  CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
  CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1",
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  GEMINI_TELEMETRY_ENABLED: "false",
  GEMINI_CLI_TRUST_WORKSPACE: "true",
};

export const temporaryFolder = (home: string): string => join(home, "tmp");

export function acpEnvironment(
  { home, environment }: Pick<OpenRequest, "home" | "environment">,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const listed = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  const direct = listed === "" ? "127.0.0.1" : `${listed},127.0.0.1`;
  return {
    ...QUIET,
    ...environment,
    ...variables,
    TMPDIR: temporaryFolder(home),
    // The user's proxy is the gateway's to use, not the way to the gateway.
    no_proxy: direct,
    NO_PROXY: direct,
  };
}
