/** Codex's config.toml for one session: the way to its model, everything off that asks other servers or other people. */
import type { Json } from "./protocol.ts";

/** Its own retries before pawl's waits take over, of requests that got no answer. */
const REQUEST_RETRIES = 2;
/** Silence of the model is pawl's to end, not Codex's. */
const IDLE_FACTOR = 2;

export const PROVIDER = "pawl";

/** What would ask servers other than the model, write for other runs, or go on by itself. */
const OFF = [
  "plugins",
  "plugin_sharing",
  "remote_plugin",
  "plugin_discovery_prefetch",
  "apps",
  "memories",
  // Their cost is told nowhere.
  "multi_agent",
  "shell_snapshot",
  "enable_request_compression",
  "unbounded_connection_retries",
  "daemon_auto_start",
  "in_app_updates",
  "workspace_owner_usage_nudge",
  "tool_suggest",
  "skill_mcp_dependency_install",
  "browser_use",
  "computer_use",
  "image_generation",
  // Asks the model's own servers beside the model.
  "api_key_model_discovery",
] as const;

interface Wanted {
  baseUrl: string;
  idleTimeoutMs: number;
  questions: boolean;
  tools: boolean;
  /** Its own loop: while its thread has a goal, it goes on by itself. */
  goals: boolean;
  servers: Readonly<Record<string, Json>>;
  /** Of the tools' environment, instead of the program's. */
  variables: Readonly<Record<string, string>>;
  /** Folders beside the workspace that its own sandbox lets the tools write to. */
  writable: readonly string[];
  /** Where they cannot be told with the thread. */
  instructions: string | undefined;
}

export function configToml({
  baseUrl,
  idleTimeoutMs,
  questions,
  tools,
  goals,
  servers,
  variables,
  writable,
  instructions,
}: Wanted): string {
  const features = Object.fromEntries(OFF.map((name) => [name, false]));
  const toolless = tools ? {} : { shell_tool: false, view_image: false, sleep_tool: false };
  const config: Json = {
    model_provider: PROVIDER,
    check_for_update_on_startup: false,
    suppress_unstable_features_warning: true,
    // Instruction files come from pawl, as they were at the start.
    project_doc_max_bytes: 0,
    // A login shell would put the system's PATH in place of the run's.
    allow_login_shell: false,
    ...(instructions === undefined ? {} : { developer_instructions: instructions }),
    web_search: "disabled",
    cli_auth_credentials_store: "file",
    model_providers: {
      [PROVIDER]: {
        name: PROVIDER,
        base_url: baseUrl,
        wire_api: "responses",
        supports_websockets: false,
        request_max_retries: REQUEST_RETRIES,
        stream_max_retries: 0,
        stream_idle_timeout_ms: idleTimeoutMs * IDLE_FACTOR,
      },
    },
    // Some models get subagents by another way than the feature.
    agents: { enabled: false },
    analytics: { enabled: false },
    feedback: { enabled: false },
    history: { persistence: "none" },
    shell_environment_policy: { inherit: "all", ignore_default_excludes: true, set: variables },
    // It makes an empty .git in every folder of these, and leaves it there: never in one that others use.
    sandbox_workspace_write: { exclude_slash_tmp: true, exclude_tmpdir_env_var: true, writable_roots: writable },
    features: {
      ...features,
      ...toolless,
      goals,
      step_model_switching: true,
      default_mode_request_user_input: questions,
    },
    mcp_servers: servers,
  };
  return tomlOf(config);
}

/** Everything inline but the top: short, and no table can be torn apart. */
function tomlOf(config: Json): string {
  return Object.entries(config)
    .map(([key, value]) => `${keyOf(key)} = ${valueOf(value)}\n`)
    .join("");
}

const keyOf = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

function valueOf(value: unknown): string {
  if (typeof value === "string") return textOf(value);
  if (Array.isArray(value)) return `[${value.map(valueOf).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const pairs = Object.entries(value).filter(([, one]) => one !== undefined && one !== null);
    return `{ ${pairs.map(([key, one]) => `${keyOf(key)} = ${valueOf(one)}`).join(", ")} }`;
  }
  return String(value);
}

/** A basic string of TOML is JSON's, but for what JSON leaves unescaped. */
const textOf = (text: string): string => JSON.stringify(text).replaceAll("\u007f", String.raw`\u007f`);
