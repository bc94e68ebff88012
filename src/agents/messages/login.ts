/** The key by which the API is reached: the user's, kept in pawl's own process. Nothing of it is inside the fence. */
type Environment = Readonly<Record<string, string | undefined>>;

const API = "https://api.anthropic.com";
const KEYS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"] as const;

export interface MessagesLogin {
  /** Name of the variable that it is from; never the key itself. */
  describe: (typeof KEYS)[number];
  key: string;
}

/** undefined: there is none, and a turn would fail. */
export function messagesLogin(user: Environment): MessagesLogin | undefined {
  for (const describe of KEYS) {
    const key = user[describe];
    if (key !== undefined && key !== "") return { describe, key };
  }
  return undefined;
}

export const baseUrl = (user: Environment): string => user["ANTHROPIC_BASE_URL"] || API;

/** `Name: value`, one a line, as Claude Code reads them. */
export function ownHeaders(user: Environment): Record<string, string> {
  const lines = (user["ANTHROPIC_CUSTOM_HEADERS"] ?? "").split(/\r?\n/);
  const pairs = lines.map((line) => /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line));
  return Object.fromEntries(pairs.flatMap((pair) => (pair === null ? [] : [[String(pair[1]), String(pair[2])]])));
}
