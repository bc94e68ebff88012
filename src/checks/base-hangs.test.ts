/** A base that does not end within the limit is red for that reason; a change that makes it end is judged as any other. */
import { expect, it } from "vitest";
import { noAbout } from "../../test/support/about.ts";
import { memoryBlobs } from "../../test/support/blobs.ts";
import { tempDir, writeFiles } from "../../test/support/temp.ts";
import type { Verdict } from "../events.ts";
import type { JudgeAbout } from "../ports.ts";
import { commandCheck } from "./command.ts";

const TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
const PATH = process.env["PATH"] ?? "/usr/bin:/bin";
const NODE = `"${process.execPath}"`;
const HANGS = "sleep 600";
/** What hangs is waited for so long: a shell, and a runner that has to begin before. */
const [SHELL_MS, RUNNER_MS] = [1_000, 8_000];
/** Of what ends, against a hang alone. */
const LIMIT_MS = 240_000;

function judging() {
  const [blobs, folder] = [memoryBlobs(), tempDir("reports")];
  return async (
    command: string,
    about: Partial<JudgeAbout> = {},
    { files = {}, timeoutMs = LIMIT_MS }: { files?: Record<string, string>; timeoutMs?: number } = {},
  ): Promise<Verdict> => {
    const path = tempDir("verify");
    writeFiles(path, files);
    const spec = { name: "test", kind: "command", command, required: true, timeoutMs } as const;
    const check = commandCheck(spec, { run: "r", environment: { PATH }, blobs, reports: { folder, at: folder } });
    const tree = { path, tree: TREE, isolation: "copy", release: async () => {} };
    return await check.judge(tree, new AbortController().signal, { ...noAbout, ...about });
  };
}
const names = (verdict: Verdict) =>
  "failures" in verdict ? verdict.failures.map((one) => one.fingerprint) : verdict.is;

it("is red with where it hung, and what ends then is judged by itself", async () => {
  const judge = judging();
  const baseline = await judge(`echo waiting for the answer; ${HANGS}`, { isBase: true }, { timeoutMs: SHELL_MS });
  expect(baseline).toMatchObject({
    is: "fail",
    failures: [{ fingerprint: "timeout", message: "it did not end within 1 s, last output: waiting for the answer" }],
    evidence: { exitCode: null },
  });
  expect(await judge("true", { baseline })).toMatchObject({ is: "pass", evidence: { suspicions: [] } });
  expect(names(await judge("echo 'not ok 1 - a'; echo 1..1; exit 1", { baseline }))).toEqual(["test:a"]);
  expect(names(await judge(HANGS, { baseline }, { timeoutMs: SHELL_MS }))).toEqual(["timeout"]);
});

it("is no verdict on any other tree: a machine may be slow", async () => {
  const judge = judging();
  const passes = await judge("true", { isBase: true });
  for (const baseline of [undefined, passes])
    expect(await judge(HANGS, { baseline }, { timeoutMs: SHELL_MS })).toMatchObject({ is: "unverifiable" });
});

it("tells the tests that were reported before it hung, and these must still be there", async () => {
  const judge = judging();
  const tap = (...points: string[]) => points.map((one, n) => `echo 'ok ${n + 1} - ${one}'`).join("; ");
  const baseline = await judge(`${tap("a", "b")}; echo 1..2; ${HANGS}`, { isBase: true }, { timeoutMs: SHELL_MS });
  expect(baseline).toMatchObject({ is: "fail", evidence: { tests: { passed: 2 } } });
  expect((await judge(`${tap("a", "b")}; echo 1..2`, { baseline })).is).toBe("pass");
  expect(names(await judge(`${tap("a")}; echo 1..1`, { baseline }))).toEqual(["tests-missing:b"]);
});

it("wants the report of a runner that had begun when it hung", async () => {
  const judge = judging();
  const files = (product: string) => ({
    "product.cjs": product,
    "a.test.cjs":
      'const { add } = require("./product.cjs"); require("node:test").test("adds", () => { if (add(1, 2) !== 3) throw 1; });',
  });
  const command = `${NODE} --test`;
  const baseline = await judge(command, { isBase: true }, { files: files("for (;;) {}"), timeoutMs: RUNNER_MS });
  // Some runners still write what they have when they are ended.
  expect(names(baseline)[0]).toBe("timeout");
  const now = (product: string) => judge(command, { baseline }, { files: files(product) });
  expect((await now("exports.add = (a, b) => a + b;")).is).toBe("pass");
  expect(names(await now("exports.add = (a, b) => a - b;"))).toEqual(["test:a.test.cjs > adds"]);
  expect(names(await now("process.exit(0);"))[0]).toMatch(/^tests-missing:/);
});
