/**
 * The only way out of a fence's network: an HTTP proxy on a unix socket that knows whom it may let through. Names are
 * looked up here, outside; an address that is not public is refused unless it was named itself. Every try is told.
 */
import { lookup } from "node:dns/promises";
import { chmodSync, rmSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { BlockList, connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";

const CONNECT_LIMIT_MS = 30_000;
/** A tunnel nobody uses is closed. */
const IDLE_LIMIT_MS = 10 * 60_000;
const MAX_TUNNELS = 256;
const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

export interface Attempt {
  host: string;
  port: number;
  allowed: boolean;
  why: string;
}

export interface Egress {
  close(): Promise<void>;
}

interface Options {
  socket: string;
  /** `example.com`, `*.example.com`, or with a port; without one, 80 and 443. */
  hosts: readonly string[];
  onAttempt: (attempt: Attempt) => void;
}

export async function openEgress({ socket, hosts, onAttempt }: Options): Promise<Egress> {
  const open = new Set<Duplex>();
  const judge = async (host: string, port: number): Promise<{ address: string } | { refused: string }> => {
    const verdict = open.size >= MAX_TUNNELS ? { refused: "too many connections" } : await allowed(hosts, host, port);
    const why = "refused" in verdict ? verdict.refused : "on the list";
    onAttempt({ host, port, allowed: !("refused" in verdict), why });
    return verdict;
  };
  const server = createServer((request, response) => void forward(request, response, judge));
  server.on("connect", (request: IncomingMessage, client: Duplex, head: Buffer) => {
    open.add(client.on("close", () => open.delete(client)).on("error", () => client.destroy()));
    const { host, port } = hostAndPort(`http://${request.url ?? ""}`, 443);
    void judge(host, port).then((verdict) => {
      if ("refused" in verdict)
        return void client.end(`HTTP/1.1 403 Forbidden\r\n\r\n${refusal(host, verdict.refused)}`);
      tunnel(client, head, { address: verdict.address, port });
    });
  });
  server.on("clientError", (_error, client: Duplex) => client.destroy());
  rmSync(socket, { force: true });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  chmodSync(socket, 0o666);
  server.unref();
  return {
    async close() {
      for (const one of open) one.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(socket, { force: true });
    },
  };
}

const refusal = (host: string, why: string): string =>
  `pawl: ${host} is not reachable from inside the fence: ${why}. Allow it with --allow-host ${host}\n`;

function tunnel(client: Duplex, head: Buffer, { address, port }: { address: string; port: number }): void {
  const upstream = connect({ host: address, port, timeout: CONNECT_LIMIT_MS });
  const drop = (): void => {
    client.destroy();
    upstream.destroy();
  };
  upstream.once("connect", () => {
    upstream.setTimeout(IDLE_LIMIT_MS);
    client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
    if (head.length > 0) upstream.write(head);
    upstream.pipe(client);
    client.pipe(upstream);
  });
  upstream.on("timeout", drop).on("error", drop);
  (client as Socket).on("close", drop).on("error", drop);
}

async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  judge: (host: string, port: number) => Promise<{ address: string } | { refused: string }>,
): Promise<void> {
  const target = URL.canParse(request.url ?? "") ? new URL(request.url ?? "") : undefined;
  if (target?.protocol !== "http:")
    return void response.writeHead(400).end("pawl: a proxy wants a whole http address\n");
  const { host, port } = hostAndPort(target.href, 80);
  const verdict = await judge(host, port);
  if ("refused" in verdict) return void response.writeHead(403).end(refusal(host, verdict.refused));
  const { "proxy-connection": _, ...headers } = request.headers;
  const upstream = httpRequest(
    { host: verdict.address, port, method: request.method, path: target.pathname + target.search, headers },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  upstream.setTimeout(CONNECT_LIMIT_MS, () => upstream.destroy());
  upstream.on("error", () => response.destroy());
  response.on("close", () => upstream.destroy());
  request.pipe(upstream);
}

function hostAndPort(url: string, usual: number): { host: string; port: number } {
  if (!URL.canParse(url)) return { host: "", port: usual };
  const { hostname, port, protocol } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  return { host, port: port === "" ? (usual === 443 ? usual : (DEFAULT_PORTS[protocol] ?? usual)) : Number(port) };
}

async function allowed(
  hosts: readonly string[],
  host: string,
  port: number,
): Promise<{ address: string } | { refused: string }> {
  if (host === "") return { refused: "no such address" };
  if (!hosts.some((entry) => matches(entry, host, port))) return { refused: "not on the list" };
  if (isIP(host) !== 0) return { address: host };
  try {
    const { address } = await lookup(host);
    return isPublic(address) ? { address } : { refused: `it leads to ${address}, which is not public` };
  } catch {
    return { refused: "no such name" };
  }
}

function matches(entry: string, host: string, port: number): boolean {
  const [, name = "", only] = /^(.*?)(?::(\d+))?$/.exec(entry.toLowerCase()) ?? [];
  const isPort = only === undefined ? port === 80 || port === 443 : Number(only) === port;
  return (
    isPort && (name.startsWith("*.") ? host.endsWith(name.slice(1)) && host.length > name.length - 1 : host === name)
  );
}

const PRIVATE = new BlockList();
for (const [net, bits] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["224.0.0.0", 3],
] as const)
  PRIVATE.addSubnet(net, bits, "ipv4");
for (const [net, bits] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
  ["::ffff:0:0", 96],
] as const)
  PRIVATE.addSubnet(net, bits, "ipv6");

const isPublic = (address: string): boolean => !PRIVATE.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");

/** Where package managers fetch from. */
export const REGISTRIES: readonly string[] = [
  "registry.npmjs.org",
  "registry.yarnpkg.com",
  "pypi.org",
  "files.pythonhosted.org",
  "crates.io",
  "index.crates.io",
  "static.crates.io",
  "proxy.golang.org",
  "sum.golang.org",
  "repo.maven.apache.org",
  "repo1.maven.org",
  "plugins.gradle.org",
  "rubygems.org",
];
