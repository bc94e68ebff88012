import { agentContract } from "../../test/contracts/agent.ts";
import { untilThere } from "../../test/contracts/agent-play.ts";
import { contractStage } from "../../test/support/contract-stage.ts";
import type { Step } from "../standin/script.ts";
import { claude } from "./claude.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

agentContract(
  "claude",
  [],
  contractStage({
    agent: (url) => claude({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url } }),
    models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
    bash,
    steps(behaviour) {
      switch (behaviour.is) {
        case "write": {
          const input = { file_path: behaviour.path, content: behaviour.content };
          // Asked to go on with an answer that broke off, the model says its last words again.
          return [
            { text: "Writing.", tools: [{ name: "Write", input }] },
            { text: behaviour.text, repeat: true },
          ];
        }
        case "work":
          return [bash(untilThere(behaviour.until)), { text: behaviour.text }];
        case "crash":
          return [bash("kill -9 $PPID"), { text: "survived" }];
        case "call": {
          const input = { status: behaviour.call.is, summary: behaviour.call.text };
          return [{ tools: [{ name: "mcp__pawl__done", input }] }, { text: behaviour.text }];
        }
        case "need":
          // No edit that the mode accepts by itself.
          return [bash(`node -e 'fs.writeFileSync("${behaviour.path}", "")'`), { text: behaviour.text }];
        case "question": {
          const options = behaviour.options.map((label) => ({ label, description: `take ${label}` }));
          const questions = [{ question: behaviour.question, header: "Choice", multiSelect: false, options }];
          return [{ tools: [{ name: "AskUserQuestion", input: { questions } }] }, { text: behaviour.text }];
        }
      }
    },
  }),
);
