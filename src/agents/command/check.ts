/** Whether a command can work here, before anything is spent: its entry, options, program, login and way through the fence. */
import { UsageError } from "../../errors.ts";
import { programAt } from "../../platform/fence.ts";
import type { RunSpec } from "../../spec.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { NO_RELAY } from "./model-way.ts";
import { commandOptions } from "./options.ts";
import { brokenPath } from "./paths.ts";
import { programPath } from "../programs.ts";
import { hasPlaceholder, refuseUnknownPlaceholders } from "./words.ts";

type Environment = Readonly<Record<string, string | undefined>>;
type Asked = Pick<RunSpec, "agent" | "workspace" | "fence" | "checks">;

/** Throws UsageError when it cannot. */
export function checkCommand({ agent, workspace, fence, checks }: Asked, entry: CommandEntry, env: Environment): void {
  const { name } = agent;
  checkEntry(name, entry);
  const { bin } = commandOptions(entry, agent, workspace.path);
  const program = bin ?? String(entry.command[0]);
  if (programPath(program, env) === undefined) {
    throw new UsageError(
      bin === undefined
        ? `the agent ${name} needs ${program}, which is not in the PATH`
        : `--agent-bin ${bin} is not a program`,
      {
        hint:
          bin === undefined && entry.install !== undefined ? entry.install : "name its program with --agent-bin PATH",
      },
    );
  }
  if (agent.model !== undefined && !hasPlaceholder(entry, "model")) {
    throw new UsageError(`--model means nothing to the agent ${name}: its command has no {model}`);
  }
  const judge = checks.find(({ kind }) => kind === "judge");
  if (judge !== undefined) {
    throw new UsageError(`check ${judge.name} asks a model to judge, which the agent ${name} cannot`, {
      hint: "leave the check out, or take --agent claude",
    });
  }
  checkLogin(name, entry, env);
  checkReach(name, entry, fence);
}

/** What is wrong with an entry whatever it is used for. */
function checkEntry(name: string, entry: CommandEntry): void {
  refuseUnknownPlaceholders(name, entry);
  const has = (placeholder: "prompt" | "prompt-file"): boolean => hasPlaceholder(entry, placeholder);
  const wrong = (says: string, hint: string): never => {
    throw new UsageError(`agent ${name}: ${says}`, { hint });
  };
  if (typeof entry.command[0] !== "string") wrong("its command must begin with a program", "command: [program, …]");
  if (entry.prompt === "argument" && !has("prompt"))
    wrong("its prompt is an argument, but its command has no {prompt}", "add {prompt}, or take prompt: stdin");
  if (entry.prompt === "file" && !has("prompt-file"))
    wrong("its prompt is a file, but its command has no {prompt-file}", "add {prompt-file}, or take prompt: stdin");
  if (entry.prompt !== "argument" && has("prompt"))
    wrong("{prompt} puts the prompt on the command line, where everybody can read it", "say so with prompt: argument");
  const broken = entry.output.format === "jsonl" ? entry.output.rules.map(brokenPath).find(Boolean) : undefined;
  if (broken !== undefined) wrong(`${JSON.stringify(broken)} is no path`, "a path such as a.b[0].c");
}

function checkLogin(name: string, { gateway, login }: CommandEntry, env: Environment): void {
  const names = gateway === undefined ? login : [gateway.key];
  if (names.length === 0 || names.some((variable) => (env[variable] ?? "") !== "")) return;
  throw new UsageError(`the agent ${name} has no login: ${names.join(", ")} is not set`, {
    hint: `set ${names.length === 1 ? names[0] : "one of them"}`,
  });
}

function checkReach(
  name: string,
  { gateway, hosts }: CommandEntry,
  { kind, network, hosts: allowed }: RunSpec["fence"],
): void {
  if (kind === "none" || network === "open") return;
  if (gateway !== undefined) {
    if (programAt("socat") !== undefined) return;
    throw new UsageError(`the agent ${name} ${NO_RELAY.says}`, {
      hint: `${NO_RELAY.cure}; or --network open, or --fence none`,
    });
  }
  const missing = hosts.filter((host) => !allowed.includes(host));
  if (missing.length === 0) return;
  throw new UsageError(`the agent ${name} reaches its model by itself, which the fence does not let it`, {
    hint: `${missing.map((host) => `--allow-host '${host}'`).join(" ")}; or --network open`,
  });
}
