import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { CLOSED_PORT } from "../../test/support/closed-port.ts";
import { tempDir, waitFor } from "../../test/support/temp.ts";
import { openGateway, type Gateway, type GatewayOptions } from "./gateway.ts";

interface Got {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A model that answers with what it got. */
async function model(listener?: RequestListener): Promise<{ url: string; got: Got[] }> {
  const got: Got[] = [];
  const echo = (request: IncomingMessage, response: ServerResponse): void => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      got.push({ method, url, headers, body });
      response.writeHead(201, { "x-answer": "yes", "keep-alive": "timeout=9" });
      response.end(`${method} ${url} ${body}`);
    });
  };
  const server = createServer(listener ?? echo);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
}

async function gatewayTo(upstream: string, options: Partial<GatewayOptions> = {}) {
  const failures: string[] = [];
  const gateway = await openGateway({
    upstream,
    paths: ["/v1/"],
    listen: { port: 0 },
    headers: (sent, token) => ({ ...sent, "x-key": sent["x-key"] === token ? "the real one" : sent["x-key"] }),
    beforeForward: () => Promise.resolve(),
    onFailure: (error) => failures.push(error.message),
    environment: {},
    ...options,
  });
  onTestFinished(() => gateway.close());
  return Object.assign(gateway, { failures });
}

const ask = (gateway: Gateway, path = "/v1/messages", init: RequestInit = {}): Promise<Response> =>
  fetch(`${gateway.url}${path}`, { method: "POST", body: "hello", ...init });

