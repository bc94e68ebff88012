import { spawn } from "node:child_process";
import fs, { mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { countOf, figure } from "../../test/support/figure.ts";
import { currentOwner } from "../platform/owner.ts";
import { lockWorkspace, withLock, workspaceHolder } from "./lock.ts";

const MODULES = {
  lock: new URL("lock.ts", import.meta.url).href,
  owner: new URL("../platform/owner.ts", import.meta.url).href,
};
const STARTERS = 8;
const ROUNDS = countOf("PAWL_TEST_RACES", 5);
const RACES_LIMIT_MS = 600_000;

/** Takes the lock at a signal and tells; what is left of it on exit is a dead owner's lock. */
const STARTER = `
import { lockWorkspace } from ${JSON.stringify(MODULES.lock)};
import { currentOwner } from ${JSON.stringify(MODULES.owner)};
const [path, stateDir, rounds] = process.argv.slice(1);
process.stdout.write("ready\\n");
process.stdin.on("data", () => {
  try { lockWorkspace({ path, stateDir, owner: currentOwner() }); process.stdout.write("won\\n"); }
  catch (error) { process.stdout.write(error.name + " " + error.message + "\\n"); }
});
process.stdin.on("end", () => process.exit(0));
`;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pawl-lock-")));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const take = () => lockWorkspace({ path: root, stateDir: root, owner: currentOwner() });
const dead = () => ({ ...currentOwner(), pid: 2 ** 22 + 1, startedAt: "0" });

async function starter(): Promise<{ go(): Promise<string>; end(): Promise<void> }> {
  const child = spawn(process.execPath, ["--input-type=module", "-e", STARTER, root, root], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const line = async () =>
    await new Promise<string>((resolve) =>
      child.stdout.once("data", (data: Buffer) => resolve(data.toString().trim())),
    );
  await line();
  return {
    go: async () => {
      const answer = line();
      child.stdin.write("go\n");
      return await answer;
    },
    end: async () => {
      const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
      child.kill("SIGKILL");
      await closed;
    },
  };
}

describe("the workspace's lock", () => {
  it("is refused to a second driver, naming the living one", () => {
    const lock = take();
    expect(take).toThrow(`pid ${process.pid}`);
    expect(workspaceHolder({ path: root, stateDir: root })?.pid).toBe(process.pid);
    lock.release();
    expect(workspaceHolder({ path: root, stateDir: root })).toBeUndefined();
    take().release();
    expect(readdirSync(join(root, "locks"))).toEqual([]);
  });

  it("is taken over from dead owners, however many, and leaves nothing behind (F8)", () => {
    for (let n = 0; n < 3; n += 1) lockWorkspace({ path: root, stateDir: root, owner: dead() });
    const lock = take();
    expect(take).toThrow("is working in");
    lock.release();
    expect(readdirSync(join(root, "locks"))).toEqual([]);
  });

  it("that a power loss tore is taken over", () => {
    const lock = take();
    const [name = ""] = readdirSync(join(root, "locks"));
    writeFileSync(join(root, "locks", name), "");
    const next = take();
    lock.release();
    expect(take).toThrow("is working in");
    next.release();
  });

  it("released twice or after a takeover does not free another's", () => {
    const old = lockWorkspace({ path: root, stateDir: root, owner: dead() });
    const lock = take();
    old.release();
    expect(take).toThrow("is working in");
    lock.release();
    lock.release();
  });

  it(
    `goes to exactly one of ${STARTERS} starters, also when the last owner was killed (F8)`,
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const starters = await Promise.all(Array.from({ length: STARTERS }, starter));
        const answers = await Promise.all(starters.map(async ({ go }) => await go()));
        expect(answers.filter((answer) => answer === "won")).toHaveLength(1);
        expect(answers.filter((answer) => answer.startsWith("UsageError another pawl (pid "))).toHaveLength(
          STARTERS - 1,
        );
        await Promise.all(starters.map(async ({ end }) => await end()));
      }
      take().release();
      figure("F8", { races: ROUNDS, starters: STARTERS });
    },
    RACES_LIMIT_MS,
  );

  it("serialises short work of many", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    await Promise.all(Array.from({ length: 10 }, async () => await withLock(join(root, "short"), work)));
    expect(most).toBe(1);
  });
});

it("says where pawl's state cannot be: on a file system without hard links; and leaves nothing there", () => {
  const whole = fs.linkSync;
  fs.linkSync = () => {
    throw Object.assign(new Error("EPERM: operation not permitted, link"), { code: "EPERM" });
  };
  syncBuiltinESMExports();
  try {
    expect(take).toThrow(expect.objectContaining({ name: "UsageError", hint: expect.stringContaining("PAWL_HOME") }));
  } finally {
    fs.linkSync = whole;
    syncBuiltinESMExports();
  }
  expect(readdirSync(join(root, "locks"))).toEqual([]);
});
