/** The command agent keeps the agent's contract with real programs, each by its preset, on the stand-in model. */
import { dirname, join } from "node:path";
import { createRequire } from "node:module";
import { afterAll, beforeAll } from "vitest";
import { agentContract } from "../../test/contracts/agent.ts";
import { untilThere, type Behaviour } from "../../test/contracts/agent-play.ts";
import { ownPrompt, startScriptedModel } from "../../test/support/claude.ts";
import type { ScriptedModel } from "../../test/support/claude.ts";
import { armedWire, type ArmedWire } from "../../test/support/faulty-wire.ts";
import { tempDir } from "../../test/support/temp.ts";
import { commandEntrySchema, type CommandEntry } from "../spec/command-agent.ts";
import type { Step } from "../standin/script.ts";
import { command } from "./command.ts";
import { commandGaps } from "./command/gaps.ts";
import { presetEntry } from "./command/preset-entry.ts";

let model: ScriptedModel;
let wire: ArmedWire;
beforeAll(async () => {
  model = await startScriptedModel({ apiKey: "key" });
  wire = await armedWire(model.standin.url);
});
afterAll(async () => {
  await wire.close();
  await model.standin.close();
});

const require = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;
const folderOf = (name: string): string => dirname(require.resolve(`${name}/package.json`));

interface Program {
  preset: string;
  /** The program itself. */
  bin: () => string;
  shell: (command: string) => Step;
  write: (path: string, content: string) => Step;
  writeTool: string;
  models: { first: string; second: string };
  login: (url: string) => Record<string, string>;
}

function stepsFor(behaviour: Behaviour, { shell, write }: Program): Step[] {
  switch (behaviour.is) {
    case "answer":
      return [{ text: behaviour.text }];
    case "write":
      // Asked to go on with an answer that broke off, the model says its last words again.
      return [write(behaviour.path, behaviour.content), { text: behaviour.text, repeat: true }];
    case "work":
      return [shell(untilThere(behaviour.until)), { text: behaviour.text }];
    case "hang":
      return [{ hang: true }];
    case "crash":
      return [shell("kill -9 $PPID"), { text: "survived" }];
    case "limit":
      return [{ status: 429, retryAfterS: 3600 }];
    default:
      throw new Error(`a command cannot ${behaviour.is}`);
  }
}

const PROGRAMS: Program[] = [
  {
    preset: "claude-p",
    bin: () => join(folderOf(`@anthropic-ai/claude-agent-sdk-${platform}`), "claude"),
    shell: (line) => ({ tools: [{ name: "Bash", input: { command: line } }] }),
    write: (path, content) => ({ tools: [{ name: "Write", input: { file_path: path, content } }] }),
    writeTool: "Write",
    models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
    login: (url) => ({ ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url }),
  },
  {
    preset: "codex-exec",
    bin: () => join(folderOf(`@openai/codex-${platform}`), "vendor", "x86_64-unknown-linux-musl", "bin", "codex"),
    // Otherwise it lets a command go on behind the model's back after ten seconds.
    shell: (line) => ({ tools: [{ name: "exec_command", input: { cmd: line, yield_time_ms: 30_000 } }] }),
    write: (path, content) => ({
      tools: [{ name: "exec_command", input: { cmd: `printf %s '${content}' > ${path}` } }],
    }),
    writeTool: "command_execution",
    models: { first: "gpt-5.5", second: "gpt-5.6-luna" },
    login: (url) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1` }),
  },
  {
    preset: "qwen",
    bin: () => "qwen",
    shell: (line) => ({ tools: [{ name: "run_shell_command", input: { command: line, is_background: false } }] }),
    write: (path, content) => ({
      tools: [
        { name: "run_shell_command", input: { command: `printf %s '${content}' > ${path}`, is_background: false } },
      ],
    }),
    writeTool: "run_shell_command",
    models: { first: "gpt-5.5", second: "gpt-5.6-luna" },
    login: (url) => ({ OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1` }),
  },
];
/** The quickest of them; others by name, for whoever has the time: PAWL_TEST_COMMANDS=claude-p,qwen. */
const CHOSEN = (process.env["PAWL_TEST_COMMANDS"] ?? "codex-exec").split(",");

/** As `--agent-bin` would. */
function entryOf({ preset, bin }: Program): CommandEntry {
  const [, ...words] = presetEntry(preset).command;
  return commandEntrySchema.parse({ ...presetEntry(preset), command: [bin(), ...words] });
}

for (const program of PROGRAMS.filter(({ preset }) => CHOSEN.includes(preset))) {
  const entry = entryOf(program);
  const environment = { PATH: process.env["PATH"] ?? "", HOME: tempDir("home") };
  agentContract(`command (${program.preset})`, commandGaps(entry), () => ({
    agent: command({ name: program.preset, entry, userEnvironment: program.login(wire.url) }),
    prompt: (behaviour) => ownPrompt(stepsFor(behaviour, program)),
    environment,
    remembered: () => model.seen.at(-1)?.prompts ?? [],
    heard: () => model.seen.at(-1)?.words ?? "",
    lastModel: () => model.seen.at(-1)?.model,
    models: program.models,
    requests: () => model.seen.length,
    writeTool: program.writeTool,
    shell: (line, text) => ownPrompt([program.shell(line), { text }]),
    wire,
  }));
}
