/** Whether what shall run the code can be had here; told before anything is spent. */
import { UsageError } from "../../errors.ts";
import { interpreterOf } from "../../executors/local/interpreters.ts";
import type { RunSpec } from "../../spec.ts";
import { lookUp } from "../../platform/look-up.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The agent that can let its provider run code. */
const WITH_CONTAINER = "messages";
/** Models from before there was a code execution tool. */
const WITHOUT_CODE = /^claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
/** Agents whose sessions cannot be asked for an answer of a given form. */
const WITHOUT_ANSWERS = /^acp:/;

type Code = NonNullable<RunSpec["solve"]>["language"];

interface About {
  env: Environment;
  own: { agents: readonly string[]; executor: boolean } | undefined;
}

export function refuseExecutor(spec: RunSpec, { env, own }: About): void {
  const { agent, solve } = spec;
  if (solve === undefined) return;
  const isOwn = (name: string): boolean => own?.agents.includes(name) === true;
  // Who may have to go on is as good as who begins.
  const all = [{ agent: agent.name, model: agent.model }, ...(spec.mix?.fallback ?? [])];
  const mute = all.find(
    ({ agent: name }) => !isOwn(name) && (WITHOUT_ANSWERS.test(name) || lookUp(spec.commands, name) !== undefined),
  );
  if (mute !== undefined)
    throw new UsageError(`the agent ${mute.agent} cannot answer in a given form, which solving needs`, {
      hint: "messages, claude, codex or opencode",
    });
  if (solve.executor === "claude") {
    for (const one of all) refuseContainer(one, { isOwn: isOwn(one.agent) });
    if (agent.fallbackModel !== undefined) refuseModel(agent.fallbackModel);
    return refuseLanguage(solve.language);
  }
  if (own?.executor === true || solve.planOnly) return;
  const missing = missingInterpreter(solve.language ?? "python", env, solve.limits.memoryBytes);
  if (missing !== undefined)
    throw new UsageError(`--executor local: ${missing}`, { hint: "`pawl doctor` tells what is here; or --language" });
}

function missingInterpreter(language: NonNullable<Code>, env: Environment, memoryBytes: number): string | undefined {
  const found = interpreterOf(language, { path: env["PATH"] ?? "", memoryBytes });
  return "missing" in found ? found.missing : undefined;
}

interface Who {
  agent: string;
  model?: string | undefined;
}

function refuseContainer({ agent, model }: Who, { isOwn }: { isOwn: boolean }): void {
  if (agent !== WITH_CONTAINER && !isOwn)
    throw new UsageError(`--executor claude: the agent ${agent} has no code execution of its provider's`, {
      hint: "messages; or --executor local",
    });
  if (model !== undefined) refuseModel(model);
}

function refuseModel(model: string): void {
  if (WITHOUT_CODE.test(model))
    throw new UsageError(`--executor claude: the model ${model} has no code execution`, {
      hint: "a newer model; or --executor local",
    });
}

function refuseLanguage(language: Code): void {
  if (language !== undefined && language !== "python" && language !== "shell")
    throw new UsageError(`--executor claude: its container runs python and shell, not ${language}`, {
      hint: "leave --language out; or --executor local",
    });
}
