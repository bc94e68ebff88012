/** With the newer models, which call their tools from a script; what else is real here is tried with the older kind. */
import { agentContract } from "../../test/contracts/agent.ts";
import { untilThere } from "../../test/contracts/agent-play.ts";
import { crash, script, scriptedExec, scriptedPatch } from "../../test/support/codex.ts";
import { contractStage } from "../../test/support/contract-stage.ts";
import { codex, CODEX_GAPS } from "./codex.ts";

agentContract(
  "codex",
  CODEX_GAPS,
  contractStage(
    {
      agent: (url) => codex({ userEnvironment: { OPENAI_API_KEY: "key", OPENAI_BASE_URL: `${url}/v1` } }),
      models: { first: "gpt-5.6-sol", second: "gpt-5.6-terra" },
      writeTool: "apply_patch",
      bash: scriptedExec,
      steps(behaviour) {
        switch (behaviour.is) {
          case "write":
            return [
              { text: "Writing.", ...scriptedPatch(behaviour.path, behaviour.content) },
              { text: behaviour.text },
            ];
          case "work":
            return [scriptedExec(untilThere(behaviour.until)), { text: behaviour.text }];
          case "crash":
            return [crash(scriptedExec), { text: "survived" }];
          case "call": {
            const input = { status: behaviour.call.is, summary: behaviour.call.text };
            return [script(`text(await tools.done(${JSON.stringify(input)}));`), { text: behaviour.text }];
          }
          case "need":
            return [scriptedExec(`node -e 'fs.writeFileSync("${behaviour.path}", "")'`), { text: behaviour.text }];
          case "question": {
            const options = behaviour.options.map((label) => ({ label, description: `take ${label}` }));
            const questions = [{ id: "way", question: behaviour.question, header: "Choice", options }];
            return [{ tools: [{ name: "request_user_input", input: { questions } }] }, { text: behaviour.text }];
          }
        }
      },
    },
    { apiKey: "key" },
  ),
);
