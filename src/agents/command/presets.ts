/**
 * Well-known programs as entries of the command agent: data only, each from its public documentation. `tried` names the
 * version that was run on the stand-in model; without it nobody has run the preset here.
 */
import type { CommandGiven, OutputRule } from "../../spec/command-agent.ts";

export interface Preset extends CommandGiven {
  about: string;
  /** Where its command line is documented. */
  docs: string;
  tried?: string;
}

/** Messages and results as Claude Code prints them, and programs that followed it. */
const MESSAGES: readonly OutputRule[] = [
  { when: { type: "system", subtype: "init" }, session: "session_id", model: "model" },
  { when: { type: "assistant" }, message: "message.id" },
  { when: { type: "assistant" }, each: "message.content", where: { type: "thinking" }, thinking: "thinking" },
  { when: { type: "assistant" }, each: "message.content", where: { type: "text" }, text: "text" },
  {
    when: { type: "assistant" },
    each: "message.content",
    where: { type: "tool_use" },
    tool: { id: "id", name: "name", input: "input" },
  },
  {
    when: { type: "user" },
    each: "message.content",
    where: { type: "tool_result" },
    result: { id: "tool_use_id", output: "content", failed: "is_error" },
  },
  { when: { type: "result", is_error: false }, final: "result", ends: true },
];
const MESSAGE_USAGE = {
  of: "message",
  id: "message.id",
  input: "message.usage.input_tokens",
  output: "message.usage.output_tokens",
  "cache-read": "message.usage.cache_read_input_tokens",
  "cache-write": "message.usage.cache_creation_input_tokens",
} as const;

const ANTHROPIC = {
  url: "ANTHROPIC_BASE_URL",
  key: "ANTHROPIC_API_KEY",
  upstream: "https://api.anthropic.com",
  header: "x-api-key",
  requests: ["/v1/messages"],
} as const;
const OPENAI = {
  url: "OPENAI_BASE_URL",
  key: "OPENAI_API_KEY",
  upstream: "https://api.openai.com/v1",
  header: "authorization",
} as const;

const CODEX_CONFIG = `model_provider = "pawl"
approval_policy = "never"
check_for_update_on_startup = false
[model_providers.pawl]
name = "pawl"
base_url = "{url}"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
[analytics]
enabled = false
[features]
plugins = false
plugin_sharing = false
remote_plugin = false
plugin_discovery_prefetch = false
apps = false
`;
const CODEX_TOOLS = ["command_execution", "mcp_tool_call", "web_search", "file_change"];

