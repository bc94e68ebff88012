/** All agents that can be named here, with what each cannot do and where its login is: for `pawl doctor --agents` and the docs. */
import { claude } from "../agents/claude.ts";
import { claudeLogin } from "../agents/claude/login.ts";
import { claudeProgram } from "../agents/claude/sdk.ts";
import { commandGaps } from "../agents/command/gaps.ts";
import { presetEntry, tableEntry, type TableEntry } from "../agents/command/preset-entry.ts";
import { PRESETS } from "../agents/command/presets.ts";
import { programPath } from "../agents/command/program.ts";
import type { OWN_AGENTS } from "../config/own-agents.ts";
import type { Gap } from "../ports.ts";
import type { CommandEntry } from "../spec/command-agent.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface KnownAgent {
  name: string;
  about: string;
  /** Version that was run on the stand-in model; undefined: nobody has tried it. */
  tried: string | undefined;
  gaps: readonly Gap[];
  /** Its key stays with pawl's gateway instead of in its process. */
  holdsNoKey: boolean;
  /** What it looks for to be logged in, in words. */
  wants: string;
  /** Path of its program; undefined: not installed. */
  program(env: Environment): string | undefined;
  /** What it is logged in by, never a secret; undefined: nothing was found. */
  login(env: Environment): string | undefined;
}

/** One for every adapter of its own. */
const OWN: Record<(typeof OWN_AGENTS)[number], Omit<KnownAgent, "name">> = {
  claude: {
    about: "Claude Code through its Agent SDK",
    tried: "2.1.325",
    gaps: claude({ userEnvironment: {} }).gaps,
    holdsNoKey: true,
    wants: "`ANTHROPIC_API_KEY`, or signed in with `claude`",
    program: () => claudeProgram({}),
    login: (env) => claudeLogin(env)?.describe,
  },
};

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
  return [...own, ...yours, ...presets];
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
    holdsNoKey: entry.gateway !== undefined,
    wants: names.length === 0 ? "nothing" : names.map((one) => `\`${one}\``).join(" or "),
    program: (env) => programPath(String(entry.command[0]), env),
    login: (env) => (names.length === 0 ? "needs none" : names.find((one) => (env[one] ?? "") !== "")),
  };
}
