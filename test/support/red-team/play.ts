/** A session of the red team in a process of its own: as root, or as a user who is nobody, with copies of what it needs. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, constants, copyFileSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "../temp.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
export const SESSION_LIMIT_MS = 400_000;
export const isRoot = process.getuid?.() === 0;

interface Played {
  as: "root" | "user";
  /** Nobody's. */
  user: number;
  /** In the checkout; gets the path of the scene, and prints one JSON text. */
  program: string;
  /** Of the checkout, what it needs: that may be closed to others. */
  needs: readonly string[];
  /** Made in the scene. */
  folders?: readonly string[];
  /** Around it, in the words of bash; `$0` is the scene, `"$@"` the program. */
  shell?: string;
}

export interface Session {
  uid: number;
  /** Of its fence. */
  level: string;
  /** How many sandboxes of the attempts were made in which way. */
  ways?: { ahead: number; copied: number; bwrap: number };
  /** By which what it left running is known. */
  run?: string;
  results: { name: string; wrongs: string[] }[];
  /** What was tried without a fence first: wrong is what got nowhere. */
  controls?: { name: string; wrongs: string[] }[];
}

export function playSession({ as, user, program, needs, folders = [], shell = 'exec "$@"' }: Played): Session {
  const folder = tempDir("red-team");
  chmodSync(folder, 0o755);
  const scene = join(folder, "scene");
  const made = [scene, ...folders.map((name) => join(scene, name))];
  for (const path of made) mkdirSync(path);
  const isOther = as === "user" && isRoot;
  if (isOther) {
    for (const path of needs) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    copyFileSync(process.execPath, join(folder, "node"), constants.COPYFILE_FICLONE);
    chmodSync(join(folder, "node"), 0o755);
    for (const path of made) chownSync(path, user, user);
  }
  const drop = isOther ? ["setpriv", "--reuid", String(user), "--regid", String(user), "--clear-groups"] : [];
  const node = isOther ? join(folder, "node") : process.execPath;
  const words = [...drop, node, "--no-warnings", join(isOther ? folder : ROOT, program), scene];
  const { stdout, stderr } = spawnSync("bash", ["-c", shell, scene, ...words], {
    cwd: "/",
    env: { PATH, HOME: scene },
    encoding: "utf8",
    timeout: SESSION_LIMIT_MS,
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Session;
}
