/** `pawl doctor --agents`: every agent that can be named here, whether it is installed and logged in, and what it cannot do. */
import { knownAgents, type KnownAgent } from "../../compose/known-agents.ts";
import type { Environment } from "../../compose.ts";
import { resolveSettings } from "../../config.ts";
import { EXIT, UsageError } from "../../errors.ts";
import { configDir } from "../../platform/paths.ts";
import { agentsMarkdown, cannotWords, reasonLines } from "../agents-table.ts";
import { oneLine } from "../plain.ts";
import { versionOf } from "./doctor-version.ts";
import { columns } from "./format.ts";
import { print, printJson } from "./output.ts";
import { repositoriesOf } from "./run-id.ts";

const MAX_VERSION_CHARS = 24;
const KEY = { yes: "outside", no: "in its process", depends: "depends" } as const;

interface Shown {
  json: boolean;
  env: Environment;
}

/** Returns the exit code. `form`: `markdown` for the docs, which hold no agent of this machine. */
export async function tellAgents(form: string | true, { json, env }: Shown): Promise<number> {
  if (form === "markdown") {
    print(agentsMarkdown(knownAgents()));
    return EXIT.ok;
  }
  if (form !== true) throw new UsageError(`--agents ${form} is no form`, { hint: "--agents, or --agents markdown" });
  const [repository] = repositoriesOf(process.cwd());
  const { settings } = resolveSettings({ env, repository, userDir: configDir(env) });
  const agents = knownAgents(settings.agents);
  const found = await Promise.all(agents.map((agent) => lookAt(agent, env)));
  if (json) printJson({ v: 1, agents: found });
  else print(text(found));
  return EXIT.ok;
}

interface Looked {
  name: string;
  about: string;
  tried: string | null;
  /** null: not installed, or a kind of agents. */
  installed: string | null;
  /** null: nothing found. */
  login: string | null;
  /** Each agent of it has a program and a login of its own. */
  isKind: boolean;
  keyStaysOutside: KnownAgent["keyStaysOutside"];
  gaps: KnownAgent["gaps"];
  cannot: string;
}

async function lookAt(agent: KnownAgent, env: Environment): Promise<Looked> {
  const program = agent.here?.program(env);
  const { name, about, tried = null, keyStaysOutside, gaps, here } = agent;
  const told = here?.version?.();
  const version =
    program === undefined || told !== undefined ? told : await versionOf(program, { args: ["--version"], env });
  return {
    name,
    about,
    tried,
    installed: program === undefined ? null : (version ?? "does not tell its version"),
    login: here?.login(env) ?? null,
    isKind: here === undefined,
    keyStaysOutside,
    gaps,
    cannot: cannotWords(agent),
  };
}

function text(found: readonly Looked[]): string {
  const rows = found.map(({ name, tried, installed, login, isKind, keyStaysOutside, cannot }) => [
    name,
    isKind ? "each its own" : installed === null ? "not installed" : oneLine(installed, { max: MAX_VERSION_CHARS }),
    tried ?? "never",
    isKind ? "each its own" : (login ?? "none"),
    KEY[keyStaysOutside],
    cannot,
  ]);
  return [
    columns([["agent", "installed", "tried with", "login", "its key is", "cannot"], ...rows]),
    "",
    ...reasonLines(found),
    "",
    "any other program: `agents` in pawl.yaml, see docs/agents.md",
  ].join("\n");
}
