/**
 * How Claude Code will sign in: found in the user's environment and home, handed to the agent in place. A stored login
 * is never copied: a copy that is refreshed would end the user's own.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ClaudeLogin {
  kind: "cloud" | "api-key" | "auth-token" | "oauth-token" | "credentials-file" | "keychain";
  /** For people; never holds a secret. */
  describe: string;
}

/** A cloud provider's switch wins over every key in Claude Code itself; each brings the variables of its own login. */
const CLOUDS = [
  { variable: "CLAUDE_CODE_USE_BEDROCK", name: "Amazon Bedrock", own: /^AWS_/ },
  { variable: "CLAUDE_CODE_USE_MANTLE", name: "Amazon Bedrock (Mantle)", own: /^AWS_/ },
  { variable: "CLAUDE_CODE_USE_ANTHROPIC_AWS", name: "Claude on AWS", own: /^AWS_/ },
  {
    variable: "CLAUDE_CODE_USE_VERTEX",
    name: "Google Vertex AI",
    own: /^(GOOGLE_|GCLOUD_|CLOUDSDK_|CLOUD_ML_REGION$|VERTEX_REGION_)/,
  },
  {
    variable: "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
    name: "Claude on Google Cloud",
    own: /^(GOOGLE_|GCLOUD_|CLOUDSDK_)/,
  },
  { variable: "CLAUDE_CODE_USE_FOUNDRY", name: "Microsoft Foundry", own: /^AZURE_/ },
] as const;

const KEYS = [
  { variable: "ANTHROPIC_AUTH_TOKEN", kind: "auth-token" },
  { variable: "ANTHROPIC_API_KEY", kind: "api-key" },
  { variable: "CLAUDE_CODE_OAUTH_TOKEN", kind: "oauth-token" },
] as const;

/** Where the model is and how to get there: the user's to say, whatever the login. */
const ROUTE =
  /^(ANTHROPIC_|CLAUDE_CODE_SKIP_[A-Z_]*AUTH$|CLAUDE_CODE_CLIENT_(CERT|KEY)|(https?|no|all)_proxy$|NODE_EXTRA_CA_CERTS$|SSL_CERT_(FILE|DIR)$)/i;

const isOn = (value: string | undefined): boolean => value !== undefined && !["", "0", "false"].includes(value);

/** The directory Claude Code keeps the user's own login in. */
function storeDirectory(user: Environment): string {
  return (
    user["CLAUDE_SECURESTORAGE_CONFIG_DIR"] || user["CLAUDE_CONFIG_DIR"] || join(user["HOME"] ?? homedir(), ".claude")
  );
}

function hasStoredLogin(directory: string): boolean {
  try {
    const stored: unknown = JSON.parse(readFileSync(join(directory, ".credentials.json"), "utf8"));
    return typeof stored === "object" && stored !== null && Object.keys(stored).length > 0;
  } catch {
    return false;
  }
}

export const usesCloud = (user: Environment): boolean => CLOUDS.some(({ variable }) => isOn(user[variable]));

/** undefined: there is no login that we can see, and a turn would fail. */
export function claudeLogin(user: Environment, platform: NodeJS.Platform = process.platform): ClaudeLogin | undefined {
  const cloud = CLOUDS.find(({ variable }) => isOn(user[variable]));
  if (cloud !== undefined) return { kind: "cloud", describe: `${cloud.name} (${cloud.variable})` };
  const key = KEYS.find(({ variable }) => (user[variable] ?? "") !== "");
  if (key !== undefined) return { kind: key.kind, describe: key.variable };
  const directory = storeDirectory(user);
  if (hasStoredLogin(directory)) {
    return { kind: "credentials-file", describe: join(directory, ".credentials.json") };
  }
  if (platform === "darwin") return { kind: "keychain", describe: "the macOS keychain, not checked" };
  return undefined;
}

/** The variables that carry the login into the agent's process. */
export function loginEnvironment(
  user: Environment,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const cloud = CLOUDS.find(({ variable }) => isOn(user[variable]));
  const carried = (name: string): boolean =>
    ROUTE.test(name) ||
    KEYS.some(({ variable }) => variable === name) ||
    (cloud !== undefined && (name === cloud.variable || cloud.own.test(name)));
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(user)) {
    if (value !== undefined && value !== "" && carried(name)) environment[name] = value;
  }
  environment["CLAUDE_SECURESTORAGE_CONFIG_DIR"] = securestorage(user, platform);
  return environment;
}

/**
 * Undocumented, so it has a test: with our own CLAUDE_CONFIG_DIR, this still names the store of the user's login. Empty
 * means the default one, and only so does macOS use the keychain entry without a suffix.
 */
function securestorage(user: Environment, platform: NodeJS.Platform): string {
  const own = user["CLAUDE_SECURESTORAGE_CONFIG_DIR"] || user["CLAUDE_CONFIG_DIR"];
  if (own !== undefined && own !== "") return own;
  return platform === "darwin" ? "" : storeDirectory(user);
}
