/** A registry of npm packages on loopback, with one package in it. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";
import { tempDir } from "./temp.ts";

const NAME = "tiny";
const servers: Server[] = [];
atFileEnd(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

interface Registry {
  url: string;
  /** As a lockfile has them, by version. */
  locked: Record<string, { version: string; resolved: string; integrity: string }>;
  asked: string[];
}

/** The package exports its name and version; every version is there. */
export async function registry(...versions: string[]): Promise<Registry> {
  const asked: string[] = [];
  const packed = new Map(versions.map((version) => [`/${NAME}/-/${NAME}-${version}.tgz`, pack(version)]));
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    const tarball = packed.get(request.url ?? "");
    if (tarball !== undefined) response.end(tarball);
    else if (request.url === `/${NAME}`) response.end(JSON.stringify(about()));
    else response.writeHead(404).end("{}");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const entries = [...packed].map(([path, tarball], at) => {
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    return { version: versions[at] ?? "", resolved: `${url}${path}`, integrity };
  });
  const about = (): object => ({
    name: NAME,
    "dist-tags": { latest: versions.at(-1) },
    versions: Object.fromEntries(
      entries.map(({ version, resolved: tarball, integrity }) => [
        version,
        { name: NAME, version, dist: { tarball, integrity } },
      ]),
    ),
  });
  return { url, locked: Object.fromEntries(entries.map((entry) => [entry.version, entry])), asked };
}

function pack(version: string): Buffer {
  const root = tempDir("registry");
  mkdirSync(join(root, "package"));
  writeFileSync(join(root, "package/package.json"), JSON.stringify({ name: NAME, version }));
  writeFileSync(join(root, "package/index.js"), `module.exports = "${NAME} ${version}";\n`);
  execFileSync("tar", ["-czf", "packed.tgz", "package"], { cwd: root });
  return readFileSync(join(root, "packed.tgz"));
}
