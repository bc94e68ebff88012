/**
 * How the driver speaks to a server: over loopback, or, where a fence has a loopback of its own, over a unix socket that
 * a relay inside listens on. What is found at the socket's path is the agent's to change, so it is opened once, never
 * through a link, and every connection goes to what was opened.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { plainHttp } from "../../platform/gateway-upstream.ts";
import { SOCKET } from "./home.ts";

const HOST = "127.0.0.1";
/** Not among Node's constants: a descriptor that names a file and can do no more. Linux only. */
const O_PATH = 0o10000000;
/** The relay is started before the server. */
const SOCKET_LIMIT_MS = 5_000;
const POLL_MS = 10;
/** Statuses whose answers have no body. */
const EMPTY = [204, 205, 304];

export interface Reach {
  baseUrl: string;
  fetch: typeof fetch;
  close(): void;
}

/** `cd`s to the home, because a socket's path may have 107 bytes; `$1` home, `$2` socket, `$3` socat, `$4` port. */
const LISTEN_SCRIPT = `
(cd "$1" && rm -f "$2" && exec "$3" -t60 "UNIX-LISTEN:$2,fork,mode=600" "TCP:${HOST}:$4") >/dev/null 2>&1 </dev/null &
shift 4
exec "$@"`;

/** What stands before a server's own words inside a fence. */
export const listenWords = ({ home, socat, port }: { home: string; socat: string; port: number }): string[] => [
  "/bin/sh",
  "-c",
  LISTEN_SCRIPT,
  "pawl-fence",
  home,
  SOCKET,
  socat,
  String(port),
];

/** Nobody listens there now. Rejects for a port that somebody has. */
export async function freePort(wanted = 0): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(wanted, HOST, resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

export const isTaken = (port: number): Promise<boolean> =>
  freePort(port).then(
    () => false,
    () => true,
  );

export const reachPort = (port: number): Reach => over({ host: HOST, port });

/** Of somebody else: may be anywhere. */
export const reachUrl = (url: string): Reach => ({
  baseUrl: url.replace(/\/$/, ""),
  fetch: (...asked) => fetch(...asked),
  close: () => undefined,
});

/** Throws when nothing listens there in time. */
export async function reachSocket(home: string): Promise<Reach> {
  const path = join(home, SOCKET);
  if (process.platform !== "linux") return over({ socketPath: path });
  const until = performance.now() + SOCKET_LIMIT_MS;
  for (;;) {
    const fd = openedSocket(path);
    if (fd !== undefined) return over({ socketPath: `/proc/self/fd/${fd}` }, () => closeSync(fd));
    if (performance.now() > until) throw new Error("the relay to opencode's server did not start");
    await sleep(POLL_MS);
  }
}

function openedSocket(path: string): number | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
    if (fstatSync(fd).isSocket()) return fd;
  } catch {
    // Not there yet.
  }
  if (fd !== undefined) closeSync(fd);
  return undefined;
}

/** One's own `fetch`: Node's gives up on an answer after five minutes, and knows no unix sockets. */
function over(
  to: { host: string; port: number } | { socketPath: string },
  closed: () => void = () => undefined,
): Reach {
  const { Agent, request: ask } = plainHttp();
  const agent = new Agent({ keepAlive: true });
  return {
    baseUrl: "port" in to ? `http://${to.host}:${to.port}` : "http://localhost",
    async fetch(input, init) {
      const asked = new Request(input, init);
      const body = Buffer.from(await asked.arrayBuffer());
      const { pathname, search } = new URL(asked.url);
      const headers = { ...Object.fromEntries(asked.headers), "content-length": body.length };
      const { method, signal } = asked;
      return await new Promise((resolve, reject) => {
        const sent = ask({ ...to, agent, path: pathname + search, method, headers, signal }, (answer) => {
          const status = answer.statusCode ?? 0;
          const told = Object.entries(answer.headers).flatMap(([name, value]): [string, string][] =>
            typeof value === "string" ? [[name, value]] : [],
          );
          if (EMPTY.includes(status)) answer.resume();
          const content = EMPTY.includes(status) ? null : (Readable.toWeb(answer) as ReadableStream);
          resolve(new Response(content, { status, headers: told }));
        });
        sent.once("error", reject);
        sent.end(body);
      });
    },
    close() {
      agent.destroy();
      closed();
    },
  };
}
