/**
 * Generated code that reads secrets, the network or the journal, forks, fills memory or disk, or never ends: contained,
 * whoever runs pawl, and what the model is told names the reason.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, constants, copyFileSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { taggedProcesses } from "../support/processes.ts";
import { CODE_ATTACKS } from "../support/red-team/code-attacks.ts";
import { tempDir } from "../support/temp.ts";

const ROOT = join(import.meta.dirname, "../..");
const PROGRAM = "test/support/red-team/code-session.ts";
/** Nobody's. */
const USER = 4_322;
const SESSION_LIMIT_MS = 120_000;
const isRoot = process.getuid?.() === 0;

interface Session {
  uid: number;
  run: string;
  results: { name: string; wrongs: string[] }[];
}

function attack(as: "root" | "user"): Session {
  const folder = tempDir("code-red-team");
  chmodSync(folder, 0o755);
  const scene = join(folder, "scene");
  mkdirSync(scene);
  const isOther = as === "user" && isRoot;
  const node = isOther ? join(folder, "node") : process.execPath;
  if (isOther) {
    // The checkout may be closed to others.
    for (const path of ["src", "test/support", "package.json"])
      cpSync(join(ROOT, path), join(folder, path), { recursive: true });
    copyFileSync(process.execPath, node, constants.COPYFILE_FICLONE);
    chmodSync(node, 0o755);
    chownSync(scene, USER, USER);
  }
  const drop = isOther ? ["setpriv", "--reuid", String(USER), "--regid", String(USER), "--clear-groups"] : [];
  const [command, ...words] = [...drop, node, "--no-warnings", join(isOther ? folder : ROOT, PROGRAM), scene];
  const { stdout, stderr } = spawnSync(command, words, {
    cwd: "/",
    env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", HOME: scene },
    encoding: "utf8",
    timeout: SESSION_LIMIT_MS,
  });
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout) as Session;
}

describe("generated code", () => {
  it.skipIf(!isRoot)("is contained, run by root", { timeout: SESSION_LIMIT_MS }, () => {
    const { uid, run, results } = attack("root");
    expect(uid).toBe(0);
    expect(results.length).toBe(CODE_ATTACKS.length);
    expect(results.filter(({ wrongs }) => wrongs.length > 0)).toEqual([]);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("is contained, run by an ordinary user", { timeout: SESSION_LIMIT_MS }, () => {
    const { uid, run, results } = attack("user");
    expect(uid).not.toBe(0);
    expect(results.length).toBe(CODE_ATTACKS.length);
    expect(results.filter(({ wrongs }) => wrongs.length > 0)).toEqual([]);
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });
});
