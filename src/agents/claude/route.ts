/**
 * How Claude Code reaches its model: through the gateway, so that no key of the user is in its process and no request
 * leaves too early; or directly, where only the program itself can sign or connect.
 */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http";
import type { Gateway, GatewayOptions } from "../../platform/gateway.ts";
import { usesCloud } from "./login.ts";

const MODEL_API = "https://api.anthropic.com";
const API_KEY = "ANTHROPIC_API_KEY";
const AUTH_TOKEN = "ANTHROPIC_AUTH_TOKEN";
const SECRET_NAME = /^(ANTHROPIC_\w*(KEY|TOKEN|SECRET|HEADERS)\w*|CLAUDE_CODE_OAUTH_TOKEN)$/i;
/** The program's own socket, or a certificate that it shows: the gateway has neither. */
const OWN_CONNECTION = /^(ANTHROPIC_UNIX_SOCKET|CLAUDE_CODE_CLIENT_(CERT|KEY))/;
const PROXY_NAME = /^(https?|all)_proxy$/i;
/** First releases of Node whose HTTP client can use a proxy, by major. */
const PROXY_SINCE: Readonly<Record<number, number>> = { 22: 21, 24: 5 };

export type Route =
  | { is: "direct" }
  | { is: "gateway"; to: Pick<GatewayOptions, "upstream" | "paths" | "headers" | "environment"> };

/** `login`: the variables that carry the user's login. */
export function modelRoute(login: Readonly<Record<string, string>>, node = process.versions.node): Route {
  const names = Object.keys(login);
  const upstream = login["ANTHROPIC_BASE_URL"] ?? MODEL_API;
  const isHttp = /^https?:$/.test(URL.parse(upstream)?.protocol ?? "");
  const proxied = names.some((name) => PROXY_NAME.test(name));
  if (!isHttp || usesCloud(login) || names.some((name) => OWN_CONNECTION.test(name))) return { is: "direct" };
  if (proxied && !knowsProxies(node)) return { is: "direct" };
  const headers = (sent: IncomingHttpHeaders, token: string): OutgoingHttpHeaders => signed(sent, { token, login });
  return { is: "gateway", to: { upstream, paths: ["/v1/"], headers, environment: login } };
}

function knowsProxies(node: string): boolean {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  return major > 24 || minor >= (PROXY_SINCE[major] ?? Infinity);
}

/** One that the gateway signs with; any other login is kept by the program, or for it. */
export const hasKey = (login: Readonly<Record<string, string>>): boolean => API_KEY in login || AUTH_TOKEN in login;

interface Signing {
  token: string;
  login: Readonly<Record<string, string>>;
}

/** The token becomes the key it stands for; a login that the program keeps itself passes as it is. */
function signed(sent: IncomingHttpHeaders, { token, login }: Signing): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = { ...sent };
  const { [API_KEY]: key, [AUTH_TOKEN]: bearer } = login;
  if (sent["x-api-key"] === token) headers["x-api-key"] = key;
  if (sent.authorization === `Bearer ${token}` && bearer !== undefined) headers["authorization"] = `Bearer ${bearer}`;
  const own = hasKey(login) ? customHeaders(login["ANTHROPIC_CUSTOM_HEADERS"]) : {};
  return { ...headers, ...own };
}

/** A subscription's token in place of the gateway's, with the user's headers: the program has neither. */
export function withBearer(
  headers: OutgoingHttpHeaders,
  { token, login, bearer }: Signing & { bearer: string | undefined },
): OutgoingHttpHeaders {
  if (bearer === undefined) return headers;
  const isOurs = headers["authorization"] === `Bearer ${token}`;
  const signed = isOurs ? { authorization: `Bearer ${bearer}` } : {};
  return { ...headers, ...signed, ...customHeaders(login["ANTHROPIC_CUSTOM_HEADERS"]) };
}

/** `Name: value`, one a line, as the program itself reads them. */
function customHeaders(text = ""): Record<string, string> {
  const pairs = text.split(/\r?\n/).map((line) => /^\s*([^:\s]+)\s*:\s*(.*?)\s*$/.exec(line));
  return Object.fromEntries(
    pairs.flatMap((pair) => (pair === null ? [] : [[String(pair[1]).toLowerCase(), String(pair[2])]])),
  );
}

export interface Reached {
  gateway: Pick<Gateway, "url" | "token">;
  socket: string | undefined;
  /** Instead of a login that stays outside. */
  login?: Readonly<Record<string, string>>;
}

/** `environment`, which holds the user's login, as it is for a program behind the gateway. */
export function gatewayEnvironment(
  environment: Readonly<Record<string, string>>,
  { gateway: { url, token }, socket, login }: Reached,
): Record<string, string> {
  const isHeld = hasKey(environment) || login !== undefined;
  const kept = Object.entries(environment).filter(([name]) => !isHeld || !SECRET_NAME.test(name));
  const tokens = [API_KEY, AUTH_TOKEN].filter((name) => name in environment).map((name) => [name, token]);
  const upstream = environment["ANTHROPIC_BASE_URL"] ?? MODEL_API;
  return {
    ...Object.fromEntries([...kept, ...tokens]),
    ...login,
    ...(socket === undefined ? { ...withoutProxy(environment) } : { ANTHROPIC_UNIX_SOCKET: socket }),
    // Undocumented, so it has a test: the model behind the gateway is the program's own, with all it can do.
    ...(new URL(upstream).origin === MODEL_API ? { _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1" } : {}),
    ANTHROPIC_BASE_URL: url,
  };
}

/** The user's proxy is the gateway's to use, not the way to the gateway. */
function withoutProxy(environment: Readonly<Record<string, string>>): Record<string, string> {
  if (!Object.keys(environment).some((name) => PROXY_NAME.test(name))) return {};
  const listed = environment["no_proxy"] ?? environment["NO_PROXY"] ?? "";
  const extended = listed === "" ? "127.0.0.1" : `${listed},127.0.0.1`;
  return { no_proxy: extended, NO_PROXY: extended };
}