it("passes a request on under the model's own path, with the key in place of the token", async () => {
  const { url, got } = await model();
  const gateway = await gatewayTo(`${url}/base/`);
  const headers = { "x-key": gateway.token, "x-other": "kept", te: "trailers", "x-hop": "1", connection: "x-hop" };
  const answer = await new Promise<{ status: number | undefined; headers: object; body: string }>((resolve, reject) => {
    const request = httpRequest(`${gateway.url}/v1/messages?beta=true`, { method: "POST", headers }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    request.on("error", reject);
    request.write("in ");
    request.end("pieces");
  });
  expect(answer).toMatchObject({ status: 201, body: "POST /base/v1/messages?beta=true in pieces" });
  expect(answer.headers).toMatchObject({ "x-answer": "yes" });
  expect(got[0]?.headers).toMatchObject({ "x-key": "the real one", "x-other": "kept", "content-length": "9" });
  expect(got[0]?.headers).not.toHaveProperty("x-hop");
  expect(got[0]?.headers).not.toHaveProperty("te");
  expect(JSON.stringify(got)).not.toContain(gateway.token);
});

it("forwards nothing without the token, and nothing but the model's paths", async () => {
  const { url, got } = await model();
  const gateway = await gatewayTo(url);
  const { origin } = new URL(gateway.url);
  const status = async (path: string): Promise<number> =>
    await new Promise((resolve, reject) => {
      const request = httpRequest(
        { host: "127.0.0.1", port: new URL(origin).port, path, method: "POST" },
        (response) => {
          response.resume();
          resolve(response.statusCode ?? 0);
        },
      );
      request.on("error", reject);
      request.end("x");
    });
  const { token } = gateway;
  const wrong = token.replace(/^./, (first) => (first === "0" ? "1" : "0"));
  for (const path of ["/v1/messages", "/", `/${wrong}/v1/messages`, `/${token.slice(1)}/v1/messages`]) {
    expect([path, await status(path)]).toEqual([path, 403]);
  }
  for (const path of ["", "/", "/api/oauth", "/v1", "/v1/../admin", "/v1/%2e%2e/admin", "//other.host/v1/messages"]) {
    expect([path, await status(`/${token}${path}`)]).toEqual([path, 404]);
  }
  expect(got).toEqual([]);
});

it("lets a request go only when it may, also when nobody can tell", async () => {
  const { url, got } = await model();
  const may = Promise.withResolvers<void>();
  const held: string[] = [];
  const gateway = await gatewayTo(url, {
    beforeForward: ({ method, path, body }) => {
      held.push(`${method} ${path} ${body.toString()}`);
      return may.promise;
    },
  });
  const answer = ask(gateway, "/v1/messages?beta=true");
  await waitFor(() => held.length > 0, { what: "the held request" });
  expect([held, got]).toEqual([["POST /v1/messages hello"], []]);
  may.reject(new Error("cannot tell"));
  expect((await answer).status).toBe(201);
});

it("does not forward what the agent gave up while it was held", async () => {
  const { url, got } = await model();
  const given = Promise.withResolvers<void>();
  const gateway = await gatewayTo(url, {
    beforeForward: async ({ signal }) => {
      given.resolve();
      await once(signal, "abort");
    },
  });
  const controller = new AbortController();
  const answer = ask(gateway, "/v1/messages", { signal: controller.signal });
  await given.promise;
  controller.abort();
  await expect(answer).rejects.toThrow("aborted");
  expect((await ask(await gatewayTo(url))).status).toBe(201);
  expect(got).toHaveLength(1);
});

it("streams an answer as it comes, and ends the model's work when the agent hangs up", async () => {
  const gone = Promise.withResolvers<void>();
  const { url } = await model((_, response) => {
    response.on("close", () => gone.resolve());
    response.write("first");
  });
  const gateway = await gatewayTo(url);
  const controller = new AbortController();
  const answer = await ask(gateway, "/v1/messages", { signal: controller.signal });
  const first = await answer.body?.getReader().read();
  expect(Buffer.from(first?.value ?? []).toString()).toBe("first");
  controller.abort();
  await gone.promise;
  expect(gateway.failures).toEqual([]);
});

it("slows the model down to what the agent reads", async () => {
  let written = 0;
  const chunk = Buffer.alloc(256 * 1024);
  const { url } = await model((_, response) => {
    const more = (): void => {
      while (written < 400 && response.write(chunk)) written += 1;
      written += 1;
      if (written < 400) response.once("drain", more);
      else response.end();
    };
    more();
  });
  const gateway = await gatewayTo(url);
  const answer = await ask(gateway);
  // Full buffers on the way take some; then it stands still.
  let before = -1;
  while (before !== written) {
    before = written;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  expect(written).toBeLessThan(300);
  expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(90 * 1024 * 1024);
});

it("breaks the agent's connection where the model's broke", async () => {
  const { url } = await model((request, response) => {
    if (request.url === "/v1/before") return request.socket.destroy();
    response.writeHead(200, request.url === "/v1/sized" ? { "content-length": 100 } : {});
    response.write("half", () => request.socket.destroy());
    return undefined;
  });
  const gateway = await gatewayTo(url);
  await expect(ask(gateway, "/v1/before")).rejects.toThrow("fetch failed");
  for (const path of ["/v1/sized", "/v1/chunked"]) {
    const answer = await ask(gateway, path);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow("terminated");
  }
  await waitFor(() => gateway.failures.length === 3, { what: "three failures told" });
});

it("breaks the connection when there is no model, and says why to who asks", async () => {
  const { url } = await model();
  const gateway = await gatewayTo(`http://127.0.0.1:${CLOSED_PORT}`);
  await expect(ask(gateway)).rejects.toThrow("fetch failed");
  expect(gateway.failures).toEqual([expect.stringContaining("ECONNREFUSED")]);
  expect((await ask(await gatewayTo(url))).status).toBe(201);
});

/** How a connection that was closed is met: while it is written to, or read from. */
const CLOSED = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];

it("refuses a request that is too long to be held", async () => {
  const { url, got } = await model();
  const gateway = await gatewayTo(url);
  const answer = ask(gateway, "/v1/messages", { body: Buffer.alloc(65 * 1024 * 1024) });
  // The rest of the body may meet a closed connection before the answer is read.
  const status = await answer.then(
    (response) => response.status,
    ({ cause }: { cause?: { code?: string } }) => (CLOSED.includes(cause?.code ?? "") ? 413 : cause),
  );
  expect([status, got]).toEqual([413, []]);
});

it("listens on a socket that only the user can open, over what a killed driver left", async () => {
  const { url, got } = await model();
  const socket = join(tempDir("gateway"), "m.sock");
  const code = `require("net").createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 9))`;
  expect(() => execFileSync(process.execPath, ["-e", code])).toThrow("Command failed");
  expect(statSync(socket).isSocket()).toBe(true);
  const gateway = await gatewayTo(url, { listen: { socket } });
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  const path = `${new URL(gateway.url).pathname}/v1/models`;
  const request = httpRequest({ socketPath: socket, path });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.resume();
  expect([response.statusCode, got[0]?.url]).toEqual([201, "/v1/models"]);
  await gateway.close();
  expect(statSync(socket, { throwIfNoEntry: false })).toBeUndefined();
});

it("cuts what is under way when it is closed, and is gone", async () => {
  const { url } = await model((_, response) => void response.write("first"));
  const gateway = await gatewayTo(url);
  const answer = await ask(gateway);
  await gateway.close();
  await gateway.close();
  await expect(answer.text()).rejects.toThrow("terminated");
  await expect(ask(gateway)).rejects.toThrow("fetch failed");
});

it("goes through the user's proxy, except where it must not", async () => {
  const { url, got } = await model();
  const proxy = await model();
  const environment = { HTTP_PROXY: proxy.url };
  const answer = await ask(await gatewayTo("http://model.invalid/base", { environment }));
  expect([answer.status, proxy.got[0]?.url]).toEqual([201, "http://model.invalid/base/v1/messages"]);
  await ask(await gatewayTo(url, { environment: { ...environment, NO_PROXY: "127.0.0.1" } }));
  expect([proxy.got.length, got.length]).toEqual([1, 1]);
});

it("trusts a certificate that only the system's store knows", async ({ skip }) => {
  const dir = tempDir("certificate");
  const [key, cert] = [join(dir, "key.pem"), join(dir, "cert.pem")];
  const made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2"];
  try {
    const name = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
    execFileSync("openssl", [...made, ...name], { stdio: "ignore" });
  } catch {
    skip("no openssl here to make one");
  }
  const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (request, response) => {
    request.resume();
    response.end("over TLS");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const upstream = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stranger = await gatewayTo(upstream);
  await expect(ask(stranger)).rejects.toThrow("fetch failed");
  expect(stranger.failures).toEqual([expect.stringMatching(/self-signed/)]);
  // The store is read once per process, so another one must.
  const program = `
    import { openGateway } from ${JSON.stringify(join(import.meta.dirname, "gateway.ts"))};
    const gateway = await openGateway({ upstream: ${JSON.stringify(upstream)}, paths: ["/v1/"], listen: { port: 0 },
      headers: (sent) => sent, beforeForward: async () => {}, onFailure: console.error, environment: {} });
    const answer = await fetch(gateway.url + "/v1/models");
    console.log(await answer.text());
    await gateway.close();`;
  const printed = await new Promise<string>((resolve, reject) => {
    const env = { ...process.env, SSL_CERT_FILE: cert };
    execFile(process.execPath, ["--input-type=module", "-e", program], { env }, (error, stdout) =>
      error === null ? resolve(stdout) : reject(error),
    );
  });
  expect(printed).toBe("over TLS\n");
});
