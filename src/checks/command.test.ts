import { randomUUID } from "node:crypto";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkContract } from "../../test/contracts/check.ts";
import { noAbout } from "../../test/support/about.ts";
import { memoryBlobs } from "../../test/support/blobs.ts";
import { countOf, figure } from "../../test/support/figure.ts";
import { watchHeld } from "../../test/support/held-memory.ts";
import { taggedProcesses } from "../../test/support/processes.ts";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import type { Verdict } from "../events.ts";
import type { Blobs, VerifyTree } from "../ports.ts";
import { commandCheck } from "./command.ts";

const LINE_MB = countOf("PAWL_TEST_LINE_MB", 16);
const LINES_MB = countOf("PAWL_TEST_STREAM_MB", 40);
const LOOK_EVERY_BYTES = 4 * 2 ** 20;
const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const PATH = process.env["PATH"] ?? "/usr/bin:/bin";

function verifyTree(files: Record<string, string> = {}): VerifyTree {
  const path = tempDir("verify");
  writeFiles(path, files);
  for (const name of Object.keys(files)) if (name.endsWith(".sh")) chmodSync(join(path, name), 0o755);
  return { path, tree: TREE, isolation: "copy", release: async () => {} };
}

interface Case {
  tree?: VerifyTree;
  timeoutMs?: number;
  signal?: AbortSignal;
  environment?: Record<string, string>;
  blobs?: Blobs;
  run?: string;
}

function judge(command: string, given: Case = {}): Promise<Verdict> {
  const { tree = verifyTree(), timeoutMs = 120_000, environment = { PATH }, blobs = memoryBlobs() } = given;
  const spec = { name: "test", kind: "command", command, required: true, timeoutMs } as const;
  const check = commandCheck(spec, { run: given.run ?? "r-check", environment, blobs });
  return check.judge(tree, given.signal ?? new AbortController().signal, noAbout);
}

checkContract("a command", (situation) => {
  const command = {
    green: "test -f green.txt && echo fine",
    red: "echo 'not ok 1 - adds numbers'; echo \"took 0.$$ s in $PWD\"; exit 1",
    hanging: "sleep 60",
    impossible: "no-such-program-anywhere --test",
  }[situation];
  const run = `r-${randomUUID()}`;
  const spec = { name: "test", kind: "command", command, required: true, timeoutMs: 120_000 } as const;
  return {
    check: commandCheck(spec, { run, environment: { PATH }, blobs: memoryBlobs() }),
    tree: verifyTree({ "green.txt": "" }),
    run,
  };
});

