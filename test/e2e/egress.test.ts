/** The way out of a fence, through the built command line with the real Claude Code inside. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, readFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { createServer } from "node:https";
import { connect, type AddressInfo, type Server, type Socket } from "node:net";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { REGISTRIES } from "../../src/platform/egress-rules.ts";
import type { Step } from "../../src/standin/script.ts";
import { byIteration, CLAIM, cliPlace, type CliPlace } from "../support/cli.ts";
import { tempDir } from "../support/temp.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const LIMIT_MS = 300_000;
/** One of the preset's; only its name is used, nothing goes there. */
const REGISTRY = REGISTRIES[0] ?? "";
const bash = (command: string): Step => ({ tools: [{ name: "Bash", input: { command } }] });
const once1 = (...steps: Step[]) => byIteration({ 1: [...steps, { text: CLAIM }] });
const RUN = ["run", "look around", "--fence", "bwrap", "--max-iterations", "1"];

async function listening(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A certificate of the registry's name, signed by itself. */
function certificate(): { folder: string; cert: string; key: string } {
  const folder = tempDir("certificate");
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const name = REGISTRY;
  const about = ["-nodes", "-days", "2", "-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
  const made = ["req", "-x509", "-newkey", "rsa:2048", ...about, "-keyout", key, "-out", cert];
  execFileSync("openssl", made, { stdio: "ignore" });
  chmodSync(cert, 0o644);
  return { folder, cert, key };
}

it("npm asks a registry by name, through the way out and the user's own proxy", { timeout: LIMIT_MS }, async () => {
  const { cert, key } = certificate();
  const asked: string[] = [];
  const registry = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    asked.push(request.url ?? "");
    const version = { name: "tiny", version: "3.2.1", dist: { tarball: `https://${REGISTRY}/tiny.tgz` } };
    response.end(JSON.stringify({ name: "tiny", "dist-tags": { latest: "3.2.1" }, versions: { "3.2.1": version } }));
  });
  const port = await listening(registry);
  const tunnels: string[] = [];
  const proxy = createHttpServer();
  // Whatever name is asked for, only this test's registry is ever reached.
  proxy.on("connect", (request: IncomingMessage, client: Socket) => {
    tunnels.push(request.url ?? "");
    const way = connect(port, "127.0.0.1", () => client.write("HTTP/1.1 200 OK\r\n\r\n"));
    way.pipe(client).pipe(way);
    for (const one of [client, way]) one.on("error", () => undefined);
  });
  const env = {
    HTTPS_PROXY: `http://127.0.0.1:${await listening(proxy)}`,
    NODE_EXTRA_CA_CERTS: cert,
    NO_PROXY: "127.0.0.1",
  };
  const view = `npm view tiny version --registry=https://${REGISTRY}`;
  const place = await cliPlace({
    script: once1(bash(`echo x > made; ${view}; curl -sS https://elsewhere.invalid 2>&1`)),
    env,
  });
  const result = await place.pawl(...RUN, "--network", "registries", "--check", `version=test "$(${view})" = 3.2.1`);
  expect(result.stdout, result.stderr).toContain("verified");
  const words = place.sent().at(-1) ?? "";
  expect(words).toContain("3.2.1");
  expect(words).toContain("403");
  expect(tunnels).toContain(`${REGISTRY}:443`);
  expect(tunnels.join()).not.toContain("elsewhere");
  expect(asked.length).toBeGreaterThanOrEqual(2);
  const { stdout } = await place.pawl("logs");
  expect(stdout).toContain(`network: ${REGISTRY}:443 let through`);
  expect(stdout).toContain("network: elsewhere.invalid:443 refused: not on the list");
  expect((await place.pawl("logs", "--json")).stdout).toContain('"kind":"network"');
});

it("with the network off the agent is told why, and a check has no way out", { timeout: LIMIT_MS }, async () => {
  const served: string[] = [];
  const port = await listening(
    createHttpServer((request, response) => {
      served.push(request.url ?? "");
      response.end("reached");
    }),
  );
  const url = `http://127.0.0.1:${port}/`;
  const script = once1(
    bash(`echo x > made; curl -sS http://nowhere.invalid/; curl -sS ${url}; curl -sS --noproxy '' ${url}; true`),
  );
  const place = await cliPlace({
    script,
    env: { HTTP_PROXY: "http://me:canary-password@127.0.0.1:9", NO_PROXY: "127.0.0.1" },
  });
  // Without curl nothing would be tried.
  const unreached = `command -v curl && ! curl -sS ${url} && ! curl -sS --noproxy '' ${url} | grep reached && ! env | grep me:canary`;
  const result = await place.pawl(...RUN, "--check", `none=${unreached}`);
  expect(result.stdout, result.stderr).toContain("verified");
  expect(place.sent().at(-1)).toContain("A person can allow it: --allow-host nowhere.invalid:80");
  expect(place.sent().at(-1)).toContain(`--allow-host 127.0.0.1:${port}`);
  expect(served).toEqual([]);
});

it("refuses what is no host", async () => {
  const place = await cliPlace({ script: once1() });
  const result = await place.pawl(...RUN, "--allow-host", "https://example.com/x");
  expect(result.code).toBe(2);
  expect(result.stderr).toContain('not a host: "https://example.com/x"');
});

/** The command line in a mount namespace of its own, where socat is no program. */
async function withoutSocat(
  { env, repository }: CliPlace,
  ...args: string[]
): Promise<{ code: number | null; said: string }> {
  const script = 'mount --bind /dev/null "$(command -v socat)" && exec "$@"';
  const cli = [join(ROOT, "node_modules/.bin/node"), join(ROOT, "dist/views/cli/main.js"), ...args];
  const child = spawn("unshare", ["-m", "sh", "-c", script, "sh", ...cli], { cwd: repository.path, env: { ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, said };
}

it.skipIf(process.getuid?.() !== 0)(
  "without socat a host cannot be let through, and all else works",
  { timeout: LIMIT_MS },
  async () => {
    const place = await cliPlace({ script: once1(bash("echo x > made")) });
    const refused = await withoutSocat(place, ...RUN, "--allow-host", "example.com");
    expect(refused.code).toBe(2);
    expect(refused.said).toContain("example.com cannot be let through the fence: socat is missing");
    expect(refused.said).toContain("apt install socat");
    const fine = await withoutSocat(place, ...RUN, "--check", "made=test -s made");
    expect(fine.said).toContain("verified");
    expect(fine.code).toBe(0);
  },
);
