/** The gateway's way to the model: http or https, through the user's proxy, on connections that are kept. */
import type * as Http from "node:http";
import type { IncomingMessage, OutgoingHttpHeaders, RequestOptions } from "node:http";
import { setImmediate as nextRound } from "node:timers/promises";
import type { SecureContext } from "node:tls";

/** Of one connection only, never passed on (RFC 9110, 7.6.1); `host` and the length are set anew. */
const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "expect",
  "host",
];

/** Before the first byte of a request: the certificate was signed by nobody we know. */
const DISTRUST = new Set([
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

/**
 * How long a connection may lie idle and be used again. Servers close idle ones, many after 5 seconds (Node, uvicorn), and
 * a request that meets such an end is lost: the agent asks again, and one question would be counted as two.
 */
const MAX_IDLE_MS = 4_000;

interface Sent {
  method: string;
  /** With the query. */
  path: string;
  headers: OutgoingHttpHeaders;
  body: Buffer;
  signal: AbortSignal;
}

/** `unsent`: no model can have read it, since not all of it was handed over. */
export type Sending =
  | { is: "answered"; answer: IncomingMessage }
  | { is: "broken"; error: Error }
  | { is: "unsent"; error: Error };

export interface Upstream {
  /** Resolves with the head of the answer, if there is one. */
  send(request: Sent): Promise<Sending>;
  close(): void;
}

interface UpstreamOptions {
  upstream: string;
  environment: Readonly<Record<string, string | undefined>>;
}

export function endToEnd(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const named = String(headers["connection"] ?? "")
    .toLowerCase()
    .split(",")
    .map((name) => name.trim());
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && !dropped.has(name));
  return Object.fromEntries(kept);
}

/**
 * `node:http` as CommonJS has it. As an ES module every export is read once, among them WebSocket, and with that all of
 * fetch's code is loaded, which nobody here uses: 12 MB and tens of milliseconds before the agent can start.
 */
export const plainHttp = (): typeof Http => process.getBuiltinModule("node:http");

export async function openUpstream({ upstream, environment }: UpstreamOptions): Promise<Upstream> {
  const base = new URL(upstream);
  const { protocol, port } = base;
  const hostname = base.hostname.replace(/^\[|\]$/g, "");
  const root = base.pathname.replace(/\/$/, "");
  const module = protocol === "https:" ? await import("node:https") : plainHttp();
  const { Agent, request } = module;
  const options = { keepAlive: true, timeout: MAX_IDLE_MS, proxyEnv: { ...environment } };
  let agent = new Agent(options);
  let trustsSystem = protocol !== "https:";

  const attempt = ({ method, path, headers, body, signal }: Sent): Promise<Sending> =>
    new Promise((resolve) => {
      const target: RequestOptions = { protocol, hostname, port, path: root + path, agent };
      const length = method === "GET" || method === "HEAD" ? {} : { "content-length": body.length };
      const sent = request({ ...target, method, headers: { ...headers, ...length }, signal });
      let isWhole = false;
      // Said of a request that was given up, too.
      sent.once("finish", () => (isWhole ||= !sent.destroyed));
      sent.once("response", (answer) => resolve({ is: "answered", answer }));
      sent.once("error", (error) => resolve({ is: isWhole ? "broken" : "unsent", error }));
      sent.end(body);
    });

  /** The end of an idle connection that has come, and the end of its time, are seen before it is used. */
  async function dropDead(): Promise<void> {
    if (Object.keys(agent.freeSockets).length === 0) return;
    await nextRound();
    await nextRound();
  }

  return {
    async send(asked) {
      await dropDead();
      const first = await attempt(asked);
      if (trustsSystem || first.is === "answered" || !isDistrust(first.error)) return first;
      // A company's proxy is known to the system's store only. Nothing has left yet; reading it takes long.
      trustsSystem = true;
      agent.destroy();
      agent = new Agent({ ...options, ...(await systemTrust()) });
      return await attempt(asked);
    },
    close: () => agent.destroy(),
  };
}

function isDistrust(error: unknown): boolean {
  return DISTRUST.has((error as NodeJS.ErrnoException).code ?? "");
}

async function systemTrust(): Promise<{ secureContext: SecureContext }> {
  const { createSecureContext, getCACertificates } = await import("node:tls");
  const ca = [...new Set([...getCACertificates("default"), ...getCACertificates("system")])];
  return { secureContext: createSecureContext({ ca }) };
}
