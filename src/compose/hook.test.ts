/** Hooks as processes: what they are given, what is kept of them, how they are ended. */
import { randomUUID } from "node:crypto";
import { expect, it } from "vitest";
import { taggedProcesses } from "../../test/support/processes.ts";
import { tempDir, waitFor } from "../../test/support/temp.ts";
import type { HookSpec } from "../spec.ts";
import { hookRunner } from "./hook.ts";

const spec = (command: string, over: Partial<HookSpec> = {}): HookSpec => ({
  name: "tell",
  on: ["iteration-end"],
  command,
  policy: "warn",
  toPrompt: false,
  timeoutMs: 120_000,
  ...over,
});
const run = (hook: HookSpec, { input = "{}\n", signal = new AbortController().signal } = {}) =>
  hookRunner({
    cwd: tempDir("hook"),
    environment: { PATH: process.env["PATH"] ?? "" },
    redact: (text) => text.replaceAll("s3cret", "[masked]"),
  })(hook, input, signal);

it("gives the fact on standard input, in the workspace, with the hook's name", async () => {
  const result = await run(spec("cat; echo $PAWL_HOOK; pwd"), { input: '{"type":"x"}\n' });
  expect(result).toMatchObject({ ok: true, exitCode: 0 });
  expect(result.output).toMatch(/^\{"type":"x"\}\ntell\n.*pawl-hook-/);
});

it("keeps the exit code and a bounded, masked part of what it printed", async () => {
  const result = await run(spec("echo s3cret >&2; head -c 100000 /dev/zero | tr '\\0' x; exit 7"));
  expect(result).toMatchObject({ ok: false, exitCode: 7 });
  expect(result.output).toMatch(/^\[masked\]\nxxx/);
  expect(result.output.length).toBeLessThan(4_200);
});

it("ends one that takes too long, with its children, and calls that a failure", async () => {
  const mark = randomUUID();
  const tagged = (): number[] => taggedProcesses("PAWL_HOOK", mark);
  const going = run(spec("echo begun; sleep 100 & sleep 100", { name: mark, timeoutMs: 10_000 }));
  await waitFor(() => tagged().length === 3, { what: "the shell and both of its children" });
  const result = await going;
  expect(tagged()).toEqual([]);
  expect(result.ok).toBe(false);
  expect(result.output).toBe("begun\n\n[ended after 10 s]");
});

it("does not mind a hook that never reads its input", async () => {
  expect(await run(spec("true"), { input: "x".repeat(1_000_000) })).toMatchObject({ ok: true, output: "" });
});
