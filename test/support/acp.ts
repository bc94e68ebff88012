/** Real ACP agents against the stand-in model: their commands, and what their tools are called with. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import type { Step } from "../../src/standin/script.ts";
import { untilThere, type Behaviour } from "../contracts/agent-play.ts";
import { crash as crashOf, exec, patch } from "./codex.ts";
import { COMPILED } from "./temp.ts";

const require = createRequire(import.meta.url);

/** The program of a package beside pawl, run by the Node that runs the tests. */
function packageProgram(name: string): string {
  const file = require.resolve(`${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(file, "utf8")) as { bin: Record<string, string> };
  return join(dirname(file), Object.values(bin)[0] ?? "");
}

export const CLAUDE_ACP = packageProgram("@agentclientprotocol/claude-agent-acp");
export const CODEX_ACP = packageProgram("@agentclientprotocol/codex-acp");
/** Of agents that are scripts: they find Node, and are not compiled anew at every start. */
export const WITH_NODE = {
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  NODE_COMPILE_CACHE: COMPILED,
};

/** How the tools of one agent are called. */
export interface Dialect {
  shell(command: string): Step;
  write(path: string, content: string): Step;
  /** A command that needs a permission. */
  need(command: string): Step;
  question(question: string, options: readonly string[]): Step;
  crash(): Step;
}

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

export const claudeDialect: Dialect = {
  shell: bash,
  write: (path, content) => ({ tools: [{ name: "Write", input: { file_path: path, content } }] }),
  need: bash,
  question(question, labels) {
    const options = labels.map((label) => ({ label, description: `take ${label}` }));
    const questions = [{ question, header: "Choice", multiSelect: false, options }];
    return { tools: [{ name: "AskUserQuestion", input: { questions } }] };
  },
  crash: () => crashOf(bash),
};

export const codexDialect: Dialect = {
  shell: exec,
  write: patch,
  need(cmd) {
    const input = { cmd, sandbox_permissions: "require_escalated", justification: "it writes" };
    return { tools: [{ name: "exec_command", input }] };
  },
  question(question, labels) {
    const options = labels.map((label) => ({ label, description: `take ${label}` }));
    const questions = [{ id: "way", question, header: "Choice", options }];
    return { tools: [{ name: "request_user_input", input: { questions } }] };
  },
  crash: () => crashOf(exec),
};

export function stepsFor(behaviour: Behaviour, dialect: Dialect): Step[] {
  switch (behaviour.is) {
    case "answer":
      return [{ text: behaviour.text }];
    case "write":
      // Asked to go on with an answer that broke off, the model says its last words again.
      return [dialect.write(behaviour.path, behaviour.content), { text: behaviour.text, repeat: true }];
    case "work":
      return [dialect.shell(untilThere(behaviour.until)), { text: behaviour.text }];
    case "hang":
      return [{ hang: true }];
    case "crash":
      return [dialect.crash(), { text: "survived" }];
    case "limit":
      return [{ status: 429, retryAfterS: 3600 }];
    case "call":
      return [{ text: behaviour.text }];
    case "need":
      // A reason that comes late is answered once more.
      return [
        dialect.need(`node -e 'fs.writeFileSync("${behaviour.path}", "")'`),
        { text: behaviour.text },
        { text: behaviour.text },
      ];
    case "question":
      return [dialect.question(behaviour.question, behaviour.options), { text: behaviour.text }];
  }
}