describe("a command's end", () => {
  it("is a fail on every exit code that the command itself chose", async () => {
    for (const code of [1, 2, 3, 100, 128, 255]) {
      expect(await judge(`exit ${code}`)).toMatchObject({ is: "fail", evidence: { exitCode: code } });
    }
  });

  it("is unverifiable after the timeout, says where it hung, and nothing of its tree is left", async () => {
    const run = `r-${randomUUID()}`;
    const command = "echo step 1; (trap '' TERM; sleep 60) & setsid sh -c 'sleep 60 & sleep 60' & sleep 60";
    const verdict = await judge(command, { timeoutMs: 5_000, run });
    expect(verdict).toEqual({ is: "unverifiable", reason: "no answer within 5000 ms, last output: step 1" });
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("is unverifiable when it is killed from outside, and a fail when it crashes by itself", async () => {
    expect(await judge("kill -9 $$")).toMatchObject({ is: "unverifiable", reason: "ended from outside by SIGKILL" });
    expect(await judge("kill -SEGV $$")).toMatchObject({ is: "fail", evidence: { signal: "SIGSEGV" } });
  });

  it("is unverifiable when the machine lacks the program, in a compound command too", async () => {
    for (const command of ["no-such-program-x", "cd . && no-such-program-x --all", "true; no-such-program-x"]) {
      expect(await judge(command)).toEqual({
        is: "unverifiable",
        reason: "command not found: no-such-program-x",
      });
    }
  });

  it("is a fail when a file of the tree is missing or a program inside does not find another", async () => {
    expect(await judge("./test.sh")).toMatchObject({ is: "fail", evidence: { exitCode: 127 } });
    const tree = verifyTree({ "run.sh": "#!/bin/sh\nno-such-program-x\n", "data.txt": "not a program" });
    expect(await judge("./run.sh", { tree })).toMatchObject({ is: "fail", evidence: { exitCode: 127 } });
    expect(await judge("./data.txt", { tree })).toMatchObject({ is: "fail", evidence: { exitCode: 126 } });
  });

  it("is a pass when it leaves a child behind, which is ended (row 22)", async () => {
    const run = `r-${randomUUID()}`;
    const verdict = await judge("(trap '' HUP; sleep 60) & setsid sleep 60 & echo started", { run });
    expect(verdict.is).toBe("pass");
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });

  it("is unverifiable when the tree is not there or the log cannot be kept", async () => {
    const gone: VerifyTree = { ...verifyTree(), path: "/no/such/folder" };
    expect(await judge("true", { tree: gone })).toMatchObject({
      is: "unverifiable",
      reason: expect.stringContaining("no such folder"),
    });
    const full = (): never => {
      throw new Error("ENOSPC: no space left on device");
    };
    const blobs: Blobs = { ...memoryBlobs(), writer: () => ({ write: full, end: full }) };
    const run = `r-${randomUUID()}`;
    expect(await judge("echo a; sleep 60", { blobs, run })).toMatchObject({
      is: "unverifiable",
      reason: expect.stringContaining("ENOSPC"),
    });
    expect(taggedProcesses("PAWL_RUN", run)).toEqual([]);
  });
});

describe("a command's surroundings", () => {
  it("are the tree, the given environment and nothing else", async () => {
    process.env["PAWL_TEST_CANARY"] = "secret";
    const blobs = memoryBlobs();
    const tree = verifyTree();
    const verdict = await judge("pwd; env", { tree, blobs, environment: { PATH, GIVEN: "a b" }, run: "r-env" });
    delete process.env["PAWL_TEST_CANARY"];
    if (verdict.is !== "pass" || verdict.evidence.log === null) throw new Error(JSON.stringify(verdict));
    const lines = Buffer.from((await blobs.get(verdict.evidence.log)) ?? [])
      .toString()
      .trim()
      .split("\n");
    expect(lines[0]).toBe(tree.path);
    const names = lines
      .slice(1)
      .map((line) => line.split("=")[0] ?? "")
      .toSorted();
    expect(names.filter((name) => !["PWD", "OLDPWD", "_", "SHLVL"].includes(name))).toEqual([
      "GIVEN",
      "PATH",
      "PAWL_PROC",
      "PAWL_RUN",
    ]);
    expect(lines).toContain("GIVEN=a b");
    expect(lines).toContain("PAWL_RUN=r-env");
  });

  it("give no way in for hostile names in the tree's path or the environment (A19)", async () => {
    const names = ["$(touch pwned)", "`touch pwned`", "; touch pwned", "-rf", "a\nb", "'\"", "../x", "%s%n", "* ?"];
    for (const name of names) {
      const root = verifyTree();
      const path = join(root.path, name.replaceAll("/", "_"));
      writeFiles(path, { "here.txt": "" });
      const blobs = memoryBlobs();
      const environment = { PATH, NAME: name };
      const verdict = await judge('test -f here.txt && printf %s "$NAME"', {
        tree: { ...root, path },
        environment,
        blobs,
      });
      if (verdict.is !== "pass" || verdict.evidence.log === null) throw new Error(JSON.stringify(verdict));
      expect(Buffer.from((await blobs.get(verdict.evidence.log)) ?? []).toString()).toBe(name);
      expect([join(path, "pwned"), join(root.path, "pwned")].filter((file) => existsSync(file))).toEqual([]);
    }
  });
});

describe("a command's output", () => {
  it("keeps the order of both streams in one log", async () => {
    const blobs = memoryBlobs();
    const verdict = await judge("for i in 1 2 3 4; do echo out $i; echo err $i >&2; done", { blobs });
    if (verdict.is !== "pass" || verdict.evidence.log === null) throw new Error(JSON.stringify(verdict));
    const log = Buffer.from((await blobs.get(verdict.evidence.log)) ?? []).toString();
    expect(log).toBe([1, 2, 3, 4].map((i) => `out ${i}\nerr ${i}\n`).join(""));
  });

  it("writes no log when there is none", async () => {
    expect(await judge("true")).toMatchObject({ is: "pass", evidence: { log: null, logBytes: 0 } });
  });

  it("is shown as plain text, bounded, from its end", async () => {
    const script =
      "for (let i = 0; i < 5000; i++) console.log(`\\u001b[31mline ${i}\\u001b[0m\\u0000é`); process.exitCode = 1";
    const tree = verifyTree({ "noise.mjs": script });
    const verdict = await judge(`"${process.execPath}" noise.mjs`, { tree });
    if (verdict.is !== "fail") throw new Error(JSON.stringify(verdict));
    expect(Buffer.byteLength(verdict.excerpt)).toBeLessThanOrEqual(4096);
    expect(verdict.excerpt.endsWith("line 4999é")).toBe(true);
    expect(verdict.excerpt).toMatch(/^line \d+é\nline/);
    expect(verdict.excerpt.includes("\u001b") || verdict.excerpt.includes("\u0000")).toBe(false);
  });

  it(`of ${LINE_MB + 8 + LINES_MB} MB, with one line of ${LINE_MB} MB, NULs and split characters, needs no memory (F13)`, async () => {
    const script = `
      import { writeSync } from "node:fs";
      const put = (bytes) => { for (let at = 0; at < bytes.length;) try { at += writeSync(1, bytes, at); } catch {} };
      for (let i = 0; i < ${LINE_MB}; i++) put(Buffer.alloc(1 << 20, "x"));
      put(Buffer.alloc(8 << 20, 0));
      for (const byte of Buffer.from("\\n€uro\\n")) put(Buffer.from([byte]));
      for (let i = 0; i < ${LINES_MB}; i++) put(Buffer.alloc(1 << 20, "some line of output\\n"));
      put(Buffer.from([0xff, 0xfe, 0x0a]));
      put(Buffer.from("not ok 7 - the last word\\n"));
      process.exit(1);`;
    const tree = verifyTree({ "flood.mjs": script });
    let dropped = 0;
    const held = watchHeld(LOOK_EVERY_BYTES);
    const blobs: Blobs = {
      ...memoryBlobs(),
      writer: () => ({
        write: (chunk) => {
          dropped += chunk.length;
          held.saw(chunk.length);
        },
        end: async () => ({ hash: "0".repeat(64), bytes: 0, dropped }),
      }),
    };
    const before = process.memoryUsage().rss;
    const verdict = await judge(`"${process.execPath}" flood.mjs`, { tree, blobs, timeoutMs: 240_000 });
    const grownMb = (process.memoryUsage().rss - before) / 2 ** 20;
    if (verdict.is !== "fail") throw new Error(JSON.stringify(verdict));
    expect(verdict.failures.map((failure) => failure.fingerprint)).toEqual(["test:the last word"]);
    figure("F13, a check's output", { lineMb: LINE_MB, totalMb: LINE_MB + 8 + LINES_MB, grownMb: Math.round(grownMb) });
    expect(dropped).toBeGreaterThan((LINE_MB + 8 + LINES_MB) * 2 ** 20);
    expect(held.mostMb()).toBeLessThan(16);
    expect(grownMb).toBeLessThan(64);
  }, 300_000);
});
