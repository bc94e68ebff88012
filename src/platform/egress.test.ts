import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer as createHttpServer, request, type IncomingMessage, type RequestListener } from "node:http";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { CLOSED_PORT } from "../../test/support/closed-port.ts";
import { tempDir, waitFor } from "../../test/support/temp.ts";
import { MAX_CONNECTIONS, openEgress, type Attempt } from "./egress.ts";

/** Some containers have none. */
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));

interface Open {
  socket: string;
  attempts: Attempt[];
}

async function egress(hosts: string[], environment: Record<string, string> = {}): Promise<Open> {
  const socket = join(tempDir("egress"), "s");
  const attempts: Attempt[] = [];
  const opened = await openEgress({ socket, hosts, environment, onAttempt: (attempt) => attempts.push(attempt) });
  onTestFinished(() => opened.close());
  return { socket, attempts };
}

async function listening(server: Server): Promise<number> {
  const clients = new Set<Socket>();
  server.on("connection", (client: Socket) => clients.add(client.on("error", () => undefined)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    for (const client of clients) client.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

const serve = (listener: RequestListener): Promise<number> => listening(createHttpServer(listener));
const hello: RequestListener = (asked, answer) =>
  answer.end(`hello ${asked.method} ${asked.url} ${asked.headers.host}`);

interface Answer {
  status: number;
  reason: string;
  text: string;
}

/** An absolute-form request, as programs send through a proxy. */
async function get(socket: string, url: string, { method = "GET", body = "" } = {}): Promise<Answer> {
  const sent = request({ socketPath: socket, path: url, method, headers: { "proxy-authorization": "Basic eDp5" } });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer.setEncoding("utf8")) text += String(chunk);
  return { status: answer.statusCode ?? 0, reason: answer.statusMessage ?? "", text };
}

/** A tunnel; `words` is what came instead of one. */
async function tunnel(socket: string, to: string): Promise<{ client: Socket; status: number; words: string }> {
  const client = connect({ path: socket, allowHalfOpen: true });
  client.on("error", () => undefined);
  onTestFinished(() => void client.destroy());
  client.write(`CONNECT ${to} HTTP/1.1\r\nHost: ${to}\r\n\r\n`);
  const [first] = (await once(client, "data")) as [Buffer];
  const words = first.toString();
  return { client, status: Number(words.split(" ")[1]), words };
}

it("lets a listed address through, by request and by tunnel, and tells of both", async () => {
  const port = await serve(hello);
  const { socket, attempts } = await egress([`127.0.0.1:${port}`]);
  const answer = await get(socket, `http://127.0.0.1:${port}/a?b=c`, { method: "POST", body: "x" });
  expect(answer).toMatchObject({ status: 200, text: `hello POST /a?b=c 127.0.0.1:${port}` });
  const { client, status } = await tunnel(socket, `127.0.0.1:${port}`);
  expect(status).toBe(200);
  client.end("GET /deep HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  const [data] = (await once(client, "data")) as [Buffer];
  expect(data.toString()).toContain("200 OK");
  const allowed = { host: "127.0.0.1", port, allowed: true, why: "on the list" };
  expect(attempts).toEqual([allowed, allowed]);
});

it("refuses everything else with words that say what a person can do", async () => {
  const port = await serve(hello);
  const { socket, attempts } = await egress([`127.0.0.1:${port + 1}`, "example.com"]);
  const answer = await get(socket, `http://127.0.0.1:${port}/`);
  expect(answer.status).toBe(403);
  expect(answer.text).toContain(`not on the list. A person can allow it: --allow-host 127.0.0.1:${port}`);
  expect(answer.reason).toContain("--allow-host");
  const { status, words } = await tunnel(socket, `127.0.0.1:${port}`);
  expect(status).toBe(403);
  expect(words.split("\r\n")[0]).toContain(`--allow-host 127.0.0.1:${port}`);
  expect((await tunnel(socket, "example.com:22")).status).toBe(403);
  expect(attempts.map(({ allowed }) => allowed)).toEqual([false, false, false]);
});

it("lets this machine's own name through, however it is written, and not the address that it leads to", async () => {
  const port = await serve(hello);
  const { socket } = await egress([`localhost:${port}`]);
  expect((await get(socket, `http://localhost:${port}/`)).status).toBe(200);
  expect((await get(socket, `http://LOCALHOST.:${port}/`)).status).toBe(200);
  expect((await get(socket, `http://127.0.0.1:${port}/`)).status).toBe(403);
});

it("refuses nonsense without falling over", async () => {
  const { socket } = await egress(["example.com"]);
  expect((await get(socket, "/not-absolute")).status).toBe(400);
  expect((await get(socket, "ftp://example.com/")).status).toBe(400);
  for (const to of ["example.com", "user@example.com:443", "[::1:443", "example.com:99999", "/:443"])
    expect((await tunnel(socket, to)).status).toBeGreaterThanOrEqual(400);
  const wild = connect({ path: socket }).on("error", () => undefined);
  wild.end("\0\0\0 garbage\r\n\r\n");
  await once(wild, "close");
});

it.skipIf(!hasIpv6)("reaches IPv6 addresses that are listed", async () => {
  const server = createHttpServer(hello);
  server.listen(0, "::1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const { socket, attempts } = await egress([`[::1]:${port}`]);
  expect((await get(socket, `http://[::1]:${port}/six`)).text).toContain("/six");
  expect((await tunnel(socket, `[::1]:${port}`)).status).toBe(200);
  expect(attempts[0]?.host).toBe("::1");
});

it("says when nobody listens there", async () => {
  const { socket } = await egress([`127.0.0.1:${CLOSED_PORT}`]);
  expect((await get(socket, `http://127.0.0.1:${CLOSED_PORT}/`)).status).toBe(502);
  const { status, words } = await tunnel(socket, `127.0.0.1:${CLOSED_PORT}`);
  expect(status).toBe(502);
  expect(words).toContain("ECONNREFUSED");
});

it("lets either side of a tunnel end first", async () => {
  // Answers only when the other side has ended.
  const late = createServer({ allowHalfOpen: true }, (client) => {
    let got = "";
    client.on("data", (chunk) => (got += chunk.toString())).on("end", () => client.end(`got ${got}`));
  });
  const early = createServer({ allowHalfOpen: true }, (client) => {
    client.end("bye");
    client.on("data", (chunk) => seen.push(chunk.toString()));
  });
  const seen: string[] = [];
  const ports = [await listening(late), await listening(early)];
  const { socket } = await egress(ports.map((port) => `127.0.0.1:${port}`));
  const first = await tunnel(socket, `127.0.0.1:${ports[0]}`);
  first.client.end("question");
  expect(String((await once(first.client, "data"))[0])).toBe("got question");
  const second = await tunnel(socket, `127.0.0.1:${ports[1]}`);
  second.client.resume();
  await once(second.client, "end");
  second.client.end("afterwards");
  await waitFor(() => seen.join("") === "afterwards", { what: "words after the end" });
});

it("carries 10 MB at the pace of the slower side", async () => {
  const SIZE = 10 * 1024 ** 2;
  let sent = 0;
  const source = createServer((client) => {
    const more = (): void => {
      while (sent < SIZE) {
        sent += 65_536;
        if (!client.write(Buffer.alloc(65_536))) return void client.once("drain", more);
      }
      client.end();
    };
    more();
  });
  const port = await listening(source);
  const { socket } = await egress([`127.0.0.1:${port}`]);
  const { client, words } = await tunnel(socket, `127.0.0.1:${port}`);
  client.pause();
  const stalled = await waitFor(
    async () => {
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 200));
      return before === sent && before > 0 && before;
    },
    { what: "the source to stop" },
  );
  expect(stalled).toBeLessThan(SIZE);
  let got = words.length - words.indexOf("\r\n\r\n") - 4;
  client.on("data", (chunk) => (got += chunk.length)).resume();
  await once(client, "end");
  expect(got).toBe(SIZE);
});

it("ends the other side when one has gone", async () => {
  const ended: string[] = [];
  const server = createServer((client) => void client.on("close", () => ended.push("upstream")));
  const port = await listening(server);
  const { socket } = await egress([`127.0.0.1:${port}`]);
  const { client } = await tunnel(socket, `127.0.0.1:${port}`);
  client.destroy();
  await waitFor(() => ended.length === 1, { what: "the end upstream" });
});

it("refuses too many, and goes on when there is room again", async () => {
  const port = await listening(createServer(() => undefined));
  const { socket } = await egress([`127.0.0.1:${port}`]);
  const held: Socket[] = [];
  for (let n = 0; n < MAX_CONNECTIONS; n += 1) held.push((await tunnel(socket, `127.0.0.1:${port}`)).client);
  const { words } = await tunnel(socket, `127.0.0.1:${port}`);
  expect(words).toContain("too many connections");
  for (const client of held) client.destroy();
  await waitFor(async () => (await tunnel(socket, `127.0.0.1:${port}`)).status === 200, { what: "room" });
});

it("goes through the user's own proxy, with its password, but not where that is excepted", async () => {
  const asked: string[] = [];
  const proxy = createHttpServer((incoming, answer) => {
    asked.push(`${incoming.url} ${incoming.headers["proxy-authorization"]}`);
    answer.end("from the proxy");
  });
  proxy.on("connect", (incoming: IncomingMessage, client: Socket) => {
    asked.push(`${incoming.url} ${incoming.headers["proxy-authorization"]}`);
    if (incoming.url?.startsWith("refused") === true) return void client.end("HTTP/1.1 407 No\r\n\r\n");
    client.end("HTTP/1.1 200 OK\r\n\r\nthrough");
  });
  const at = await listening(proxy);
  const direct = await serve(hello);
  const address = `http://me:p%40ss@127.0.0.1:${at}`;
  const hosts = ["nowhere.invalid", "refused.invalid", "10.255.255.1:81", `127.0.0.1:${direct}`];
  const environment = { HTTPS_PROXY: address, http_proxy: address, NO_PROXY: ".internal, 10.255.255.1:82" };
  const { socket, attempts } = await egress(hosts, environment);
  expect((await get(socket, "http://nowhere.invalid/x")).text).toBe("from the proxy");
  const { client, status } = await tunnel(socket, "nowhere.invalid:443");
  expect(status).toBe(200);
  expect((await tunnel(socket, "refused.invalid:443")).words).toContain("your proxy answered 407");
  expect((await get(socket, `http://127.0.0.1:${direct}/`)).text).toContain("hello");
  expect((await tunnel(socket, "elsewhere.invalid:443")).status).toBe(403);
  client.destroy();
  const login = `Basic ${Buffer.from("me:p@ss").toString("base64")}`;
  expect(asked).toEqual([
    `http://nowhere.invalid/x ${login}`,
    `nowhere.invalid:443 ${login}`,
    `refused.invalid:443 ${login}`,
  ]);
  expect(attempts.map(({ why }) => why)).toEqual([
    ...Array.from({ length: 3 }, () => "on the list, through your proxy"),
    "on the list",
    "not on the list",
  ]);
});

it("is understood by curl", async () => {
  const port = await serve(hello);
  const { socket } = await egress([`127.0.0.1:${port}`]);
  const relay = createServer((client) => {
    const way = connect({ path: socket });
    client.pipe(way).pipe(client);
    for (const one of [client, way]) one.on("error", () => undefined);
  });
  const at = await listening(relay);
  const curl = (...args: string[]): Promise<string> =>
    new Promise((resolve) => {
      const env = { PATH: process.env["PATH"] ?? "", http_proxy: `http://127.0.0.1:${at}`, no_proxy: "" };
      execFile("curl", ["-sS", "--max-time", "120", ...args], { env }, (_error, out, err) => resolve(out + err));
    });
  expect(await curl(`http://127.0.0.1:${port}/curl`)).toContain("hello GET /curl");
  expect(await curl("--proxytunnel", `http://127.0.0.1:${port}/deep`)).toContain("hello GET /deep");
  expect(await curl("http://nowhere.invalid/")).toContain("--allow-host nowhere.invalid:80");
});
