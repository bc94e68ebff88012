/**
 * Models that pawl can lead an agent to: the variables by which most programs learn address and key, and where the key
 * stands in a request. With these the agent gets an address of pawl's and a token instead of the key.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";

type Environment = Readonly<Record<string, string | undefined>>;

interface Provider {
  /** As the protocol's `gateway` way to log in calls it. */
  protocol: string;
  baseUrl: string;
  /** Where its requests go when nothing else is said. */
  upstream: string;
  /** Variables with keys, and the header that carries each; the first one given is what signs. */
  keys: readonly { name: string; header: string; bearer: boolean }[];
}

const PROVIDERS: readonly Provider[] = [
  {
    protocol: "anthropic",
    baseUrl: "ANTHROPIC_BASE_URL",
    upstream: "https://api.anthropic.com",
    keys: [
      { name: "ANTHROPIC_API_KEY", header: "x-api-key", bearer: false },
      { name: "ANTHROPIC_AUTH_TOKEN", header: "authorization", bearer: true },
    ],
  },
  {
    protocol: "openai",
    baseUrl: "OPENAI_BASE_URL",
    upstream: "https://api.openai.com/v1",
    keys: [
      { name: "CODEX_API_KEY", header: "authorization", bearer: true },
      { name: "OPENAI_API_KEY", header: "authorization", bearer: true },
    ],
  },
  {
    protocol: "google",
    baseUrl: "GOOGLE_GEMINI_BASE_URL",
    upstream: "https://generativelanguage.googleapis.com",
    keys: [
      { name: "GEMINI_API_KEY", header: "x-goog-api-key", bearer: false },
      { name: "GOOGLE_API_KEY", header: "x-goog-api-key", bearer: false },
    ],
  },
];

/** A model that this agent reaches through pawl. */
export interface Led {
  protocol: string;
  upstream: string;
  /** Signs a request that carries the gateway's token. */
  headers(sent: IncomingHttpHeaders, token: string): OutgoingHttpHeaders;
  /** For the agent's environment. */
  variables(reached: { url: string; token: string }): Record<string, string>;
  /** Headers by which the agent shows its token, where it can be told any. */
  shown(token: string): Record<string, string>;
}

interface About {
  /** No other way leads out: also a model of which only the key is known goes through pawl. */
  closed: boolean;
}

/** `environment`: what the user gave the agent, with everybody's keys in it. */
export function ledModels(environment: Environment, { closed }: About): Led[] {
  return PROVIDERS.flatMap((provider) => {
    const given = provider.keys.filter(({ name }) => (environment[name] ?? "") !== "");
    const named = environment[provider.baseUrl] ?? "";
    const isLed = named !== "" || (closed && given.length > 0);
    return isLed ? [ledBy(provider, { environment, given, upstream: named === "" ? provider.upstream : named })] : [];
  });
}

interface Given {
  environment: Environment;
  given: Provider["keys"];
  upstream: string;
}

function ledBy({ protocol, baseUrl }: Provider, { environment, given, upstream }: Given): Led {
  const [first] = given;
  const keyFor = (header: string): string | undefined => {
    const key = given.find((one) => one.header === header) ?? first;
    return key === undefined ? undefined : environment[key.name];
  };
  return {
    protocol,
    upstream,
    headers(sent, token) {
      const signed = Object.entries(sent).map(([name, value]) => {
        const key = typeof value === "string" && value.includes(token) ? keyFor(name) : undefined;
        return [name, key === undefined ? value : String(value).replaceAll(token, key)];
      });
      // What passes is read, to count it.
      return { ...(Object.fromEntries(signed) as OutgoingHttpHeaders), "accept-encoding": "identity" };
    },
    variables: ({ url, token }) => ({
      ...Object.fromEntries(given.map(({ name }) => [name, token])),
      [baseUrl]: url,
    }),
    shown: (token) => (first === undefined ? {} : { [first.header]: first.bearer ? `Bearer ${token}` : token }),
  };
}
