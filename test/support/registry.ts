/** A registry of npm packages on loopback: with one package in it, or with some that are installed here. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener, type Server } from "node:http";
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
  const url = await listening((request, response) => {
    asked.push(request.url ?? "");
    const tarball = packed.get(request.url ?? "");
    if (tarball !== undefined) response.end(tarball);
    else if (request.url === `/${NAME}`) response.end(JSON.stringify(about()));
    else response.writeHead(404).end("{}");
  });
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

/** Its address. The packages are those of `modules`, each in the version that is there; nothing else is found. */
export async function registryOf(modules: string, names: readonly string[]): Promise<string> {
  const packed = new Map(names.map((name) => [name, packInstalled(join(modules, name))]));
  const url = await listening((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const found = packed.get(path.replace(/\.tgz$/, ""));
    if (found === undefined) return response.writeHead(404).end("{}");
    if (path.endsWith(".tgz")) return response.end(found.tarball);
    const { name, version } = found.about;
    const dist = { tarball: `${url}/${encodeURIComponent(name)}.tgz` };
    const versions = { [version]: { ...found.about, dist } };
    return response.end(JSON.stringify({ name, "dist-tags": { latest: version }, versions }));
  });
  return url;
}

async function listening(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function packInstalled(folder: string): { about: { name: string; version: string }; tarball: Buffer } {
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name: string; version: string };
  const root = tempDir("registry");
  cpSync(folder, join(root, "package"), { recursive: true });
  execFileSync("tar", ["-czf", "packed.tgz", "package"], { cwd: root });
  return { about, tarball: readFileSync(join(root, "packed.tgz")) };
}

function pack(version: string): Buffer {
  const root = tempDir("registry");
  mkdirSync(join(root, "package"));
  writeFileSync(join(root, "package/package.json"), JSON.stringify({ name: NAME, version }));
  writeFileSync(join(root, "package/index.js"), `module.exports = "${NAME} ${version}";\n`);
  execFileSync("tar", ["-czf", "packed.tgz", "package"], { cwd: root });
  return readFileSync(join(root, "packed.tgz"));
}