export const PRESETS: Readonly<Record<string, Preset>> = {
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
  gemini: {
    about: "Gemini CLI, `gemini -p`",
    docs: "https://geminicli.com/docs/cli/headless",
    install: "npm install -g @google/gemini-cli",
    command: [
      "gemini",
      ["--output-format", "stream-json"],
      ["--approval-mode", "{permissions}"],
      ["--model", "{model}"],
      ["--resume", "{session}"],
    ],
    // Without a name it asks another model which one to take.
    defaults: { permissions: "yolo", model: "gemini-2.5-pro" },
    environment: { HOME: "{home}", GEMINI_CLI_TRUST_WORKSPACE: "true", NO_COLOR: "1" },
    files: {
      ".gemini/settings.json":
        '{"general":{"disableAutoUpdate":true,"enableAutoUpdate":false},"privacy":{"usageStatisticsEnabled":false},"telemetry":{"enabled":false},"security":{"auth":{"selectedType":"gemini-api-key"}}}',
    },
    gateway: {
      url: "GOOGLE_GEMINI_BASE_URL",
      key: "GEMINI_API_KEY",
      upstream: "https://generativelanguage.googleapis.com",
      header: "x-goog-api-key",
      requests: ["/v1beta/models/"],
    },
    interrupt: "SIGINT",
    exit: { "41": "authentication", "42": "invalid", "53": "max-turns", "130": "cut" },
    output: {
      format: "jsonl",
      rules: [
        { when: { type: "init" }, session: "session_id", model: "model" },
        { when: { type: "message", role: "assistant", delta: true }, text: "content", piece: true },
        { when: { type: "message", role: "assistant", delta: [false, null] }, text: "content" },
        { when: { type: "tool_use" }, tool: { id: "tool_id", name: "tool_name", input: "parameters" } },
        { when: { type: "tool_result", status: "success" }, result: { id: "tool_id", output: "output" } },
        {
          when: { type: "tool_result", status: "error" },
          result: { id: "tool_id", output: "error.message", failed: true },
        },
        {
          when: { type: "result" },
          usage: {
            of: "turn",
            input: "stats.input_tokens",
            output: "stats.output_tokens",
            "cache-read": "stats.cached",
            "input-with-cache": true,
          },
        },
        { when: { type: "result", status: "success" }, ends: true },
        { when: { type: "result", status: "error" }, error: { text: "error.message" } },
      ],
    },
  },
  cursor: {
    about: "Cursor's agent, `cursor-agent -p`",
    docs: "https://cursor.com/docs/cli/reference/output-format",
    install: "curl https://cursor.com/install -fsS | bash",
    command: [
      "cursor-agent",
      ["-p", "--output-format", "stream-json", "--force", "--trust"],
      ["--model", "{model}"],
      ["--resume", "{session}"],
    ],
    instructions: "own",
    environment: { HOME: "{home}" },
    pass: ["CURSOR_API_KEY"],
    login: ["CURSOR_API_KEY"],
    hosts: ["*.cursor.sh", "*.cursor.com"],
    interrupt: "SIGINT",
    output: {
      format: "jsonl",
      rules: [
        { when: { type: "system", subtype: "init" }, session: "session_id", model: "model" },
        { when: { type: "assistant" }, each: "message.content", where: { type: "text" }, text: "text" },
        {
          when: { type: "tool_call", subtype: "started" },
          tool: { id: "call_id", name: "tool_call.~", input: "tool_call.*.args" },
        },
        {
          when: { type: "tool_call", subtype: "completed" },
          result: { id: "call_id", output: "tool_call.*.result" },
        },
        {
          when: { type: "result", is_error: false },
          final: "result",
          usage: {
            of: "turn",
            input: "usage.inputTokens",
            output: "usage.outputTokens",
            "cache-read": "usage.cacheReadTokens",
            "cache-write": "usage.cacheWriteTokens",
          },
          ends: true,
        },
        { when: { type: "result", is_error: true }, error: { text: "result" } },
      ],
    },
  },
  amp: {
    about: "Amp, `amp --execute`",
    docs: "https://ampcode.com/manual",
    install: "npm install -g @sourcegraph/amp",
    command: [
      "amp",
      ["threads", "continue", "{session}"],
      ["--execute", "--stream-json", "--dangerously-allow-all", "--no-notifications", "--no-ide"],
    ],
    instructions: "own",
    environment: { HOME: "{home}", AMP_SKIP_UPDATE_CHECK: "1" },
    pass: ["AMP_API_KEY"],
    login: ["AMP_API_KEY"],
    hosts: ["ampcode.com", "*.ampcode.com"],
    interrupt: "SIGINT",
    output: {
      format: "jsonl",
      rules: [
        ...MESSAGES,
        { when: { type: "assistant" }, usage: MESSAGE_USAGE },
        { when: { type: "result", is_error: true }, error: { text: "error" } },
      ],
    },
  },
  pi: {
    about: "Pi, `pi --mode json`",
    docs: "https://pi.dev/docs/latest/json",
    install: "npm install -g --ignore-scripts @earendil-works/pi-coding-agent",
    command: [
      "pi",
      ["--mode", "json", "--print"],
      ["--model", "{model}"],
      ["--session-id", "{new-session}"],
      ["--session", "{session}"],
      ["--tools", "{tools}"],
      ["--thinking", "{effort}"],
    ],
    instructions: "own",
    environment: { PI_CODING_AGENT_DIR: "{home}", PI_OFFLINE: "1", PI_TELEMETRY: "0" },
    pass: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
    login: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"],
    hosts: ["api.anthropic.com", "api.openai.com", "generativelanguage.googleapis.com"],
    interrupt: "SIGINT",
    output: {
      format: "jsonl",
      rules: [
        { when: { type: "session" }, session: "id" },
        {
          when: { type: "message_end", "message.role": "assistant" },
          model: "message.model",
          message: "message.responseId",
          usage: {
            of: "message",
            id: "message.timestamp",
            input: "message.usage.input",
            output: "message.usage.output",
            "cache-read": "message.usage.cacheRead",
            "cache-write": "message.usage.cacheWrite",
            cost: "message.usage.cost.total",
          },
        },
        {
          when: { type: "message_end", "message.role": "assistant" },
          each: "message.content",
          where: { type: "text" },
          text: "text",
        },
        {
          when: { type: "tool_execution_start" },
          tool: { id: "toolCallId", name: "toolName", input: "args" },
        },
        {
          when: { type: "tool_execution_end" },
          result: { id: "toolCallId", output: "result", failed: "isError" },
        },
        { when: { type: "auto_retry_start" }, retry: { attempt: "attempt", "delay-ms": "delayMs" } },
        {
          when: { type: "message_end", "message.stopReason": "error" },
          error: { text: "message.errorMessage" },
        },
        { when: { type: "agent_end" }, ends: true },
      ],
    },
  },
  copilot: {
    about: "GitHub Copilot CLI",
    docs: "https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-programmatic-reference",
    install: "npm install -g @github/copilot",
    command: ["copilot", ["-s", "--allow-all-tools", "--no-ask-user", "--no-color"], ["--model={model}"]],
    instructions: "own",
    environment: { HOME: "{home}", COPILOT_AUTO_UPDATE: "false" },
    pass: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    login: ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"],
    hosts: ["*.githubcopilot.com", "api.github.com"],
    interrupt: "SIGINT",
    output: { format: "text" },
  },
  aider: {
    about: "Aider",
    docs: "https://aider.chat/docs/scripting.html",
    install: "python -m pip install aider-install && aider-install",
    prompt: "file",
    command: [
      "aider",
      ["--message-file", "{prompt-file}"],
      ["--model", "{model}"],
      ["--yes-always", "--no-auto-commits", "--no-dirty-commits", "--no-gitignore", "--no-stream", "--no-pretty"],
      ["--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-suggest-shell-commands"],
      ["--chat-history-file", "{home}/chat.md", "--input-history-file", "{home}/input"],
      ["--reasoning-effort", "{effort}"],
    ],
    environment: { HOME: "{home}" },
    gateway: { ...OPENAI, url: "OPENAI_API_BASE", requests: ["/chat/completions"] },
    interrupt: "SIGINT",
    output: { format: "text" },
  },
};
