/** What the user asked of an agent, put into words that its entry has a place for; what has none is refused by name. */
import { resolve } from "node:path";
import { UsageError } from "../../errors.ts";
import type { AgentSpec } from "../../spec.ts";
import type { CommandEntry } from "../../spec/command-agent.ts";
import { hasPlaceholder, type Placeholder, type Values } from "./words.ts";
import { lookUp } from "../../platform/look-up.ts";

export interface CommandOptions {
  /** Path or name of the program, instead of the entry's. */
  bin: string | undefined;
  /** Kept by the gateway where the program has no word for it. */
  maxRequests: number | undefined;
  values: Values;
}

/** Options of pawl, the placeholder that carries each, and the flag it is given by. */
const CARRIED: readonly { option: string; placeholder: Placeholder; flag: string }[] = [
  { option: "tools", placeholder: "tools", flag: "--tools" },
  { option: "maxTurns", placeholder: "max-turns", flag: "--agent-max-turns" },
  { option: "permissions", placeholder: "permissions", flag: "--permissions" },
  { option: "plugins", placeholder: "plugin", flag: "--plugin" },
  { option: "mcp", placeholder: "mcp", flag: "--mcp" },
  { option: "effort", placeholder: "effort", flag: "--effort" },
];
/** Beside those that an entry may have a place for. */
const PLAIN: readonly string[] = ["bin", "extra"];
/** Flags whose options are called otherwise. */
const FLAGS: Readonly<Record<string, string>> = { server: "--agent-server" };
const PATHS: readonly Placeholder[] = ["mcp", "plugin"];

type About = Pick<AgentSpec, "name" | "options" | "ask">;

/** Throws UsageError for what the agent cannot be told. */
export function commandOptions(entry: CommandEntry, { name, options, ask }: About, workspace: string): CommandOptions {
  refusePeople(name, ask);
  refuseUnknown(name, options);
  const values: Partial<Record<Placeholder, string | readonly string[]>> = {};
  for (const [key, value] of Object.entries(entry.defaults)) values[key as Placeholder] = value;
  for (const { option, placeholder, flag } of CARRIED) {
    const given = options[option];
    if (given === undefined || (Array.isArray(given) && given.length === 0)) continue;
    if (hasPlaceholder(entry, placeholder)) values[placeholder] = textOf(given, { placeholder, workspace });
    else if (!(option === "maxTurns" && entry.gateway !== undefined)) {
      throw new UsageError(`${flag} means nothing to the agent ${name}: its command has no {${placeholder}}`, {
        hint: `leave it out, or give the agent a place for it under \`agents\` in pawl.yaml (docs/agents.md)`,
      });
    }
  }
  const { bin, extra, maxTurns } = options;
  if (Array.isArray(extra) && extra.length > 0) values.args = extra.map(String);
  return {
    bin: typeof bin === "string" && bin !== "" ? bin : undefined,
    maxRequests: typeof maxTurns === "number" && !hasPlaceholder(entry, "max-turns") ? maxTurns : undefined,
    values,
  };
}

function refuseUnknown(name: string, options: About["options"]): void {
  const known = [...PLAIN, ...CARRIED.map(({ option }) => option)];
  const unknown = Object.keys(options).find((option) => !known.includes(option));
  if (unknown === undefined) return;
  const flag = lookUp(FLAGS, unknown) ?? `--${unknown.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  throw new UsageError(`${flag} means nothing to the agent ${name}: it is a command`, {
    hint: `leave it out; a command can be told ${[...CARRIED.map((one) => one.flag), "--agent-bin"].join(", ")}`,
  });
}

function textOf(
  given: AgentSpec["options"][string],
  { placeholder, workspace }: { placeholder: Placeholder; workspace: string },
): string | readonly string[] {
  const words = [given].flat().map((one) => (typeof one === "string" ? one : JSON.stringify(one)));
  if (PATHS.includes(placeholder)) return words.map((path) => resolve(workspace, path));
  return words.join(",");
}

/** Nobody can be asked through a program that only reads its prompt and prints. */
function refusePeople(name: string, { permissions, questions }: About["ask"]): void {
  const asked =
    permissions !== "allow" ? `--on-permission ${permissions}` : questions === "ask" ? "--questions ask" : "";
  if (asked === "") return;
  throw new UsageError(`${asked} cannot be had with the agent ${name}: nobody can be asked while a command runs`, {
    hint: "leave it out, or take an agent that can ask; `pawl doctor --agents` shows which",
  });
}
