/**
 * How opencode will sign in: keys of the environment, or what `opencode auth login` stored, read in place and never
 * copied. All of it stays with the gateway; the program has only the right to use the gateway.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isObject, textAt } from "./json.ts";
import { lookUp } from "../../platform/look-up.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface Provider {
  keys: readonly string[];
  /** Names another address. */
  base?: string;
  upstream: string;
}

/** opencode's names of the providers that sign with a key in a header, with where their API is; the best-known first. */
const PROVIDERS: Readonly<Record<string, Provider>> = {
  anthropic: {
    keys: ["ANTHROPIC_API_KEY"],
    base: "ANTHROPIC_BASE_URL",
    upstream: "https://api.anthropic.com/v1",
  },
  openai: { keys: ["OPENAI_API_KEY"], base: "OPENAI_BASE_URL", upstream: "https://api.openai.com/v1" },
  opencode: { keys: ["OPENCODE_API_KEY"], upstream: "https://opencode.ai/zen/v1" },
  openrouter: { keys: ["OPENROUTER_API_KEY"], upstream: "https://openrouter.ai/api/v1" },
  google: {
    keys: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    upstream: "https://generativelanguage.googleapis.com/v1beta",
  },
  deepseek: { keys: ["DEEPSEEK_API_KEY"], upstream: "https://api.deepseek.com" },
  groq: { keys: ["GROQ_API_KEY"], upstream: "https://api.groq.com/openai/v1" },
  mistral: { keys: ["MISTRAL_API_KEY"], upstream: "https://api.mistral.ai/v1" },
  xai: { keys: ["XAI_API_KEY"], upstream: "https://api.x.ai/v1" },
};
export const PROVIDER_NAMES = Object.keys(PROVIDERS);

export interface Login {
  provider: string;
  /** For people; never holds a secret. */
  describe: string;
  /** Base URL of the model. */
  upstream: string;
  /** As it is now: what is stored may be changed at any time. */
  key(): string;
}

/** All that can be used, the best-known provider first. */
export function opencodeLogins(user: Environment): Login[] {
  return PROVIDER_NAMES.flatMap((name) => loginOf(name, user) ?? []);
}

function loginOf(name: string, user: Environment): Login | undefined {
  const provider = PROVIDERS[name] as Provider;
  const upstream = upstreamOf(name, user);
  const variable = provider.keys.find((one) => (user[one] ?? "") !== "");
  if (variable !== undefined) {
    return { provider: name, describe: variable, upstream, key: () => user[variable] ?? "" };
  }
  const file = authFile(user);
  const stored = storedKey(file, name);
  if (stored === undefined) return undefined;
  return { provider: name, describe: `${name} in ${file}`, upstream, key: () => storedKey(file, name) ?? stored };
}

/** Anthropic's own variable names the host alone, as its programs read it. */
function upstreamOf(name: string, user: Environment): string {
  const { base, upstream } = PROVIDERS[name] as Provider;
  const given = base === undefined ? undefined : user[base];
  if (given === undefined || given === "") return upstream;
  const trimmed = given.replace(/\/+$/, "");
  return name !== "anthropic" || /\/v\d+$/.test(trimmed) ? trimmed : `${trimmed}/v1`;
}

const authFile = (user: Environment): string =>
  join(user["XDG_DATA_HOME"] || join(user["HOME"] ?? homedir(), ".local", "share"), "opencode", "auth.json");

function storedKey(file: string, name: string): string | undefined {
  const entry = lookUp(stored(file), name);
  const key = isObject(entry) && entry["type"] === "api" ? textAt(entry, "key") : "";
  return key === "" ? undefined : key;
}

/** Providers that are logged in to with a subscription: only opencode's own plugins can renew those. */
export function subscriptions(user: Environment): string[] {
  return Object.entries(stored(authFile(user))).flatMap(([name, entry]) =>
    isObject(entry) && entry["type"] !== "api" ? [name] : [],
  );
}

function stored(file: string): Record<string, unknown> {
  try {
    const content: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(content) ? content : {};
  } catch {
    return {};
  }
}
