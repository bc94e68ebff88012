/**
 * A subscription's login stays outside the fence: the program inside has the gateway's token in its place, and what the
 * user stored is read here, request by request. It is never written here either: when it has run out, the user's own
 * program renews it, under its own lock, outside and with nothing of the agent's.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { renewLogin } from "./renew-login.ts";

const OAUTH_TOKEN = "CLAUDE_CODE_OAUTH_TOKEN";
const STORE = "CLAUDE_SECURESTORAGE_CONFIG_DIR";
const FILE = ".credentials.json";
/** Renewed this long before it runs out, and tried again no sooner than that. */
const RENEW_AHEAD_MS = 60_000;
/** Undocumented, so it has a test: what the program takes from its store otherwise, and decides by. */
const KNOWN = { subscriptionType: "CLAUDE_CODE_SUBSCRIPTION_TYPE", rateLimitTier: "CLAUDE_CODE_RATE_LIMIT_TIER" };

export interface KeptLogin {
  /** To be awaited before a request leaves. Never rejects: an old token gets the answer that tells. */
  ready(): Promise<void>;
  /** What the model gets for the gateway's token. */
  bearer(): string | undefined;
  /** For the program inside, in place of the login. */
  environment(token: string): Record<string, string>;
}

interface Stored {
  accessToken: string;
  expiresAt: number | undefined;
  /** Not secret. */
  about: Record<string, string>;
}

interface About {
  login: Readonly<Record<string, string>>;
  /** The user's own, to renew what has run out. */
  program: () => string | undefined;
}

/** undefined: no such login. */
export function keptLogin({ login, program }: About): KeptLogin | undefined {
  const token = login[OAUTH_TOKEN];
  if (token !== undefined)
    return { ready: () => Promise.resolve(), bearer: () => token, environment: (own) => ({ [OAUTH_TOKEN]: own }) };
  const folder = login[STORE] ?? "";
  const store = storeAt(join(folder, FILE));
  if (folder === "" || store.read() === undefined) return undefined;
  let tried = Number.NEGATIVE_INFINITY;
  let renewing: Promise<void> | undefined;
  return {
    ready() {
      const until = store.read()?.expiresAt ?? Number.POSITIVE_INFINITY;
      const now = Date.now();
      if (until - now > RENEW_AHEAD_MS || now - tried < RENEW_AHEAD_MS) return renewing ?? Promise.resolve();
      tried = now;
      renewing = renewLogin({ login, program: program() }).finally(() => (renewing = undefined));
      return renewing;
    },
    bearer: () => store.read()?.accessToken,
    environment: (own) => ({ [OAUTH_TOKEN]: own, ...store.read()?.about }),
  };
}

/** Read again only when the file is another one than before. */
function storeAt(file: string): { read(): Stored | undefined } {
  let known: { mark: string; stored: Stored | undefined } | undefined;
  return {
    read() {
      const stats = statSync(file, { throwIfNoEntry: false });
      if (stats === undefined) return known?.stored;
      const mark = `${stats.ino}:${stats.mtimeMs}:${stats.size}`;
      if (known?.mark !== mark) known = { mark, stored: readStored(file) ?? known?.stored };
      return known.stored;
    },
  };
}

function readStored(file: string): Stored | undefined {
  try {
    const { claudeAiOauth } = JSON.parse(readFileSync(file, "utf8")) as { claudeAiOauth?: Record<string, unknown> };
    const { accessToken, expiresAt, ...rest } = claudeAiOauth ?? {};
    if (typeof accessToken !== "string" || accessToken === "") return undefined;
    const about = Object.entries(KNOWN).flatMap(([name, variable]) => {
      const value = rest[name];
      return typeof value === "string" ? [[variable, value]] : [];
    });
    return {
      accessToken,
      expiresAt: typeof expiresAt === "number" ? expiresAt : undefined,
      about: Object.fromEntries(about),
    };
  } catch {
    // Half written: the one before is still good, or there is none.
    return undefined;
  }
}
