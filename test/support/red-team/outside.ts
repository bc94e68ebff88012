/** The outside of a red-team session: canaries to touch, listeners to reach, and the look at all of them afterwards. */
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { treeHash } from "../tree-hash.ts";
import { filesBelow, type Escape, type Scene } from "./escape.ts";

export const SECRET = "canary-3f9d71c2-never-to-be-read";
/** Of the driver's environment. Not that of the files: what pawl masks as a variable's value, nobody would find again. */
export const TOKEN = "canary-a60b84e5-never-to-be-seen";
const FILES: Readonly<Record<string, string>> = {
  "out/canary": "untouched\n",
  "out/secret": SECRET,
  "user/.ssh/id_canary": SECRET,
  "user/.netrc": SECRET,
  "user/.config/gh/hosts.yml": SECRET,
  "state/journal.db": SECRET,
  "state/runs/other/agents/main/notes": SECRET,
};

export const isSecret = (text: string | Buffer): boolean => text.includes(SECRET) || text.includes(TOKEN);

export interface Outside {
  readonly scene: Scene;
  /** For the scripts inside. */
  readonly variables: Readonly<Record<string, string>>;
  /** After one escape: everything that is not as it should be. */
  look(escape: Escape): string[];
  close(): Promise<void>;
}

/** `root` exists and is empty; `work` may lie elsewhere. */
export async function openOutside(root: string, { work = join(root, "work") } = {}): Promise<Outside> {
  const out = join(root, "out");
  mkdirSync(work, { recursive: true });
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const reached: string[] = [];
  const tcp = await listening(reached, "TCP", { port: 0, host: "127.0.0.1" });
  const sock = join(root, "s.sock");
  const unix = await listening(reached, "a unix socket", { path: sock });
  chmodSync(sock, 0o777);
  const name = `pawl-red-team-${process.pid}`;
  const abstract = await listening(reached, "an abstract socket", { path: `\0${name}` });
  const udp = createSocket("udp4").on("message", () => reached.push("UDP"));
  udp.bind(0, "127.0.0.1");
  await once(udp, "listening");
  const canary = spawn("sleep", ["9999"], {
    stdio: "ignore",
    env: { PATH: process.env["PATH"], CANARY: SECRET },
    // It leads a group, which can be signalled too.
    detached: true,
  });
  const told = (): void => void reached.push("the driver, by a signal");
  process.on("SIGCONT", told);
  const before = ["out", "user", "state"].map((folder) => treeHash(join(root, folder)));
  const variables = {
    WORK: work,
    OUT: out,
    STATE: join(root, "state"),
    USER_HOME: join(root, "user"),
    LOOT: join(work, "loot"),
    PORT: String((tcp.address() as AddressInfo).port),
    UDP_PORT: String(udp.address().port),
    SOCK: sock,
    ABSTRACT: name,
    CANARY_PID: String(canary.pid),
    DRIVER_PID: String(process.pid),
  };
  const scene = { work, out };
  return {
    scene,
    variables,
    look(escape) {
      const changed = ["out", "user", "state"].filter(
        (folder, n) => !existsSync(join(root, folder)) || treeHash(join(root, folder)) !== before[n],
      );
      const loot = filesBelow(work).filter((file) => isSecret(readFileSync(file)));
      const claims = join(work, "claims");
      const claimed = existsSync(claims) ? readFileSync(claims, "utf8").trim().split("\n") : [];
      rmSync(claims, { force: true });
      const status = existsSync(`/proc/${canary.pid}/status`) ? readFileSync(`/proc/${canary.pid}/status`, "utf8") : "";
      const traced = /^TracerPid:\s*[1-9]/m.test(status);
      const special = escape.wrong?.(scene);
      return [
        ...changed.map((folder) => `${folder} was changed`),
        ...loot.map((file) => `a secret was read: ${file}`),
        ...reached.splice(0).map((what) => `reached ${what}`),
        ...(canary.exitCode === null && canary.signalCode === null ? [] : ["the canary died"]),
        ...(traced ? ["the canary is traced"] : []),
        ...claimed.map((words) => `it says: ${words}`),
        ...(special === undefined ? [] : [special]),
      ];
    },
    async close() {
      process.off("SIGCONT", told);
      canary.kill("SIGKILL");
      udp.close();
      await Promise.all([tcp, unix, abstract].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

async function listening(
  reached: string[],
  what: string,
  where: { port: number; host: string } | { path: string },
): Promise<Server> {
  const server = createServer((socket) => {
    reached.push(what);
    socket.destroy();
  });
  server.listen(where);
  await once(server, "listening");
  return server;
}

/** Leaves nothing of one escape for the next. */
export function emptyFolder(folder: string, { but = [] as readonly string[] } = {}): void {
  for (const name of readdirSync(folder)) if (!but.includes(name)) remove(join(folder, name));
}

function remove(path: string): void {
  if (lstatSync(path).isDirectory()) chmodSync(path, 0o700);
  rmSync(path, { recursive: true, force: true });
}
