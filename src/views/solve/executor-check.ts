/** Whether what shall run the code can be had here; told before anything is spent. */
import { UsageError } from "../../errors.ts";
import { interpreterOf } from "../../executors/local/interpreters.ts";
import type { RunSpec } from "../../spec.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** The agent that can let its provider run code. */
const WITH_CONTAINER = "messages";
/** Models from before there was a code execution tool. */
const WITHOUT_CODE = /^claude-(?:instant|2|3-(?:opus|sonnet|haiku))/;
/** Agents whose sessions cannot be asked for an answer of a given form. */
const WITHOUT_ANSWERS = /^acp:/;

interface About {
  env: Environment;
  own: { agents: readonly string[]; executor: boolean } | undefined;
}

export function refuseExecutor(spec: RunSpec, { env, own }: About): void {
  const { agent, solve } = spec;
  if (solve === undefined) return;
  const isOwn = own?.agents.includes(agent.name) === true;
  if (!isOwn && (WITHOUT_ANSWERS.test(agent.name) || spec.commands?.[agent.name] !== undefined))
    throw new UsageError(`the agent ${agent.name} cannot answer in a given form, which solving needs`, {
      hint: "--agent messages, claude, codex or opencode",
    });
  if (solve.executor === "claude") return refuseContainer(spec, { isOwn });
  if (own?.executor === true || solve.planOnly) return;
  const missing = missingInterpreter(solve.language ?? "python", env, solve.limits.memoryBytes);
  if (missing !== undefined)
    throw new UsageError(`--executor local: ${missing}`, { hint: "`pawl doctor` tells what is here; or --language" });
}

function missingInterpreter(
  language: NonNullable<NonNullable<RunSpec["solve"]>["language"]>,
  env: Environment,
  memoryBytes: number,
): string | undefined {
  const found = interpreterOf(language, { path: env["PATH"] ?? "", memoryBytes });
  return "missing" in found ? found.missing : undefined;
}

function refuseContainer({ agent, solve }: RunSpec, { isOwn }: { isOwn: boolean }): void {
  if (agent.name !== WITH_CONTAINER && !isOwn)
    throw new UsageError(`--executor claude: the agent ${agent.name} has no code execution of its provider's`, {
      hint: "--agent messages; or --executor local",
    });
  if (agent.model !== undefined && WITHOUT_CODE.test(agent.model))
    throw new UsageError(`--executor claude: the model ${agent.model} has no code execution`, {
      hint: "a newer model; or --executor local",
    });
  if (solve?.language !== undefined && solve.language !== "python" && solve.language !== "shell")
    throw new UsageError(`--executor claude: its container runs python and shell, not ${solve.language}`, {
      hint: "leave --language out; or --executor local",
    });
}
