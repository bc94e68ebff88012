import { agentContract } from "../../test/contracts/agent.ts";
import { untilThere } from "../../test/contracts/agent-play.ts";
import { contractStage } from "../../test/support/contract-stage.ts";
import type { Step } from "../standin/script.ts";
import { messages } from "./messages.ts";

const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });

agentContract(
  "messages",
  [],
  contractStage({
    agent: (url) => messages({ userEnvironment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: url } }),
    models: { first: "claude-sonnet-5-5", second: "claude-opus-5-5" },
    bash,
    noProgram: "pawl asks the model itself, there is no program",
    steps(behaviour) {
      switch (behaviour.is) {
        case "write": {
          const input = { file_path: behaviour.path, content: behaviour.content };
          return [{ text: "Writing.", tools: [{ name: "Write", input }] }, { text: behaviour.text }];
        }
        case "work":
          return [bash(untilThere(behaviour.until)), { text: behaviour.text }];
        case "crash":
          // It is no program that could die: the model does.
          return [bash("true"), { cutSocket: "mid", times: 1 }, { text: "survived" }];
        case "call": {
          const input = { status: behaviour.call.is, summary: behaviour.call.text };
          return [{ tools: [{ name: "done", input }] }, { text: behaviour.text }];
        }
        case "need":
          return [bash(`touch ${behaviour.path}`), { text: behaviour.text }];
        case "question": {
          const { question, options } = behaviour;
          return [{ tools: [{ name: "AskUser", input: { question, options } }] }, { text: behaviour.text }];
        }
      }
    },
  }),
);
