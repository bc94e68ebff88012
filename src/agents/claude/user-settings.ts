/**
 * What a run takes of the user's own Claude Code where it is asked to: settings with their hooks, and MCP servers. Never
 * what decides how it signs in, where its model is, or what pawl itself decides. Read where it lies, nothing is written
 * there.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { McpServerConfig } from "@anthropic-ai/claude-agent-sdk";
import { UsageError } from "../../errors.ts";

type Json = Record<string, unknown>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Settings that are not taken. */
const NOT_TAKEN = new Set([
  // How it signs in is pawl's to know.
  "apiKeyHelper",
  "awsAuthRefresh",
  "awsCredentialExport",
  "gcpAuthRefresh",
  "otelHeadersHelper",
  "forceLoginMethod",
  "forceLoginOrgUUID",
  // Would remove conversations that a run goes on with.
  "cleanupPeriodDays",
  // Would be fetched.
  "enabledPlugins",
  "extraKnownMarketplaces",
]);
/** Where its model is and what pawl sets itself; the fence has a proxy of its own. */
const OWN_VARIABLE = /^(ANTHROPIC_|CLAUDE_|AWS_|GOOGLE_|(https?|no|all)_proxy$)/i;
/** Use pawl's own --permissions. */
const OWN_PERMISSIONS = new Set(["defaultMode", "disableBypassPermissionsMode"]);

export interface UserSettings {
  settings: Json;
  servers: Record<string, McpServerConfig>;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Throws UsageError for a file that is there and cannot be read. What is not there is empty. */
export function readUserSettings(user: Environment, { project }: { project: string }): UserSettings {
  const home = user["HOME"] ?? homedir();
  const own = user["CLAUDE_CONFIG_DIR"];
  const settings = readJson(join(own || join(home, ".claude"), "settings.json"));
  const known = readJson(join(own || home, ".claude.json"));
  const here = isObject(known["projects"]) ? known["projects"][project] : undefined;
  const servers = [known, isObject(here) ? here : {}].map(({ mcpServers }) => (isObject(mcpServers) ? mcpServers : {}));
  return { settings: taken(settings), servers: Object.assign({}, ...servers) as UserSettings["servers"] };
}

function taken(settings: Json): Json {
  const { env, permissions, ...rest } = without(settings, (name) => NOT_TAKEN.has(name));
  return {
    ...rest,
    ...(isObject(env) ? { env: without(env, (name) => OWN_VARIABLE.test(name)) } : {}),
    ...(isObject(permissions) ? { permissions: without(permissions, (name) => OWN_PERMISSIONS.has(name)) } : {}),
  };
}

const without = (from: Json, isOut: (name: string) => boolean): Json =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !isOut(name)));

function readJson(file: string): Json {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw unreadable(file, error);
  }
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch (error) {
    throw unreadable(file, error);
  }
  throw unreadable(file, undefined);
}

const unreadable = (file: string, cause: unknown): UsageError =>
  new UsageError(`--user-settings: ${file} cannot be read as Claude Code's settings`, {
    hint: "mend it, or leave out --user-settings",
    cause,
  });
