/** What only Codex understands of an agent's options, checked before a run starts. */
import { UsageError } from "../../errors.ts";
import type { AgentSpec, AskSpec } from "../../spec.ts";
import { words, type OptionValue } from "../option-words.ts";
import { lookUp } from "../../platform/look-up.ts";

const SANDBOXES = ["read-only", "workspace-write", "danger-full-access"] as const;
type Sandbox = (typeof SANDBOXES)[number];

export interface CodexOptions {
  /** The agent's own limit: model requests in one turn. */
  maxTurns: number | undefined;
  sandbox: Sandbox;
  /** Who is asked before it runs a command: nobody, or pawl. */
  approval: "never" | "untrusted";
  /** Files with `mcpServers`. */
  mcp: string[];
  effort: string | undefined;
  bin: string | undefined;
  /** Further words for the program: `-c key=value`, `--enable X`, `--disable X`. */
  extra: string[];
  /** For its own goal loop; undefined: that is off. */
  goal: string | undefined;
  /** One `codex exec` per turn instead of an app-server. */
  exec: boolean;
}

/** Not Codex's own word: pawl starts it in another way. */
const EXEC = "--exec";
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];
const KNOWN = ["maxTurns", "permissions", "mcp", "effort", "bin", "extra", "nativeGoal"];
/** Codex's own. */
const MAX_GOAL_CHARS = 4_000;
const OWN_GOAL = /^(goals$|features\b.*\bgoals\b)/;
/** Options of other agents, with why Codex has none such. */
const REFUSED: Readonly<Record<string, string>> = {
  tools: "--tools: codex cannot be given a list of its tools; switch one off with `-- --disable NAME`",
  userSettings:
    "--user-settings: codex cannot put its config.toml together with what a run needs; give it single settings with `-- -c key=value`, servers with --mcp",
  plugins: "--plugin: codex plugins are not loaded in a run; give it servers with --mcp",
};
/** Keys of its configuration that pawl itself sets, with what to use instead. */
const RESERVED: Readonly<Record<string, string>> = {
  model: "use pawl's own --model",
  model_provider: "pawl leads its requests to the model",
  model_providers: "pawl leads its requests to the model",
  approval_policy: "use pawl's own --on-permission",
  sandbox_mode: "use pawl's own --permissions",
  mcp_servers: "use pawl's own --mcp",
  model_reasoning_effort: "use pawl's own --effort",
};

function oneOf<T extends string>(flag: string, value: OptionValue | undefined, allowed: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = allowed.find((word) => word === value);
  if (found !== undefined) return found;
  throw new UsageError(`${flag} is ${JSON.stringify(value)}, which codex does not know`, {
    hint: `one of: ${allowed.join(", ")}`,
  });
}

/** As given after `--`: only what changes a setting that is not pawl's. */
function extraWords(given: readonly string[]): string[] {
  const out: string[] = [];
  for (let i = 0; i < given.length; i += 1) {
    const match = /^(-c|--config|--enable|--disable)(?:=([^]*))?$/.exec(given[i] as string);
    const value = match?.[2] ?? given[i + 1];
    if (match === null || value === undefined) {
      throw new UsageError(`codex gets settings only, not ${JSON.stringify(given[i])}`, {
        hint: "write -c key=value, --enable FEATURE or --disable FEATURE after --",
      });
    }
    if (match[2] === undefined) i += 1;
    const isSetting = match[1] === "-c" || match[1] === "--config";
    const [key = ""] = value.split(/[.=]/, 1);
    const why = isSetting ? lookUp(RESERVED, key.trim()) : undefined;
    if (why !== undefined) throw new UsageError(`-c ${key} cannot be passed on to codex: ${why}`);
    if (OWN_GOAL.test(value)) {
      throw new UsageError(`${match[1]} ${value} cannot be passed on to codex: use pawl's own --native-goal`);
    }
    out.push(isSetting ? "-c" : (match[1] as string), value);
  }
  return out;
}

type Policy = Pick<AskSpec, "permissions" | "questions">;
const NOBODY_ASKED: Policy = { permissions: "allow", questions: "deny" };

interface About {
  ask?: Policy;
  /** Inside pawl's fence Codex's own sandbox cannot be made, and is not needed. */
  fenced: boolean;
}

function goalIn(given: OptionValue | undefined, { exec }: { exec: boolean }): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== "string" || given === "") throw new UsageError("--native-goal needs the text of the goal");
  if (exec) {
    throw new UsageError(`-- ${EXEC}: codex exec has no goal loop that could be held, which --native-goal wants`, {
      hint: "leave one of them out",
    });
  }
  const { length } = Array.from(given);
  if (length <= MAX_GOAL_CHARS) return given;
  throw new UsageError(
    `--native-goal: codex takes a goal of at most ${MAX_GOAL_CHARS} characters, this one has ${length}`,
    {
      hint: "put the details into a file of the repository and name it in the goal",
    },
  );
}

/** Throws UsageError for what Codex does not support. */
export function codexOptions(options: AgentSpec["options"], { ask = NOBODY_ASKED, fenced }: About): CodexOptions {
  for (const name of Object.keys(options)) {
    const refused = lookUp(REFUSED, name);
    if (refused !== undefined) throw new UsageError(refused);
    if (KNOWN.includes(name)) continue;
    throw new UsageError(`the codex agent has no option ${name}`, { hint: `it knows: ${KNOWN.join(", ")}` });
  }
  const { maxTurns, bin } = options;
  if (maxTurns !== undefined && !(typeof maxTurns === "number" && Number.isInteger(maxTurns) && maxTurns > 0)) {
    throw new UsageError(`--agent-max-turns is ${JSON.stringify(maxTurns)}`, { hint: "a whole number above 0" });
  }
  if (bin !== undefined && (typeof bin !== "string" || bin === "")) {
    throw new UsageError("--agent-bin must be the path of the codex program");
  }
  const sandbox = oneOf("--permissions", options["permissions"], SANDBOXES);
  if (fenced && sandbox !== undefined && sandbox !== "danger-full-access") {
    throw new UsageError(`--permissions ${sandbox} is codex's own sandbox, which cannot be made inside pawl's fence`, {
      hint: "leave it out: the fence holds the agent; or --fence none",
    });
  }
  const given = words("extra", options["extra"]);
  const exec = given.includes(EXEC);
  if (exec && (ask.permissions !== "allow" || ask.questions === "ask")) {
    throw new UsageError(`-- ${EXEC}: codex exec asks nobody, which --on-permission or --questions wants`, {
      hint: "leave one of them out",
    });
  }
  return {
    exec,
    goal: goalIn(options["nativeGoal"], { exec }),
    maxTurns,
    sandbox: sandbox ?? (fenced ? "danger-full-access" : "workspace-write"),
    approval: ask.permissions === "allow" ? "never" : "untrusted",
    mcp: words("mcp", options["mcp"]),
    effort: oneOf("--effort", options["effort"], EFFORTS),
    bin,
    extra: extraWords(given.filter((word) => word !== EXEC)),
  };
}

/** Of a session that only answers: the program and how hard it thinks; nobody's servers or settings. */
export function answerOptions({ bin, effort, extra }: AgentSpec["options"], { fenced }: About): CodexOptions {
  const exec = words("extra", extra).filter((word) => word === EXEC);
  const kept = {
    ...(bin === undefined ? {} : { bin }),
    ...(effort === undefined ? {} : { effort }),
    ...(exec.length === 0 ? {} : { extra: exec }),
  };
  return { ...codexOptions(kept, { fenced }), ...(fenced ? {} : { sandbox: "read-only" as const }) };
}
