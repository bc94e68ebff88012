/**
 * How Codex will sign in: a key of the environment, or what `codex login` stored, read in place and never copied. All
 * of it stays with the gateway; the program has only the right to use the gateway.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { isObject, textAt, type Json } from "./protocol.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const KEYS = ["CODEX_API_KEY", "OPENAI_API_KEY"] as const;
const API = "https://api.openai.com/v1";
/** Where a subscription's requests go. */
const CHATGPT = "https://chatgpt.com/backend-api/codex";

export interface CodexLogin {
  /** For people; never holds a secret. */
  describe: string;
  /** Base URL of the model. */
  upstream: string;
  /** What signs a request, as it is now: a stored login may be renewed at any time. */
  headers(): Record<string, string>;
}

/** undefined: there is no login that we can see, and a turn would fail. */
export function codexLogin(user: Environment): CodexLogin | undefined {
  const upstream = user["OPENAI_BASE_URL"] || API;
  const key = KEYS.find((name) => (user[name] ?? "") !== "");
  if (key !== undefined) return { describe: key, upstream, headers: () => bearer(user[key] ?? "") };
  const file = join(user["CODEX_HOME"] || join(user["HOME"] ?? homedir(), ".codex"), "auth.json");
  const stored = readStored(file);
  if (stored === undefined) return undefined;
  return {
    describe: file,
    upstream: stored.is === "key" ? upstream : CHATGPT,
    headers: () => signatureOf(readStored(file) ?? stored),
  };
}

type Stored = { is: "key"; key: string } | { is: "chatgpt"; token: string; account: string };

function readStored(file: string): Stored | undefined {
  let stored: unknown;
  try {
    stored = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
  if (!isObject(stored)) return undefined;
  const key = textAt(stored, "OPENAI_API_KEY");
  const tokens: Json = isObject(stored["tokens"]) ? stored["tokens"] : {};
  const token = textAt(tokens, "access_token");
  if (token !== "") return { is: "chatgpt", token, account: textAt(tokens, "account_id") };
  return key === "" ? undefined : { is: "key", key };
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

function signatureOf(stored: Stored): Record<string, string> {
  if (stored.is === "key") return bearer(stored.key);
  return {
    ...bearer(stored.token),
    ...(stored.account === "" ? {} : { "chatgpt-account-id": stored.account }),
  };
}
