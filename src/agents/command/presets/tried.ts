/** Presets that were run on the stand-in model. */
import { ANTHROPIC, MESSAGE_USAGE, MESSAGES, OPENAI, type Preset } from "./shared.ts";

/**
 * Instruction files come from pawl; a login shell would put the system's PATH in place of the run's; and an answer that
 * broke off is not asked for again by the program, whose conversation may have a part of it already: pawl goes on.
 */
const CODEX_CONFIG = `model_provider = "pawl"
approval_policy = "never"
check_for_update_on_startup = false
project_doc_max_bytes = 0
allow_login_shell = false
web_search = "disabled"
[model_providers.pawl]
name = "pawl"
base_url = "{url}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 0
[agents]
enabled = false
[analytics]
enabled = false
[feedback]
enabled = false
[history]
persistence = "none"
[features]
plugins = false
plugin_sharing = false
remote_plugin = false
plugin_discovery_prefetch = false
apps = false
`;
const CODEX_TOOLS = ["command_execution", "mcp_tool_call", "web_search", "file_change"];

export const TRIED: Readonly<Record<string, Preset>> = {
  "claude-p": {
    about: "Claude Code, `claude -p`",
    docs: "https://code.claude.com/docs/en/headless",
    tried: "2.1.325",
    install: "npm install -g @anthropic-ai/claude-code",
    command: [
      "claude",
      ["-p", "--output-format", "stream-json", "--verbose", "--strict-mcp-config", "--setting-sources", ""],
      ["--model", "{model}"],
      ["--session-id", "{new-session}"],
      ["--resume", "{session}"],
      ["--permission-mode", "{permissions}"],
      ["--append-system-prompt-file", "{instructions-file}"],
      ["--tools", "{tools}"],
      ["--max-turns", "{max-turns}"],
      ["--mcp-config", "{mcp}"],
      ["--effort", "{effort}"],
    ],
    defaults: { permissions: "bypassPermissions" },
    environment: {
      CLAUDE_CONFIG_DIR: "{home}",
      CLAUDE_CODE_TMPDIR: "{home}/tmp",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
      CLAUDE_CODE_DISABLE_AUTO_MEMORY: "1",
      CLAUDE_CODE_DISABLE_CLAUDE_MDS: "1",
      CLAUDE_CODE_EAGER_FLUSH: "1",
      CLAUDE_CODE_MAX_RETRIES: "3",
      IS_SANDBOX: "1",
    },
    gateway: { ...ANTHROPIC, requests: [...ANTHROPIC.requests] },
    interrupt: "SIGINT",
    output: {
      format: "jsonl",
      rules: [
        ...MESSAGES,
        { when: { type: "assistant" }, usage: MESSAGE_USAGE },
        {
          when: { type: "system", subtype: "api_retry" },
          retry: { attempt: "attempt", "delay-ms": "retry_delay_ms", status: "error_status" },
        },
        {
          when: { type: "result" },
          usage: {
            of: "turn",
            input: "usage.input_tokens",
            output: "usage.output_tokens",
            "cache-read": "usage.cache_read_input_tokens",
            "cache-write": "usage.cache_creation_input_tokens",
          },
        },
        {
          when: { type: "result", is_error: true },
          error: {
            kind: "api_error_type",
            kinds: {
              authentication_error: "authentication",
              permission_error: "authentication",
              billing_error: "billing",
              rate_limit_error: "rate",
              overloaded_error: "overloaded",
              not_found_error: "model",
              request_too_large: "context",
            },
            status: "api_error_status",
            text: "result",
          },
        },
      ],
    },
  },
  "codex-exec": {
    about: "Codex, `codex exec`",
    docs: "https://developers.openai.com/codex/noninteractive",
    tried: "0.166.0",
    install: "npm install -g @openai/codex",
    command: [
      "codex",
      ["exec", "--json", "--skip-git-repo-check"],
      ["-s", "{permissions}"],
      ["-m", "{model}"],
      ["-c", "model_reasoning_effort={effort}"],
      "{args}",
      ["resume", "{session}"],
      "-",
    ],
    defaults: { permissions: "danger-full-access" },
    environment: { CODEX_HOME: "{home}", RUST_LOG: "error" },
    files: { "config.toml": CODEX_CONFIG },
    gateway: { ...OPENAI, requests: ["/responses"] },
    interrupt: "SIGINT",
    output: {
      format: "jsonl",
      rules: [
        { when: { type: "thread.started" }, session: "thread_id" },
        { when: { type: "item.completed", "item.type": "agent_message" }, message: "item.id", text: "item.text" },
        { when: { type: "item.completed", "item.type": "reasoning" }, thinking: "item.text" },
        {
          when: { type: ["item.started", "item.completed"], "item.type": CODEX_TOOLS },
          tool: { id: "item.id", name: "item.type", input: "item" },
        },
        {
          when: { type: "item.completed", "item.type": CODEX_TOOLS, "item.status": "completed" },
          result: { id: "item.id", output: "item.aggregated_output" },
        },
        {
          when: { type: "item.completed", "item.type": CODEX_TOOLS, "item.status": ["failed", "declined"] },
          result: { id: "item.id", output: "item.aggregated_output", failed: true },
        },
        {
          when: { type: "turn.completed" },
          usage: {
            of: "session",
            input: "usage.input_tokens",
            output: "usage.output_tokens",
            "cache-read": "usage.cached_input_tokens",
            "cache-write": "usage.cache_write_input_tokens",
            "input-with-cache": true,
          },
          ends: true,
        },
        { when: { type: "turn.failed" }, error: { text: "error.message" } },
      ],
    },
  },
  qwen: {
    about: "Qwen Code",
    docs: "https://qwenlm.github.io/qwen-code-docs/en/users/features/headless",
    tried: "0.24.4",
    install: "npm install -g @qwen-code/qwen-code",
    command: [
      "qwen",
      ["--output-format", "stream-json", "--auth-type", "openai", "--bare"],
      ["--approval-mode", "{permissions}"],
      ["--model", "{model}"],
      ["--session-id", "{new-session}"],
      ["--resume", "{session}"],
      ["--core-tools", "{tools}"],
      ["--max-session-turns", "{max-turns}"],
      ["--mcp-config", "{mcp}"],
    ],
    defaults: { permissions: "yolo" },
    environment: { HOME: "{home}", QWEN_CODE_SUPPRESS_YOLO_WARNING: "1", NO_COLOR: "1" },
    files: {
      ".qwen/settings.json":
        '{"general":{"disableAutoUpdate":true,"disableUpdateNag":true},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false}}',
    },
    gateway: { ...OPENAI, requests: ["/chat/completions"] },
    interrupt: "SIGINT",
    exit: { "53": "max-turns", "130": "cut" },
    output: {
      format: "jsonl",
      rules: [
        ...MESSAGES,
        {
          when: { type: "assistant" },
          usage: { ...MESSAGE_USAGE, "input-with-cache": true },
        },
        { when: { type: "result", is_error: true }, error: { text: "error.message" } },
      ],
    },
  },
};
