/** The configuration and the environment of one server: nothing of the user's, nothing of the workspace's. */
import { makePrivateDir } from "../../platform/files.ts";
import type { OpenRequest } from "../../ports.ts";
import type { AskSpec } from "../../spec.ts";
import { PAWL_SERVER } from "../done-call.ts";
import { DONE_TOOL } from "./done.ts";
import { xdgFolder } from "./home.ts";
import type { Json } from "./json.ts";
import type { ModelName } from "./model.ts";
import type { Reached } from "./model-way.ts";
import type { OpencodeOptions } from "./options.ts";

const XDG = ["config", "data", "state", "cache"] as const;
/** What never needs a permission: edits in the workspace are what a run is for, and every one can be undone. */
const HARMLESS = ["read", "edit", "glob", "grep", "list", "lsp", "todowrite", "todoread", "task", "skill"];
/** Rules about other tools: without them a list of tools would forbid those, too. */
const MANNERS = ["external_directory", "doom_loop"];
/** The tool by which it gives an answer that fits a schema. */
const ANSWER_TOOL = "StructuredOutput";

interface Wanted {
  options: OpencodeOptions;
  reached: Reached;
  /** Those that may be asked for: opencode refuses a name that it does not know. */
  models: readonly ModelName[];
  servers: Readonly<Record<string, Json>>;
}

export function configOf({ options, reached, models, servers }: Wanted): Json {
  const providers = [...reached.urls].map(([provider, { url, token }]) => {
    const named = models.filter(({ providerID }) => providerID === provider).map(({ modelID }) => [modelID, {}]);
    return [provider, { options: { baseURL: url, apiKey: token }, models: Object.fromEntries(named) }];
  });
  const done = { type: "remote", url: reached.done, oauth: false };
  return {
    enabled_providers: [...reached.urls.keys()],
    provider: Object.fromEntries(providers),
    // The strictest, which holds for subagents, too; a session of its own may be freer.
    permission: permissions(options, { permissions: "ask", questions: "ask" }),
    mcp: { ...servers, [PAWL_SERVER]: done },
    share: "disabled",
    autoupdate: false,
    // pawl keeps every state of the tree itself.
    snapshot: false,
    // Both would start programs that nobody asked for, and change what was written.
    lsp: false,
    formatter: false,
    experimental: { continue_loop_on_deny: true },
  };
}

type Action = "allow" | "deny" | "ask";
type Policy = Pick<AskSpec, "permissions" | "questions">;

/** For a session: subagents of it ask, and are answered by policy. One that only answers has no tools. */
export function sessionRules(
  { agent: { ask }, answer }: Pick<OpenRequest, "agent" | "answer">,
  options: OpencodeOptions,
): { permission: string; pattern: string; action: Action }[] {
  const rules: Record<string, Action> =
    answer === undefined ? permissions(options, ask) : { "*": "deny", [ANSWER_TOOL]: "allow" };
  return Object.entries(rules).map(([permission, action]) => ({ permission, pattern: "*", action }));
}

/** The last rule that fits counts. */
function permissions(options: OpencodeOptions, ask: Policy): Record<string, Action> {
  const asked = ask.permissions === "allow" ? "allow" : "ask";
  const names = options.tools === undefined ? HARMLESS : [...options.tools, ...MANNERS];
  const named = names.map((name) => [name, HARMLESS.includes(name) ? "allow" : asked] as const);
  return {
    "*": options.tools === undefined ? asked : "deny",
    ...Object.fromEntries(named),
    ...(options.agent === "plan" ? { edit: "deny" as const } : {}),
    question: ask.questions === "ask" ? "allow" : "deny",
    // Changes of its mode are a person's to decide.
    plan_enter: "deny",
    plan_exit: "deny",
    [DONE_TOOL]: "allow",
  };
}

export function environmentOf(
  { home, environment }: Pick<OpenRequest, "home" | "environment">,
  { config, password }: { config: Json; password: string },
): Record<string, string> {
  for (const name of XDG) makePrivateDir(xdgFolder(home, name));
  const listed = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  const direct = listed === "" ? "127.0.0.1,localhost" : `${listed},127.0.0.1,localhost`;
  return {
    ...environment,
    ...Object.fromEntries(XDG.map((name) => [`XDG_${name.toUpperCase()}_HOME`, xdgFolder(home, name)])),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
    OPENCODE_SERVER_PASSWORD: password,
    OPENCODE_AUTH_CONTENT: "{}",
    OPENCODE_DISABLE_PROJECT_CONFIG: "1",
    OPENCODE_DISABLE_CLAUDE_CODE: "1",
    OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_EMBEDDED_WEB_UI: "1",
    OPENCODE_EXPERIMENTAL_DISABLE_FILEWATCHER: "1",
    OPENCODE_PURE: "1",
    // The user's proxy is the gateway's to use, not the way to the gateway.
    no_proxy: direct,
    NO_PROXY: direct,
  };
}
