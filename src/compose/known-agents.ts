/** All agents that can be named here, with what each cannot do and where its login is: for `pawl doctor --agents` and the docs. */
import type { AGENT_NAMES } from "../agent-entry.ts";
import { ACP_GAPS } from "../agents/acp.ts";
import { claude } from "../agents/claude.ts";
import { claudeLogin } from "../agents/claude/login.ts";
import { claudeProgram, TESTED } from "../agents/claude/program.ts";
import { codex } from "../agents/codex.ts";
import { codexLogin } from "../agents/codex/login.ts";
import { codexAvailable } from "../agents/codex/program.ts";
import { COMMAND_GAPS, commandGaps } from "../agents/command/gaps.ts";
import { presetEntry, tableEntry, type TableEntry } from "../agents/command/preset-entry.ts";
import { PRESETS } from "../agents/command/presets.ts";
import { messages } from "../agents/messages.ts";
import { sdkFile, sdkVersion } from "../agents/messages/client.ts";
import { messagesLogin } from "../agents/messages/login.ts";
import { opencode } from "../agents/opencode.ts";
import { opencodeLogins } from "../agents/opencode/login.ts";
import { opencodeAvailable } from "../agents/opencode/program.ts";
import { programPath } from "../agents/programs.ts";
import { UsageError } from "../errors.ts";
import type { Gap } from "../ports.ts";
import type { CommandEntry } from "../spec/command-agent.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface KnownAgent {
  name: string;
  about: string;
  /** Versions that were run on the stand-in model; undefined: nobody has tried it. */
  tried: string | undefined;
  gaps: readonly Gap[];
  /** Whether its key stays with pawl's gateway instead of in its process. */
  keyStaysOutside: "yes" | "no" | "depends";
  /** What it looks for to be logged in, in words. */
  wants: string;
  /** Of what is installed here; undefined: a kind of agents, each with a program of its own. */
  here: Here | undefined;
}

interface Here {
  /** Path of its program; undefined: not installed. */
  program(env: Environment): string | undefined;
  /** Where it is a library of pawl's own process, which cannot be asked as a program. */
  version?(): string | undefined;
  /** What it is logged in by, never a secret; undefined: nothing was found. */
  login(env: Environment): string | undefined;
}

/** One for every adapter of its own. */
const OWN: Record<(typeof AGENT_NAMES)[number], Omit<KnownAgent, "name">> = {
  claude: {
    about: "Claude Code",
    tried: TESTED,
    gaps: claude({ userEnvironment: {} }).gaps,
    keyStaysOutside: "yes",
    wants: "`ANTHROPIC_API_KEY`, or signed in with `claude`",
    here: { program: (env) => claudeProgram({}, env), login: (env) => claudeLogin(env)?.describe },
  },
  codex: {
    about: "Codex through its app-server",
    tried: "0.166.0",
    gaps: codex({ userEnvironment: {} }).gaps,
    keyStaysOutside: "yes",
    wants: "`CODEX_API_KEY`, `OPENAI_API_KEY`, or signed in with `codex login`",
    here: {
      program: (env) => orNone(() => codexAvailable({}, env)),
      login: (env) => codexLogin(env)?.describe,
    },
  },
  opencode: {
    about: "opencode through its SDK",
    tried: "1.18.33",
    gaps: opencode({ userEnvironment: {} }).gaps,
    keyStaysOutside: "yes",
    wants: "`ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or another's, or a key of `opencode auth login`",
    here: {
      program: (env) => orNone(() => opencodeAvailable({}, env)),
      login: (env) => opencodeLogins(env)[0]?.describe,
    },
  },
  messages: {
    about: "the bare Claude API, with pawl's own tools and turn loop",
    tried: "SDK 1.8.0",
    gaps: messages({ userEnvironment: {} }).gaps,
    keyStaysOutside: "yes",
    wants: "`ANTHROPIC_API_KEY`",
    here: {
      program: () => sdkFile(),
      version: () => `SDK ${sdkVersion() ?? "of an unknown version"}`,
      login: (env) => messagesLogin(env)?.describe,
    },
  },
};

/** Kinds of agents, which are named by more than one word, or by a table. */
const KINDS: readonly KnownAgent[] = [
  {
    name: "acp:COMMAND",
    about: "any agent that speaks the Agent Client Protocol",
    tried: "claude-agent-acp 0.99.1, codex-acp 2.6.0",
    gaps: ACP_GAPS,
    keyStaysOutside: "depends",
    wants: "what is passed with `--env`",
    here: undefined,
  },
  {
    name: "command",
    about: "any other program, under `agents` in pawl.yaml; what it can at most",
    tried: "see the presets",
    gaps: COMMAND_GAPS,
    keyStaysOutside: "depends",
    wants: "what its entry says",
    here: undefined,
  },
];

/** `table`: the user's own, which count before presets of the same name. UsageError when one of them is broken. */
export function knownAgents(table: Readonly<Record<string, TableEntry>> = {}): KnownAgent[] {
  const own = Object.entries(OWN).map(([name, agent]) => ({ name, ...agent }));
  const yours = Object.entries(table).map(([name, given]) => {
    const entry = tableEntry(name, given);
    return commandAgent(name, entry, { about: entry.about ?? "of your pawl.yaml", tried: undefined });
  });
  const presets = Object.entries(PRESETS)
    .filter(([name]) => !Object.hasOwn(table, name))
    .map(([name, { about, tried }]) => commandAgent(name, presetEntry(name), { about, tried }));
  return [...own, ...KINDS, ...yours, ...presets];
}

function commandAgent(
  name: string,
  entry: CommandEntry,
  { about, tried }: { about: string; tried: string | undefined },
): KnownAgent {
  const names = entry.gateway === undefined ? entry.login : [entry.gateway.key];
  return {
    name,
    about,
    tried,
    gaps: commandGaps(entry),
    keyStaysOutside: entry.gateway === undefined ? "no" : "yes",
    wants: names.length === 0 ? "nothing" : names.map((one) => `\`${one}\``).join(" or "),
    here: {
      program: (env) => programPath(String(entry.command[0]), env),
      login: (env) => (names.length === 0 ? "needs none" : names.find((one) => (env[one] ?? "") !== "")),
    },
  };
}

/** They say what to do about it, which nobody asked here. */
function orNone(find: () => string): string | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof UsageError) return undefined;
    throw error;
  }
}
